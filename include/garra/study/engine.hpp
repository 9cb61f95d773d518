// The study engine: samples in, counts out, whatever the system. One loop for the program, for C++ users and for a
// system of one's own: chunks, stop rules, progress, cancelling, going on where an earlier run has stopped
// (docs/theory/monte-carlo.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/study/shape.hpp"
#include "garra/study/study.hpp"
#include "garra/study/tally.hpp"

namespace garra::study {

/// The probability that a study is about, so far. NaN where no sample is decided.
struct Estimate {
  double probability;
  Interval interval;  ///< 95 %; unsolved samples widen it
};

/// What the engine needs of a study. grasp::make_study, chain::make_study, singularity::make_study,
/// platform::make_study and study::SystemStudy (a system of one's own) give one.
class Study {
 public:
  virtual ~Study() = default;
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  [[nodiscard]] virtual const Plan& plan() const = 0;
  [[nodiscard]] virtual Shape shape() const = 0;
  /// The datasets that kept rows make.
  [[nodiscard]] virtual std::vector<RowColumn> columns() const = 0;
  /// Samples first .. first + count - 1; `first` is a multiple of kBlock. Several threads may ask at once, each for a
  /// device of its own.
  [[nodiscard]] virtual Tally run(std::int64_t first, std::int64_t count, const Device& device) const = 0;
  /// The summary.json document (docs/reference/run-folder.md); `stopped_by` says why the run ended.
  [[nodiscard]] virtual std::string summary(const Total& total, const std::string& stopped_by) const = 0;
  [[nodiscard]] virtual Estimate estimate(const Total& total) const = 0;
  /// What `--require` may ask for by another name than the study's own ("p_no_slip" of a grasp); throws Error(kUsage)
  /// where there is no such quantity, before the first sample too.
  [[nodiscard]] virtual Estimate named_estimate(const Total& total, const std::string& quantity) const;
  /// The widest of the intervals that Plan::stop_half_width is about.
  [[nodiscard]] virtual double widest_interval(const Total& total) const = 0;
  /// The counts behind each probability that the study is about: what unsolved_fault() judges.
  [[nodiscard]] virtual std::vector<Verdicts> verdicts(const Total& total) const = 0;

 protected:
  Study() = default;
};

/// Chunks that are there already, by an earlier run or by other processes that work on this one, and a place for new
/// ones. io::RunChunks keeps them in a run folder.
class ChunkStore {
 public:
  virtual ~ChunkStore() = default;
  ChunkStore(const ChunkStore&) = delete;
  ChunkStore& operator=(const ChunkStore&) = delete;

  /// Chunk `index`, samples first .. first + count - 1, if it is there, sound, and of this very study.
  [[nodiscard]] virtual std::optional<Total> read(std::int64_t index, std::int64_t first, std::int64_t count) = 0;
  virtual void write(std::int64_t index, const Total& chunk) = 0;
  /// Whether somebody has stored it; without looking into it.
  [[nodiscard]] virtual bool has(std::int64_t index) = 0;
  /// The chunk to compute next, where `next` is the first one wanted and there are `end` in all: one that nobody else
  /// is at work on; by default `next`. Nothing: all are there by now.
  [[nodiscard]] virtual std::optional<std::int64_t> claim(std::int64_t next, std::int64_t end);
  /// The chunk claimed is left to others, not computed to its end.
  virtual void give_up(std::int64_t /*index*/) {}

 protected:
  ChunkStore() = default;
};

/// How far a run is.
struct Progress {
  std::int64_t samples = 0;  ///< so far
  std::int64_t fresh = 0;    ///< of them computed now; the others were in the store
  Estimate estimate;
};

struct RunOptions {
  Device device = {};
  std::vector<Device> others = {};                        ///< GPUs that share the samples of each chunk with it
  double time_limit = 0;                                  ///< [s] in place of the plan's; 0: the plan's
  ChunkStore* chunks = nullptr;                           ///< none: the run is kept in memory only
  std::function<void(const Progress&)> on_progress = {};  ///< after every chunk, in the calling thread
  std::function<void(const Total&)> on_chunk = {};        ///< sees every chunk, in the order of the samples
  /// Asked before every chunk and, on the host, between its blocks (batch/interrupt.hpp): true ends the run, resumable,
  /// without the chunk under way.
  std::function<bool()> is_cancelled = {};
  /// For one of several processes: chunks are computed and stored, but those of others are read only where the plan's
  /// half width asks for them. `total` is then that of no run.
  bool only_work = false;

  [[nodiscard]] std::vector<Device> devices() const {
    std::vector<Device> all = {device};
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }
};

/// Why a run has ended.
enum class End : int {
  kSamples = 0,  ///< all samples of the plan
  kHalfWidth,    ///< the interval is as narrow as Plan::stop_half_width
  kTimeLimit,    ///< resumable
  kSignal,       ///< cancelled; resumable
};
/// "samples", "half_width", "time_limit", "signal": `stopped_by` of summary.json
[[nodiscard]] const char* to_string(End end);
[[nodiscard]] inline bool is_resumable(End end) { return end == End::kTimeLimit || end == End::kSignal; }

struct RunResult {
  End end = End::kSamples;
  Total total{};
  std::int64_t fresh = 0;   ///< samples computed now
  std::int64_t chunks = 0;  ///< in `total`; of a worker: there, from the first one on
  std::int64_t rows = 0;    ///< samples that they keep
  double seconds = 0;       ///< of this run
};

/// Runs a study to its end: all samples, or an interval as narrow as asked for, or the time limit, or cancelled. The
/// result is the same to the last bit whatever the device, the number of threads, the size of chunks (but for where
/// the half width ends it), the number of processes at work on the store, and however often they were stopped: it is
/// that of the fewest chunks, from the first one on, that meet the rule. Throws what the study and the store throw.
[[nodiscard]] RunResult run(const Study& study, const RunOptions& options = {});

/// Chunks of a study's plan.
[[nodiscard]] std::int64_t chunks_of(const Plan& plan);

/// What `samples` of the study would take on the processor, by what a few of them take one thread of it now [s].
[[nodiscard]] double estimated_seconds(const Study& study, std::int64_t samples, const Device& processor);

/// Chunk `index`, computed piece by piece; nothing where `is_given_up` (asked between blocks of samples) says so.
/// Several devices, GPUs, share it. The result is the same.
[[nodiscard]] std::optional<Total> compute_chunk(const Study& study, std::int64_t index,
                                                 const std::vector<Device>& devices,
                                                 const std::function<bool()>& is_given_up = {});

/// What a store has, up to the first chunk that is not there; nothing is computed. `end` means nothing.
[[nodiscard]] RunResult stored(const Study& study, ChunkStore& chunks);

}  // namespace garra::study
