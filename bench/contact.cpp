// Friction contact solves: garra on one core, scalar and lanes, beside Siconos on the same problems.
//
// A class of problems is drawn once; every solver gets the same numbers, starts cold and is checked by the same
// certificate. One benchmark is one solver on one class. Counters:
//   us         mean time per problem [us]
//   p999_us    99.9th percentile [us]: of single problems for `scalar` (each its own call of contact::solve) and for
//              Siconos; for `lanes` of blocks of 1,024 problems, per problem, because a lane shares its register
//   solved     share of problems with a scale-invariant error of at most 1e-8
//   per_s      problems per second on one core
//   steps      garra: mean number of Newton steps
//   flops      garra, three contacts: mean number of operations, a fused multiply-add being two
//
// `--problems=N` sets how many problems of 3 or 4 contacts a class has; fewer where contacts are many.
#include "garra/contact.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "certificate.hpp"
#include "contact/problems/classes.hpp"
#include "contact_flops.hpp"
#include "peers/siconos.hpp"

namespace garra::bench {
namespace {

constexpr std::int64_t kBlock = 1024;
constexpr int kPeerRepetitions = 3;  // enough for a median, and the peers take most of the time

struct ProblemClass {
  std::string name;
  contact::Problems problems;
};

std::int64_t problems_to_json(int contacts, std::int64_t most) {
  return std::max<std::int64_t>(contacts <= 4 ? most : contacts <= 5 ? most / 2 : most / 5, 1);
}

std::vector<ProblemClass> draw_classes(std::int64_t most) {
  std::vector<ProblemClass> classes;
  const auto size = [most](int contacts) { return Draw{contacts, problems_to_json(contacts, most)}; };
  const auto add_manufactured = [&](ManufacturedClass kind, Mode mode, int contacts) {
    constexpr std::string_view kModes[] = {"mixed", "stick", "slide", "break"};
    std::string name(kind == ManufacturedClass::rigid ? "rigid_" : "compliant_");
    name.append(kModes[static_cast<int>(mode)]).append("_n").append(std::to_string(contacts));
    classes.push_back({name, manufactured(kind, mode, size(contacts)).problems});
  };
  for (const int contacts : {3, 4, 8})
    classes.push_back({"random_n" + std::to_string(contacts), random_grasps(size(contacts))});
  for (const ManufacturedClass kind : {ManufacturedClass::compliant, ManufacturedClass::rigid}) {
    for (const Mode mode : {Mode::mixed, Mode::stick, Mode::slide, Mode::break_}) add_manufactured(kind, mode, 3);
    for (const int contacts : {5, 8}) add_manufactured(kind, Mode::mixed, contacts);
  }
  return classes;
}

/// Problems [first, first + count) as a batch of their own.
contact::Problems slice(const contact::Problems& all, std::int64_t first, std::int64_t count) {
  const auto part = [&](const std::vector<double>& values, int stride) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first * stride);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count * stride));
  };
  const int k = all.contacts;
  return {k, count, part(all.A, 9 * k * k), part(all.b, 3 * k), part(all.mu, k)};
}

std::vector<contact::Problems> split(const contact::Problems& all, std::int64_t block) {
  std::vector<contact::Problems> parts;
  for (std::int64_t first = 0; first < all.count; first += block)
    parts.push_back(slice(all, first, std::min(block, all.count - first)));
  return parts;
}

double solved_share(const contact::Problems& problems, const std::vector<double>& c) {
  const auto n = static_cast<std::size_t>(3 * problems.contacts);
  std::int64_t solved = 0;
  for (std::int64_t k = 0; k < problems.count; ++k)
    solved += scale_invariant_error(problems, k, {c.data() + static_cast<std::size_t>(k) * n, n}) <= kSolved;
  return static_cast<double>(solved) / static_cast<double>(problems.count);
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  const auto last = static_cast<double>(values.size() - 1);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::ceil(share * last));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Seconds per problem of each part, solved by its own call of contact::solve; the sum of all calls in `total`.
std::vector<double> time_parts(const std::vector<contact::Problems>& parts, const contact::Options& options,
                               const Device& device, double& total) {
  std::vector<double> each;
  total = 0;
  for (const contact::Problems& part : parts) {
    const auto start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(contact::solve(part, options, device));
    const double seconds = seconds_since(start);
    total += seconds;
    each.push_back(seconds / static_cast<double>(part.count));
  }
  return each;
}

