// Times single solves and batches, and checks that both give the same bits.
#include "contact/bench/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>

#include "garra/core/error.hpp"

namespace garra::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr Device kScalar{Executor::kScalar, 1, 0};
constexpr double kBatchSeconds = 0.05;  // a batch is repeated to take about so long
constexpr std::int64_t kMaxBatch = 1 << 16;
constexpr double kSlow =
    2e-2;  // [s] a first solve below this is repeated once at least: the system may have interrupted it
constexpr double kShared = 1e-4;         // [s] a repetition of a quick problem is made of copies to take about so long,
constexpr std::int64_t kMaxCopies = 32;  // upper limit

/// Time that this thread has computed.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

bool all_slide(const contact::Problems& problems) {
  return !problems.mode.empty() && std::count(problems.mode.begin(), problems.mode.end(), 0) == 0;
}

contact::Options solver_options(const std::string& method, double tolerance) {
  contact::Options options;
  options.tolerance = tolerance;
  contact::set_method(options, method);
  return options;
}

/// Forces and outcomes of the single solves, to be compared with the batch.
struct Singles {
  std::vector<Outcome> outcomes;
  std::vector<double> c;
};

contact::Problems repeated(const contact::Problems& problems, std::int64_t times) {
  contact::Problems out = problems;
  out.count *= times;
  const auto repeat = [&](auto& values) {
    const std::size_t size = values.size();
    values.resize(size * static_cast<std::size_t>(times));
    for (std::size_t i = size; i < values.size(); ++i) values[i] = values[i - size];
  };
  for (auto* values : {&out.A, &out.b, &out.mu, &out.slip_velocity}) repeat(*values);
  repeat(out.mode);
  return out;
}

double measure_time(const contact::Problems& problems, const contact::Options& options) {
  const auto start = Clock::now();
  (void)contact::solve(problems, options, kScalar);
  return seconds_since(start);
}

/// A call costs some microseconds of overhead, which no peer's time includes: copies of a quick problem share it.
Outcome solve_one(const contact::Problems& one, const contact::Options& options, std::vector<double>& c) {
  const auto start = Clock::now();
  const contact::Solutions found = contact::solve(one, options, kScalar);
  double best = seconds_since(start);
  const auto copies = std::clamp<std::int64_t>(std::llround(kShared / best), 1, kMaxCopies);
  const contact::Problems several = copies > 1 ? repeated(one, copies) : one;
  double spent = best;
  for (int run = 0; run < kRepetitions && spent < (run == 0 ? kSlow : kQuick); ++run) {
    const double seconds = measure_time(several, options);
    spent += seconds;
    best = std::min(best, seconds / static_cast<double>(copies));
  }
  c.insert(c.end(), found.c.begin(), found.c.end());
  return {static_cast<Ending>(found.status[0]), found.residual[0], best, found.iterations[0]};
}

Singles solve_singly(const contact::Problems& problems, const contact::Options& options, double time_limit) {
  Singles out;
  const auto start = Clock::now();
  for (std::int64_t k = 0; k < problems.count && (k == 0 || seconds_since(start) < time_limit); ++k)
    out.outcomes.push_back(solve_one(slice(problems, k, 1), options, out.c));
  return out;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// Problems by processor time of one thread: threads that wait for another one's last problem would count as busy.
double measure_per_core_second(const contact::Problems& batch, const contact::Options& options, Executor executor) {
  const double start = processor_seconds();
  (void)contact::solve(batch, options, {executor, 1, 0});
  return static_cast<double>(batch.count) / std::max(processor_seconds() - start, 1e-6);
}

Throughput measure_throughput(const contact::Problems& batch, const contact::Options& options, const Device& device) {
  const auto start = Clock::now();
  (void)contact::solve(batch, options, device);
  const double rate = static_cast<double>(batch.count) / seconds_since(start);
  if (device.executor == Executor::kCuda) return {describe(device), rate, 0, 0};
  const int threads = solve_threads(device);
  const contact::Problems share = slice(batch, 0, std::max<std::int64_t>(batch.count / threads, 1));
  return {describe(device), rate, threads, measure_per_core_second(share, options, device.executor)};
}

void add_throughput(const contact::Problems& tried, const contact::Options& options, const MeasureOptions& measure,
                    SolverRecord& record, const std::vector<double>& c) {
  const Device lanes{Executor::kLanes, measure.device.threads, 0};
  const auto start = Clock::now();
  const contact::Solutions found = contact::solve(tried, options, lanes);
  record.same_answers = same_bits(found.c, c);
  const double seconds = std::max(seconds_since(start), 1e-6);
  const auto most = std::max<std::int64_t>(kMaxBatch / tried.count, 1);
  const auto times = std::clamp<std::int64_t>(std::llround(kBatchSeconds / seconds), 1, most);
  const contact::Problems batch = repeated(tried, times);
  record.throughput.push_back(measure_throughput(batch, options, lanes));
  if (measure.device.executor == Executor::kLanes) return;
  if (measure.device.executor == Executor::kCuda) (void)contact::solve(tried, options, measure.device);  // warms up
  record.throughput.push_back(measure_throughput(batch, options, measure.device));
}

}  // namespace

SolverRecord measure_method(const contact::Problems& problems, const std::string& method,
                            const MeasureOptions& options) {
  SolverRecord record{.name = method};
  const contact::Options solver = solver_options(method, options.tolerance);
  if (solver.method == contact::Method::kLemke && !all_slide(problems)) {
    record.not_run = "only for problems whose contacts all slide";
    return record;
  }
  if (problems.contacts > contact::most_contacts(solver.method)) {
    record.not_run = "only for up to " + std::to_string(contact::most_contacts(solver.method)) + " contacts";
    return record;
  }
  try {
    (void)contact::solve(slice(problems, 0, 1), solver, kScalar);  // the first call of all pays for loading the code
    const Singles singles = solve_singly(problems, solver, options.time_limit);
    record.outcomes = singles.outcomes;
    const auto tried = static_cast<std::int64_t>(singles.outcomes.size());
    add_throughput(slice(problems, 0, tried), solver, options, record, singles.c);
  } catch (const Error& error) {
    record.not_run = error.what();
  }
  return record;
}

}  // namespace garra::cli
