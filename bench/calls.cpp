// Whole calls on a million problems with arrays in and arrays out, memory of the answers included, on all threads: the
// C++ side of peers/python_calls.py.
#include <benchmark/benchmark.h>

#include <random>

#include "garra/chain_eval.hpp"
#include "garra/contact.hpp"
#include "garra/io/robot.hpp"
#include "places.hpp"

namespace garra::bench {
namespace {

constexpr std::int64_t kCount = 1'000'000;

void inverse_dynamics(benchmark::State& state) {
  const chain::Robot robot = io::read_robot(test::source_folder() + "/data/robots/iiwa14.urdf");
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  chain::States s;
  s.count = kCount;
  for (auto* array : {&s.q, &s.qd, &s.qdd}) {
    array->resize(static_cast<std::size_t>(kCount * robot.joints));
    for (double& x : *array) x = uniform(random);
  }
  for (auto _ : state) benchmark::DoNotOptimize(chain::evaluate(robot, s, {chain::Output::kInverseDynamics}, {}, {}));
  state.SetItemsProcessed(state.iterations() * kCount);
}

/// A = J J^T / 12 of a random J [9,12], b of normal numbers, friction 0.2 to 1.
contact::Problems three_contacts() {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> friction(0.2, 1);
  contact::Problems p;
  p.contacts = 3;
  p.count = kCount;
  for (std::int64_t k = 0; k < kCount; ++k) {
    double J[9][12];
    for (auto& row : J)
      for (double& x : row) x = normal(random);
    for (const auto& a : J)
      for (const auto& b : J) {
        double sum = 0;
        for (int i = 0; i < 12; ++i) sum += a[i] * b[i];
        p.A.push_back(sum / 12);
      }
    for (int i = 0; i < 9; ++i) p.b.push_back(normal(random));
    for (int i = 0; i < 3; ++i) p.mu.push_back(friction(random));
  }
  return p;
}

void contact_solve(benchmark::State& state) {
  const contact::Problems problems = three_contacts();
  contact::Options options;
  options.wanted.merit = false;  // as from Python
  for (auto _ : state) benchmark::DoNotOptimize(contact::solve(problems, options));
  state.SetItemsProcessed(state.iterations() * kCount);
}

BENCHMARK(inverse_dynamics)->UseRealTime()->Unit(benchmark::kMillisecond)->Repetitions(5)->ReportAggregatesOnly();
BENCHMARK(contact_solve)->UseRealTime()->Unit(benchmark::kMillisecond)->Repetitions(5)->ReportAggregatesOnly();

}  // namespace
}  // namespace garra::bench

BENCHMARK_MAIN();