double mean_of(const std::vector<std::int32_t>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

struct Outcome {
  double mean;    ///< [s]
  double p999;    ///< [s]
  double solved;  ///< share
};

void report(benchmark::State& state, const Outcome& outcome) {
  state.counters["us"] = 1e6 * outcome.mean;
  state.counters["p999_us"] = 1e6 * outcome.p999;
  state.counters["solved"] = outcome.solved;
  state.counters["per_s"] = 1 / outcome.mean;
}

void run_garra(benchmark::State& state, const ProblemClass& given, Executor executor,
               contact::Precision precision = contact::Precision::kDouble) {
  const Device device{executor, 1};
  contact::Options options;
  options.precision = precision;
  const auto count = static_cast<double>(given.problems.count);
  const std::vector<contact::Problems> blocks = split(given.problems, kBlock);
  const contact::Solutions answers = contact::solve(given.problems, options, device);  // also warms up
  std::vector<double> block_times;
  double total = 0;
  for (auto _ : state) {
    double seconds = 0;
    for (const double each : time_parts(blocks, options, device, seconds)) block_times.push_back(each);
    state.SetIterationTime(seconds);
    total += seconds;
  }
  const double mean = total / (count * static_cast<double>(state.iterations()));
  double unused = 0;
  const bool singles = executor == Executor::kScalar;
  const double p999 =
      percentile(singles ? time_parts(split(given.problems, 1), options, device, unused) : block_times, 0.999);
  report(state, {mean, p999, solved_share(given.problems, answers.c)});
  state.counters["steps"] = mean_of(answers.iterations);
  if (given.problems.contacts == 3) state.counters["flops"] = flops_of_contacts<3>(given.problems, 1000);
}

void run_siconos(benchmark::State& state, const ProblemClass& given, siconos::Method method) {
  siconos::Answers answers;
  double total = 0;
  for (auto _ : state) {
    answers = siconos::solve(given.problems, method);
    total = 0;
    for (const double seconds : answers.seconds) total += seconds;
    state.SetIterationTime(total);
  }
  report(state, {total / static_cast<double>(given.problems.count), percentile(answers.seconds, 0.999),
                 solved_share(given.problems, answers.c)});
}

void register_class(const ProblemClass& given) {
  const std::string prefix = "contact/" + given.name + "/";
  const auto add = [&](const std::string& solver, auto run) {
    return benchmark::RegisterBenchmark((prefix + solver).c_str(), run)->UseManualTime()->Unit(benchmark::kMillisecond);
  };
  for (const Executor executor : {Executor::kScalar, Executor::kLanes})
    add(executor == Executor::kScalar ? "scalar" : "lanes",
        [&given, executor](benchmark::State& state) { run_garra(state, given, executor); });
  add("lanes_mixed",
      [&given](benchmark::State& state) { run_garra(state, given, Executor::kLanes, contact::Precision::kMixed); });
  if (!siconos::available()) return;
  for (const siconos::Method method : siconos::kMethods)
    add("siconos_" + std::string(to_string(method)),
        [&given, method](benchmark::State& state) { run_siconos(state, given, method); })
        ->Iterations(1)
        ->Repetitions(kPeerRepetitions);  // every problem is timed on its own already
}

/// Takes `--problems=N` out of the arguments, which Google Benchmark does not know.
std::int64_t take_problems(int& argc, char** argv, std::int64_t otherwise) {
  constexpr std::string_view kFlag = "--problems=";
  std::int64_t problems = otherwise;
  const auto ours = [&](std::string_view argument) {
    if (argument.substr(0, kFlag.size()) != kFlag) return false;
    const char* const end = argument.data() + argument.size();
    const auto parsed = std::from_chars(argument.data() + kFlag.size(), end, problems);
    return parsed.ec == std::errc{} && parsed.ptr == end && problems > 0;
  };
  argc = static_cast<int>(std::remove_if(argv + 1, argv + argc, ours) - argv);
  return problems;
}

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  using namespace garra::bench;
  const std::vector<ProblemClass> classes = draw_classes(take_problems(argc, argv, 10000));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (!siconos::available()) std::cerr << "Siconos was not found when this was built: garra alone is measured\n";
  for (const ProblemClass& given : classes) register_class(given);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
