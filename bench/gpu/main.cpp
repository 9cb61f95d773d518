// Every operation on a GPU beside the same problems on the CPU, in one run. tools/bench_gpu builds and runs it.
//
//   gpu/<operation>/<n>/<who>   who: resident (arrays on the GPU before and after), host (arrays of the host, copies
//                               included), lanes (the CPU, all threads)
//
// Before a clock starts, the GPU's answers are compared with the CPU's to the last bit; a benchmark whose answers
// differ is an error, and the program's exit code 1. Counters:
//   ns       per problem
//   per_s    problems per second
//   faster   of a GPU: the CPU's time for the same n, over its own
//   fp64     share of the multiply-adds that this GPU was measured to do, where operations are counted
//   memory   share of the bytes that it was measured to copy: the problem's arrays, read and written once
//   first_s  of the first call: what a process pays once (kernels loaded, or translated from PTX)
//
// --sizes=100,1000 instead of the powers of ten from 10^2 to 10^7; --tiny: as little as a simulated GPU can stand.
#include <benchmark/benchmark.h>

#include <chrono>
#include <iostream>
#include <map>
#include <sstream>
#include <string_view>

#include "base/cuda_device.hpp"
#include "garra/core/error.hpp"
#include "peak.hpp"
#include "work.hpp"

namespace garra::bench {
namespace {

const Device kGpu{Executor::kCuda, 0, 0}, kCpu{Executor::kLanes, 0, 0}, kScalar{Executor::kScalar, 1, 0};
constexpr std::int64_t kMaxScalar = 1000;  ///< problems: more are compared with lanes, which have the scalar bits

double measure_seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// One operation of one size, made when it is first needed and given back when the next one is: ten millions of
/// problems take gigabytes.
class Case {
 public:
  Case(const Operation& operation, std::int64_t n, const GpuPeak& peak) : operation_(operation), n_(n), peak_(peak) {}

  void measure(benchmark::State& state, const std::string& who) {
    try {
      prepare();
      if (wrong_) return state.SkipWithError("the GPU's answers are not the CPU's");
      const std::function<void()> run = who == "resident" ? work_->resident
                                        : who == "host"   ? [this] { work_->run(kGpu); }
                                                          : std::function<void()>([this] { work_->run(kCpu); });
      if (!run) return state.SkipWithError("no entry for arrays of the GPU");
      double total = 0;
      for (auto _ : state) {
        const double seconds = measure_seconds(run);
        state.SetIterationTime(seconds);
        total += seconds;
      }
      report(state, who, total / static_cast<double>(state.iterations()));
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
    }
  }
  [[nodiscard]] const Operation& operation() const { return operation_; }
  [[nodiscard]] std::int64_t n() const { return n_; }

 private:
  void prepare() {
    if (work_) return;
    static Case* made = nullptr;
    if (made != nullptr) made->work_.reset();
    made = this;
    work_ = std::make_unique<Work>(operation_.make(n_));
    work_->run(n_ <= kMaxScalar ? kScalar : kCpu);
    const Bytes expected = work_->answer();
    if (operation_.from_host) first_ = measure_seconds([this] { work_->run(kGpu); });
    wrong_ = expected.empty() || !(work_->answer() == expected);
    if (!work_->resident) return;
    work_->resident();
    wrong_ = wrong_ || !(work_->resident_answer() == expected);
  }

  void report(benchmark::State& state, const std::string& who, double seconds) {
    const double each = seconds / static_cast<double>(n_);
    state.counters["ns"] = 1e9 * each;
    state.counters["per_s"] = 1 / each;
    if (who == "lanes") {
      cpu_ = each;
      return;
    }
    if (cpu_ > 0) state.counters["faster"] = cpu_ / each;
    if (who == "host") state.counters["first_s"] = first_;
    if (work_->flops > 0) state.counters["fp64"] = work_->flops / each / peak_.flops;
    if (work_->bytes > 0 && who == "resident") state.counters["memory"] = work_->bytes / each / peak_.bytes;
  }

  Operation operation_;
  std::int64_t n_;
  GpuPeak peak_;
  std::unique_ptr<Work> work_;
  bool wrong_ = false;
  double first_ = 0, cpu_ = 0;
};

/// Takes `--name` or `--name=value` out of the arguments, which Google Benchmark does not know.
std::string take(int& argc, char** argv, const std::string& name, const std::string& otherwise) {
  std::string value = otherwise;
  int kept = 1;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (argument == name)
      value = "1";
    else if (argument.starts_with(name + "="))
      value = argument.substr(name.size() + 1);
    else
      argv[kept++] = argv[k];
  }
  argc = kept;
  return value;
}

std::vector<std::int64_t> count_numbers(const std::string& text) {
  std::vector<std::int64_t> out;
  std::stringstream in(text);
  for (std::string item; std::getline(in, item, ',');) out.push_back(std::stoll(item));
  return out;
}

/// Runs of one case stand together, the CPU's first: the others say how many times faster they are.
void register_case(const std::shared_ptr<Case>& one, bool has_resident) {
  for (const std::string who : {"lanes", "host", "resident"}) {
    if ((who == "resident" && !has_resident) || (who == "host" && !one->operation().from_host)) continue;
    const std::string name = "gpu/" + one->operation().name + "/" + std::to_string(one->n()) + "/" + who;
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { one->measure(state, who); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

/// The lines that say of errors decide the exit code.
class Reporter : public benchmark::ConsoleReporter {
 public:
  Reporter() : ConsoleReporter(OO_Tabular) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) failed = failed || run.error_occurred;
    ConsoleReporter::ReportRuns(runs);
  }
  bool failed = false;
};

int run(int argc, char** argv) {
  const bool tiny = take(argc, argv, "--tiny", "") == "1";
  const std::vector<std::int64_t> sizes =
      count_numbers(take(argc, argv, "--sizes", tiny ? "33" : "100,1000,10000,100000,1000000,10000000"));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (cuda_device_count() == 0) {
    std::cerr << "bench_gpu: " << explain_auto() << '\n';
    return static_cast<int>(ExitCode::kNoDevice);
  }
  const double first = first_launch_seconds();
  const GpuPeak peak = measured_gpu_peak(tiny ? 1e-6 : 1);
  benchmark::AddCustomContext("gpu", describe(kGpu));
  benchmark::AddCustomContext("cpu", describe(kCpu));
  benchmark::AddCustomContext("peak_fp64_gflops", std::to_string(1e-9 * peak.flops));
  benchmark::AddCustomContext("peak_memory_gb_s", std::to_string(1e-9 * peak.bytes));
  benchmark::AddCustomContext("first_launch_s", std::to_string(first));
  for (const Operation& operation : all_operations())
    for (const std::int64_t n : sizes)
      if (n <= operation.most)
        register_case(std::make_shared<Case>(operation, n, peak), static_cast<bool>(operation.make(1).resident));
  Reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  return reporter.failed ? 1 : 0;
}

}  // namespace
}  // namespace garra::bench

int main(int argc, char** argv) {
  try {
    return garra::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "bench_gpu: " << error.what() << '\n';
    return 1;
  }
}
