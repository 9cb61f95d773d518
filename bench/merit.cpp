// Friction contact by every method, and every merit function with every minimizer, on random, compliant, rigid and
// partly sliding grasps of 3, 4 and 8 contacts, in lanes on one core. One benchmark is one method on one class.
// Counters:
//   per_s   problems per second and core
//   solved  share that the certificate accepts at 1e-8
//   steps   mean number of outer iterations
//   flops   mean number of operations of an iteration without fallback solvers, a fused multiply-add being two, counted
//           on the first problems
//   of_fma  their share of what the core multiplies at best
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <numeric>
#include <string>

#include "contact_flops.hpp"
// After the counting scalar, whose tiles they read.
#include "contact/batch/solve_batch.hpp"
#include "contact/problems/classes.hpp"
#include "measured_peak.hpp"

namespace garra::bench {
namespace {

contact::Problems draw(const std::string& name, const Draw& draw) {
  if (name == "random") return random_grasps(draw);
  if (name == "sliding") return sliding_grasps(Sliding::some, draw);
  const auto kind = name == "rigid" ? ManufacturedClass::rigid : ManufacturedClass::compliant;
  return manufactured(kind, Mode::mixed, draw).problems;
}

template <class Solver>
double flops_of(const Solver& solver, const contact::Problems& given) {
  const std::int64_t n = given.contacts, count = std::min<std::int64_t>(given.count, 16);
  const ContactsInUse many(given.contacts);
  operations = {};
  for (std::int64_t k = 0; k < count; ++k) {
    auto problem = counted_problem<kAnyContacts>(given, k);
    if (!given.mode.empty()) {
      auto slip = solvers::SlidingContacts<Counted, kAnyContacts>{};
      const auto known = contact::sliding_at(given, k);
      for (int i = 0; i < 2 * n; ++i) slip.v[i] = known.v[i];
      solvers::eliminate_sliding(problem, slip);
    }
    static_cast<void>(solver.solve(problem));
  }
  return operations.flops() / static_cast<double>(count);
}

template <contact::Merit M, contact::Minimizer Z>
double flops_of_pair(const contact::Problems& given) {
  contact::PairMethod<M, Z> solver;
  const contact::Starts own = contact::own_starts({M, Z});
  solver.starts = own.most;
  solver.first = static_cast<solvers::FrictionStart>(static_cast<int>(own.first) - 1);
  return flops_of(solver, given);
}

template <contact::Merit M>
double flops_of_merit(contact::Minimizer z, const contact::Problems& given) {
  using contact::Minimizer;
  if (z == Minimizer::kBoxQuacan) return flops_of_pair<M, Minimizer::kBoxQuacan>(given);
  if (z == Minimizer::kSpg) return flops_of_pair<M, Minimizer::kSpg>(given);
  if (z == Minimizer::kSpgNewton) return flops_of_pair<M, Minimizer::kSpgNewton>(given);
  return flops_of_pair<M, Minimizer::kProjectedLm>(given);
}

double flops_of(const contact::Options& options, const contact::Problems& given) {
  using contact::Merit, contact::Method;
  if (const auto pair = contact::pair_of(options)) {
    if (pair->merit == Merit::kPapers) return flops_of_merit<Merit::kPapers>(pair->minimizer, given);
    if (pair->merit == Merit::kProducts) return flops_of_merit<Merit::kProducts>(pair->minimizer, given);
    if (pair->merit == Merit::kFischerBurmeister)
      return flops_of_merit<Merit::kFischerBurmeister>(pair->minimizer, given);
    return flops_of_merit<Merit::kSecondOrderCone>(pair->minimizer, given);
  }
  if (options.method == Method::kNsgs) return flops_of(solvers::FrictionNsgs{}, given);
  if (options.method == Method::kAdmm) return flops_of(solvers::FrictionAdmm{}, given);
  if (options.method == Method::kExtragradient) return flops_of(solvers::FrictionExtragradient{}, given);
  return flops_of(contact::make_newton<solvers::FrictionNewton>(options), given);
}

void run(benchmark::State& state, const std::string& method, const contact::Problems& problems) {
  contact::Options options;
  contact::set_method(options, method);
  const Device one_core{Executor::kLanes, 1, 0};
  contact::Solutions found;
  const std::clock_t start = std::clock();  // of this process: another program on the core does not count
  for (auto _ : state) contact::solve(problems, options, one_core, found);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const auto n = static_cast<double>(problems.count);
  const auto solved = std::count(found.status.begin(), found.status.end(), Status::kConverged);
  state.counters["per_s"] = {n * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate};
  state.counters["solved"] = static_cast<double>(solved) / n;
  state.counters["flops"] = flops_of(options, problems);
  static const double peak = peak_flops();
  state.counters["of_fma"] = state.counters["flops"] * n * static_cast<double>(state.iterations()) / (seconds * peak);
  state.counters["steps"] = std::accumulate(found.iterations.begin(), found.iterations.end(), 0.0) / n;
}

void add_benchmarks() {
  std::vector<std::string> methods = contact::pair_names();
  methods.insert(methods.begin(), {"auto", "semismooth-newton", "nsgs", "admm", "extragradient"});
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
