// Friction contact by every merit function and minimizer: each pair on random, compliant, rigid and partly sliding
// grasps of 3, 4 and 8 contacts, in lanes on one core. One benchmark is one pair on one class. Counters:
//   per_s   problems per second and core
//   solved  share that the certificate accepts at 1e-8
//   steps   mean number of outer iterations
#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "contact/problems/classes.hpp"
#include "garra/contact.hpp"

namespace garra::bench {
namespace {

contact::Problems draw(const std::string& name, const Draw& draw) {
  if (name == "random") return random_grasps(draw);
  if (name == "sliding") return sliding_grasps(Sliding::some, draw);
  const auto kind = name == "rigid" ? ManufacturedClass::rigid : ManufacturedClass::compliant;
  return manufactured(kind, Mode::mixed, draw).problems;
}

void run(benchmark::State& state, const std::string& pair, const contact::Problems& problems) {
  contact::Options options;
  contact::set_method(options, pair);
  const Device one_core{Executor::kLanes, 1, 0};
  contact::Solutions found;
  for (auto _ : state) contact::solve(problems, options, one_core, found);
  const auto n = static_cast<double>(problems.count);
  const auto solved = std::count(found.status.begin(), found.status.end(), Status::kConverged);
  state.counters["per_s"] = {n * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate};
  state.counters["solved"] = static_cast<double>(solved) / n;
  state.counters["steps"] = std::accumulate(found.iterations.begin(), found.iterations.end(), 0.0) / n;
}

void add_benchmarks() {
  std::vector<std::string> methods = contact::pair_names();
  methods.insert(methods.begin(), "auto");  // what the pairs are compared with
  for (const char* name : {"random", "compliant", "rigid", "sliding"})
    for (const int contacts : {3, 4, 8}) {
      // Few: plain SPG takes milliseconds for a problem of 3 contacts, BOX-QUACAN for one of 8.
      const contact::Problems problems = draw(name, {contacts, contacts < 8 ? 256 : 32, 7});
      for (const std::string& method : methods)
        benchmark::RegisterBenchmark(("merit/" + method + "/" + name + "_n" + std::to_string(contacts)).c_str(),
                                     [method, problems](benchmark::State& state) { run(state, method, problems); })
            ->Unit(benchmark::kMillisecond)
            ->MinTime(0.1);
    }
}

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  garra::bench::add_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
