// The study engine, on a system whose probability is known: the sum of two uniform numbers exceeds 3/2 in 1 of 8
// samples.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "garra/core/error.hpp"
#include "garra/io/run.hpp"
#include "garra/study/system.hpp"

namespace garra::study {
namespace {

namespace fs = std::filesystem;

struct Sum {
  static constexpr int kInputs = 2, kOutputs = 1;
  double undecided_below = -1;  ///< sums below this are not decided
  double large_from = 1.5;
  template <class S>
  GARRA_HD SystemAnswer<S, kOutputs> operator()(const Vec<S, kInputs>& x) const {
    const S sum = x[0] + x[1];
    const S event = select(sum > S(large_from), S(1), S(0));
    return {select(sum < S(undecided_below), S(NAN), event), {{sum}}};
  }
};

SystemWords words(std::int64_t samples, std::int64_t chunk = 4 * kBlock) {
  return {.job = "sum",
          .title = "Two numbers",
          .event = "large",
          .inputs = {{"first", "1", Distribution::uniform(0, 1)}, {"second", "1", Distribution::uniform(0, 1)}},
          .outputs = {{"sum", "1", "Sum", 0, 2}},
          .plan = {.seed = 7, .samples = samples, .chunk = chunk}};
}

/// Keeps chunks in memory and counts what is asked of it.
struct MemoryStore : ChunkStore {
  std::map<std::int64_t, Total> chunks;
  [[nodiscard]] std::optional<Total> read(std::int64_t index, std::int64_t first, std::int64_t count) override {
    const auto found = chunks.find(index);
    if (found == chunks.end()) return std::nullopt;
    EXPECT_EQ(found->second.first, first);
    EXPECT_EQ(found->second.count, count);
    return found->second;
  }
  void write(std::int64_t index, const Total& chunk) override { chunks[index] = chunk; }
  [[nodiscard]] bool has(std::int64_t index) override { return chunks.contains(index); }
};

/// Says of every chunk that somebody else has stored it, and has none: as where a file system shows files late.
struct LateStore : MemoryStore {
  int claims = 0;
  [[nodiscard]] std::optional<std::int64_t> claim(std::int64_t /*next*/, std::int64_t /*end*/) override {
    if (++claims > 1000) throw std::runtime_error("asked for ever");
    return std::nullopt;
  }
};

std::int64_t resident_bytes() {
  std::int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

TEST(Engine, FindsAKnownProbability) {
  const SystemStudy<Sum> study(words(1 << 20));
  const RunResult r = run(study);
  EXPECT_EQ(r.end, End::kSamples);
  EXPECT_EQ(r.total.count, 1 << 20);
  const double sd = std::sqrt(0.125 * 0.875 / (1 << 20));
  EXPECT_NEAR(study.estimate(r.total).probability, 0.125, 4 * sd);
  const auto summary = nlohmann::json::parse(study.summary(r.total, "samples"));
  EXPECT_NEAR(summary["metrics"]["sum"]["mean"].get<double>(), 1, 4 / std::sqrt(6.0) / 1024);
  EXPECT_NEAR(summary["metrics"]["sum"]["quantiles"]["0.5"].get<double>(), 1, 0.005);
  // First-order index of either input: Var(E(event | x)) / Var(event); E = max(0, x - 1/2), its variance 1/24 - 1/64.
  const double index = (1.0 / 24 - 1.0 / 64) / (0.125 * 0.875);
  for (const auto& input : summary["inputs"]) EXPECT_NEAR(input["influence"].get<double>(), index, 0.01);
  EXPECT_EQ(summary["outcomes"]["large"].get<std::int64_t>() + summary["outcomes"]["not_large"].get<std::int64_t>(),
            1 << 20);
}

TEST(Engine, TheBytesDoNotDependOnExecutorThreadsOrChunks) {
  const std::int64_t samples = 10 * kBlock + 300;
  const SystemStudy<Sum> study(words(samples));
  const std::string text = study.summary(run(study).total, "samples");
  for (const Device& device : {Device{Executor::kScalar, 1}, Device{Executor::kLanes, 1}, Device{Executor::kLanes, 2}})
    EXPECT_EQ(study.summary(run(study, {.device = device}).total, "samples"), text);
  for (const std::int64_t chunk : {kBlock, 3 * kBlock, 64 * kBlock}) {
    const SystemStudy<Sum> other(words(samples, chunk));
    EXPECT_EQ(other.summary(run(other).total, "samples"), text) << chunk;
  }
}

/// What SystemStudy<Sum> is, on a GPU that the processor stands in for: the first piece ends after the second.
class LikeAGpu : public RowStudy {
 public:
  explicit LikeAGpu(SystemWords words) : RowStudy(std::move(words), Sum::kInputs, Sum::kOutputs) {}
  mutable int ended = 0, running = 0, most = 0;

 protected:
  void evaluate(Executor executor, std::int64_t first, std::int64_t count, double* rows) const override {
    SystemKernel<Sum> body{Sum{.large_from = 0.1}, {}, first, rows};
    body.draws.seed = words().plan.seed;
    for (int k = 0; k < Sum::kInputs; ++k) body.draws.distribution[k] = Distribution::uniform(0, 1);
    batch::for_each(executor, count, body);
  }
  void count_on_gpu(const Device& /*device*/, const RowsToCount& task) const override {
    std::unique_lock lock(mutex_);
    most = std::max(most, ++running);
    lock.unlock();
    const std::int64_t first = task.tally.first;
    task.tally = run(first, task.tally.count, {Executor::kLanes, 1});
    lock.lock();
    if (first == 0) ended_.wait_for(lock, std::chrono::seconds(60), [&] { return ended > 0; });
    --running;
    ++ended;
    ended_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
};

TEST(Engine, PiecesOfAGpuAreUnderWayTwoAtATimeAndAddedInTheirOrder) {
  constexpr std::int64_t kPiece = 1024 * kBlock;
  SystemWords w = words(3 * kPiece + 300, 4 * kPiece);
  w.plan.keep = "failures";  // one in 200
  const LikeAGpu study(w);
  const auto kept_by = [&](const Device& device) {
    std::vector<double> rows;
    const RunResult r = run(study, {.device = device, .on_chunk = [&](const Total& chunk) { rows = chunk.kept; }});
    return std::pair{study.summary(r.total, "samples"), rows};
  };
  const auto gpu = kept_by({Executor::kCuda});
  EXPECT_EQ(study.ended, 4);
  EXPECT_EQ(study.most, 2);
  EXPECT_EQ(gpu, kept_by({}));
  const double rows = static_cast<double>(gpu.second.size() / study.shape().row), expected = 0.005 * 3 * kPiece;
  EXPECT_NEAR(rows, expected, 5 * std::sqrt(expected));
}

TEST(Engine, AWorkerThatIsGivenNoChunkWaitsAndThenComputesTheNextOne) {
  const SystemStudy<Sum> study(words(2 * 4 * kBlock));
  LateStore store;
  const RunResult r = run(study, {.chunks = &store});
  EXPECT_EQ(r.total.count, 2 * 4 * kBlock);
  EXPECT_EQ(store.chunks.size(), 2U);
  EXPECT_LT(store.claims, 50) << "it waits longer and longer";
}

TEST(Engine, StopsWhereTheIntervalIsNarrowEnough) {
  SystemWords w = words(1 << 20);
  w.plan.stop_half_width = 0.005;
  const SystemStudy<Sum> study(w);
  const RunResult r = run(study);
  EXPECT_EQ(r.end, End::kHalfWidth);
  // 1.96 sqrt(p q / n) = 0.005 at n = 16,807: the first chunk of 4,096 samples that is not before it.
  EXPECT_EQ(r.total.count, 5 * 4096);
}

TEST(Engine, UndecidedSamplesWidenTheInterval) {
  const SystemStudy<Sum> study(words(64 * kBlock), Sum{.undecided_below = 0.5});
  const RunResult r = run(study);
  EXPECT_NEAR(unsolved_share(study.decisions(r.total)), 0.125, 0.005);
  const Estimate e = study.estimate(r.total);
  EXPECT_NEAR(e.probability, 0.125 / 0.875, 0.005);
  EXPECT_LT(e.interval.low, 0.125);
  EXPECT_GT(e.interval.high, 0.25);
}

TEST(Engine, GoesOnWhereItWasCancelled) {
  const SystemStudy<Sum> study(words(8 * 4 * kBlock));
  MemoryStore store;
  int asked = 0;
  const RunResult first = run(study, {.chunks = &store, .is_cancelled = [&] { return ++asked > 3; }});
  EXPECT_EQ(first.end, End::kSignal);
  EXPECT_TRUE(is_resumable(first.end));
  EXPECT_EQ(first.chunks, 3);
  EXPECT_EQ(stored(study, store).total.count, first.total.count);
  std::vector<std::int64_t> heard;
  const RunResult second =
      run(study, {.chunks = &store, .on_progress = [&](const Progress& p) { heard.push_back(p.samples); }});
  EXPECT_EQ(second.fresh, 5 * 4 * kBlock);
  EXPECT_EQ(heard.size(), 8u);
  EXPECT_EQ(heard.back(), 8 * 4 * kBlock);
  EXPECT_EQ(study.summary(second.total, "samples"), study.summary(run(study).total, "samples"));
}

/// Chunks of a run that is far too long, made up when they are asked for: each has the counts of the same samples.
struct MadeUpChunks : ChunkStore {
  explicit MadeUpChunks(const Study& study) : study_(study), tally_(study.run(0, 64 * kBlock, {})) {}
  [[nodiscard]] std::optional<Total> read(std::int64_t /*index*/, std::int64_t first, std::int64_t count) override {
    tally_.first = first;
    Total chunk{};
    chunk.add(tally_, study_.shape());
    chunk.count = count;
    return chunk;
  }
  void write(std::int64_t, const Total&) override { ADD_FAILURE() << "all chunks are there"; }
  [[nodiscard]] bool has(std::int64_t) override { return true; }

 private:
  const Study& study_;
  Tally tally_;
};

TEST(Engine, TheMemoryOfATotalDoesNotGrowWithTheSamples) {
  const std::int64_t samples = 1'000'000'000'000, chunk = std::int64_t{1} << 28;
  const SystemStudy<Sum> study(words(samples, chunk));
  MadeUpChunks store(study);
  const std::int64_t before = resident_bytes();
  const RunResult r = run(study, {.chunks = &store});
  EXPECT_EQ(r.total.count, samples);
  EXPECT_EQ(r.chunks, 3726);
  EXPECT_LT(resident_bytes() - before, 8 << 20);
  EXPECT_LT(r.total.curve.size(), 300u);
}

/// Its chunks come from elsewhere while it works.
struct SharedStore : MemoryStore {
  std::set<std::int64_t> others;
  [[nodiscard]] std::optional<std::int64_t> claim(std::int64_t next, std::int64_t end) override {
    for (std::int64_t k = next; k < end; ++k)
      if (!has(k) && !others.contains(k)) return k;
    // Others are at work on all that is missing: here they are done at this moment.
    for (const std::int64_t k : others) chunks.emplace(k, *compute_chunk(*study, k, {Device{}}));
    return std::nullopt;
  }
  const Study* study = nullptr;
};

TEST(Engine, AWorkerLeavesToOthersWhatTheyAreAtWorkOn) {
  const SystemStudy<Sum> study(words(8 * 4 * kBlock));
  SharedStore store;
  store.study = &study;
  store.others = {0, 1, 5};
  const RunResult worker = run(study, {.chunks = &store, .only_work = true});
  EXPECT_EQ(worker.end, End::kSamples);
  EXPECT_EQ(worker.fresh, 5 * 4 * kBlock);
  EXPECT_EQ(worker.chunks, 8);
  const RunResult whole = run(study, {.chunks = &store});
  EXPECT_EQ(whole.fresh, 0);
  EXPECT_EQ(study.summary(whole.total, "samples"), study.summary(run(study).total, "samples"));
}

TEST(Engine, AHalfWidthEndsAWorkerWhereItEndsARun) {
  SystemWords w = words(1 << 20);
  w.plan.stop_half_width = 0.005;
  const SystemStudy<Sum> study(w);
  SharedStore store;
  store.study = &study;
  store.others = {0, 2};
  const RunResult worker = run(study, {.chunks = &store, .only_work = true});
  EXPECT_EQ(worker.end, End::kHalfWidth);
  EXPECT_EQ(worker.total.count, run(study).total.count);
}

/// A study as it is, which notes who is asked for what; device 3 fails.
struct Noted : Study {
  explicit Noted(const SystemWords& words) : inner(words) {}
  SystemStudy<Sum> inner;
  struct Call {
    int device;
    std::int64_t first, count;
  };
  mutable std::mutex mutex;
  mutable std::vector<Call> calls;
  [[nodiscard]] Tally run(std::int64_t first, std::int64_t count, const Device& device) const override {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      calls.push_back({device.index, first, count});
    }
    if (device.index == 3) throw Error(ExitCode::kNoDevice, "device 3 is gone");
    return inner.run(first, count, {});
  }
  [[nodiscard]] const Plan& plan() const override { return inner.plan(); }
  [[nodiscard]] Shape shape() const override { return inner.shape(); }
  [[nodiscard]] std::vector<RowColumn> columns() const override { return inner.columns(); }
  [[nodiscard]] std::string summary(const Total& total, const std::string& by) const override {
    return inner.summary(total, by);
  }
  [[nodiscard]] Estimate estimate(const Total& total) const override { return inner.estimate(total); }
  [[nodiscard]] double widest_interval(const Total& total) const override { return inner.widest_interval(total); }
  [[nodiscard]] std::vector<DecisionCounts> decisions(const Total& total) const override {
    return inner.decisions(total);
  }
};

TEST(Engine, SeveralDevicesShareEachChunkAndTheResultIsThatOfOne) {
  // Chunks of nine blocks for three devices, and a last one of two blocks, where one has nothing to do.
  SystemWords w = words(2 * 9 * kBlock + kBlock + 17, 9 * kBlock);
  w.plan.keep = "failures";
  const Noted study(w);
  const RunResult one = run(study);
  study.calls.clear();
  const std::vector<Device> others = {{Executor::kLanes, 0, 1}, {Executor::kLanes, 0, 2}};
  const RunResult shared = run(study, {.others = others});
  EXPECT_EQ(study.summary(shared.total, "samples"), study.summary(one.total, "samples"));
  EXPECT_EQ(shared.total.count, one.total.count);
  EXPECT_EQ(shared.rows, one.rows);
  const std::vector<Device> three = {{}, others[0], others[1]};
  for (std::int64_t chunk = 0; chunk < 3; ++chunk)
    EXPECT_EQ(compute_chunk(study, chunk, three)->kept, compute_chunk(study, chunk, {Device{}})->kept) << chunk;
  std::map<int, std::int64_t> samples;
  for (const auto& call : study.calls) samples[call.device] += call.first < 2 * 9 * kBlock ? call.count : 0;
  EXPECT_EQ(samples[1], 2 * 2 * 3 * kBlock) << "a third of two chunks, twice";
  EXPECT_EQ(samples[2], samples[1]);
}

TEST(Engine, WhatOneOfSeveralDevicesThrowsEndsTheRun) {
  const Noted study(words(6 * kBlock, 6 * kBlock));
  try {
    static_cast<void>(run(study, {.others = {{Executor::kLanes, 0, 1}, {Executor::kLanes, 0, 3}}}));
    FAIL() << "device 3 was asked";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kNoDevice);
  }
  EXPECT_EQ(study.calls.size(), 3u) << "the others ended their part";
}

TEST(Engine, ALargeChunkIsComputedInPiecesAndGivenUpBetweenThem) {
  const std::int64_t piece = 1024 * kBlock, samples = 2 * piece + 5 * kBlock + 17;
  SystemWords w = words(samples, 4 * piece);
  w.plan.keep = "failures";
  const SystemStudy<Sum> study(w);
  const RunResult whole = run(study);
  EXPECT_EQ(whole.chunks, 1);
  EXPECT_EQ(whole.rows,
            static_cast<std::int64_t>(compute_chunk(study, 0, {Device{}})->kept.size() / study.shape().row));
  w.plan.chunk = kBlock * 64;
  const SystemStudy<Sum> small(w);
  EXPECT_EQ(small.summary(run(small).total, "samples"), study.summary(whole.total, "samples"));
  int asked = 0;
  MemoryStore store;
  // Before the chunk, then between its pieces.
  const RunResult stopped = run(study, {.chunks = &store, .is_cancelled = [&] { return ++asked > 2; }});
  EXPECT_EQ(stopped.end, End::kSignal);
  EXPECT_EQ(stopped.fresh, 0);
  EXPECT_TRUE(store.chunks.empty());
}

TEST(Engine, ATimeLimitEndsIt) {
  const SystemStudy<Sum> study(words(4 * 4 * kBlock));
  MemoryStore store;
  const RunResult kept = run(study, {.time_limit = 1e-9, .chunks = &store});
  EXPECT_EQ(kept.end, End::kTimeLimit);
  EXPECT_TRUE(is_resumable(kept.end));
  EXPECT_EQ(kept.chunks, 0);
  const RunResult in_memory = run(study, {.time_limit = 1e-9});  // an answer, however wide its interval
  EXPECT_EQ(in_memory.end, End::kTimeLimit);
  EXPECT_EQ(in_memory.chunks, 1);
}

TEST(Engine, ARunFolderIsResumedAndBelongsToOneStudy) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("garra_engine_" + std::to_string(::getpid()));
  const SystemStudy<Sum> study(words(8 * 4 * kBlock));
  int asked = 0;
  io::FolderRunOptions options;
  options.run.is_cancelled = [&] { return ++asked > 2; };
  EXPECT_EQ(io::run_in_folder(folder.string(), "job = \"sum\"\n", study, options).summary, "");
  const io::FolderRun run = io::run_in_folder(folder.string(), "job = \"sum\"\n", study);
  EXPECT_EQ(run.result.fresh, 6 * 4 * kBlock);
  EXPECT_TRUE(run.changed);
  EXPECT_TRUE(fs::exists(folder / "results.h5"));
  EXPECT_EQ(run.summary, study.summary(garra::study::run(study).total, "samples"));
  EXPECT_FALSE(io::run_in_folder(folder.string(), "job = \"sum\"\n", study).changed);
  EXPECT_THROW(static_cast<void>(io::run_in_folder(folder.string(), "job = \"other\"\n", study)), Error);
  fs::remove_all(folder);
}

TEST(Engine, WordsThatDoNotFitTheSystemAreRefused) {
  SystemWords w = words(kBlock);
  w.inputs.pop_back();
  EXPECT_THROW(SystemStudy<Sum>{w}, Error);
  w = words(kBlock, 1000);
  EXPECT_THROW(SystemStudy<Sum>{w}, Error);
  const SystemStudy<Sum> study(words(kBlock));
  EXPECT_THROW(static_cast<void>(study.run(0, kBlock, {Executor::kCuda})), Error);
}

/// Two workers from C++ as processes have it, one after the other: the first is stopped on its way.
TEST(Engine, WorkersOfAFolderHaveTheSummaryOfOneProcess) {
  const SystemStudy<Sum> study(words(32 * kBlock));
  const fs::path path = fs::path(::testing::TempDir()) / ("garra-workers-" + std::to_string(::getpid()));
  io::RunFolder folder = io::RunFolder::create(path.string(), "job = \"sum\"\n");
  int asked = 0;
  io::FolderRunOptions stopped;
  stopped.run.is_cancelled = [&] { return ++asked > 3; };
  const RunResult first = io::work_in_folder(folder, study, stopped, 0.5);
  EXPECT_EQ(first.end, End::kSignal);
  EXPECT_EQ(first.fresh, 3 * 4 * kBlock);
  EXPECT_FALSE(folder.has_chunk(0));
  EXPECT_TRUE(folder.has_chunk(4));
  const RunResult second = io::work_in_folder(folder, study);
  EXPECT_EQ(second.end, End::kSamples);
  EXPECT_EQ(first.fresh + second.fresh, 32 * kBlock);
  EXPECT_FALSE(folder.has("summary.json"));
  const io::FolderRun run = io::run_in_folder(folder, study);
  EXPECT_EQ(run.result.fresh, 0);
  EXPECT_EQ(run.summary, study.summary(study::run(study).total, "samples"));
  EXPECT_EQ(nlohmann::json::parse(run.manifest)["campaign"]["machines"], 1);
  fs::remove_all(path);
}

}  // namespace
}  // namespace garra::study
