// The study engine: runs the samples of any system and counts them. One loop serves the program,
// C++ users and user-defined systems: chunks, stop rules, progress, cancellation, continuation of
// an earlier run (docs/theory/monte-carlo.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/study/outcomes.hpp"
#include "garra/study/shape.hpp"
#include "garra/study/study.hpp"
#include "garra/study/tally.hpp"

namespace garra::study {

/// The estimate, so far, of the probability that a study determines. NaN if no sample is decided.
struct Estimate {
  double probability;
  Interval interval;  ///< 95 %; unsolved samples widen it
};

/// The interface of a study to the engine. Implementations: grasp::make_study, chain::make_study,
/// singularity::make_study, platform::make_study and study::SystemStudy (a user-defined system).
class Study {
 public:
  virtual ~Study() = default;
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  [[nodiscard]] virtual const Plan& plan() const = 0;
  [[nodiscard]] virtual Shape shape() const = 0;
  /// The datasets that kept rows form.
  [[nodiscard]] virtual std::vector<RowColumn> columns() const = 0;
  /// Computes samples first .. first + count - 1; `first` is a multiple of kBlock. Several threads
  /// may call it at once, each for its own device.
  [[nodiscard]] virtual Tally run(std::int64_t first, std::int64_t count, const Device& device) const = 0;
  /// Why a GPU cannot take the samples, for `--device auto`; "" if it can.
  [[nodiscard]] virtual std::string gpu_refusal() const { return {}; }
  /// The summary.json document (docs/reference/run-folder.md); `stopped_by` says why the run ended.
  [[nodiscard]] virtual std::string summary(const Total& total, const std::string& stopped_by) const = 0;
  /// The rows of each IndexRange in Shape::outcomes, which say what is evidence of the event.
  [[nodiscard]] virtual std::span<const OutcomeWords> outcome_words() const { return {}; }
  /// P(event) of all groups together.
  [[nodiscard]] virtual Estimate estimate(const Total& total) const;
  /// The estimate of a quantity of another name that `--require` may use ("p_no_slip" of a grasp).
  /// Throws Error(kUsage) if there is no such quantity, even before the first sample.
  [[nodiscard]] virtual Estimate named_estimate(const Total& total, const std::string& quantity) const;
  /// The widest of the intervals that Plan::stop_half_width limits: those of all groups.
  [[nodiscard]] virtual double widest_interval(const Total& total) const;
  /// The counts behind each probability of the study, by group: input of unsolved_fault().
  [[nodiscard]] virtual std::vector<DecisionCounts> decisions(const Total& total) const;

 protected:
  Study() = default;
};

/// Stored chunks, of an earlier run or of other processes that work on this one, and storage for
/// new chunks. io::RunChunks keeps them in a run folder.
class ChunkStore {
 public:
  virtual ~ChunkStore() = default;
  ChunkStore(const ChunkStore&) = delete;
  ChunkStore& operator=(const ChunkStore&) = delete;

  /// Chunk `index`, samples first .. first + count - 1, if it is stored, sound and of this study.
  [[nodiscard]] virtual std::optional<Total> read(std::int64_t index, std::int64_t first, std::int64_t count) = 0;
  virtual void write(std::int64_t index, const Total& chunk) = 0;
  /// Whether the chunk is stored; its content is not read.
  [[nodiscard]] virtual bool has(std::int64_t index) = 0;
  /// The chunk to compute next, from `next` on, of `end` in all: one that no other process works
  /// on; by default `next`. Empty: all are stored by now.
  [[nodiscard]] virtual std::optional<std::int64_t> claim(std::int64_t next, std::int64_t end);
  /// Leaves the claimed chunk, not fully computed, to others.
  virtual void give_up(std::int64_t /*index*/) {}

 protected:
  ChunkStore() = default;
};

/// Progress of a run.
struct Progress {
  std::int64_t samples = 0;  ///< so far
  std::int64_t fresh = 0;    ///< of `samples`, computed now; the others were in the store
  Estimate estimate;
};

struct RunOptions {
  Device device = {};
  std::vector<Device> others = {};                        ///< GPUs that share the samples of each chunk with it
  double time_limit = 0;                                  ///< [s] in place of the plan's; 0: the plan's
  ChunkStore* chunks = nullptr;                           ///< none: the run is kept in memory only
  std::function<void(const Progress&)> on_progress = {};  ///< after every chunk, in the calling thread
  std::function<void(const Total&)> on_chunk = {};        ///< sees every chunk, in the order of the samples
  /// Called before every chunk and, on the host, between its blocks (batch/interrupt.hpp): true
  /// ends the run, resumable, without the chunk under way.
  std::function<bool()> is_cancelled = {};
  /// For one of several processes: it computes and stores chunks, and reads others' chunks only if
  /// the plan's half width needs them. `total` then describes no run.
  bool only_work = false;

  [[nodiscard]] std::vector<Device> devices() const {
    std::vector<Device> all = {device};
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }
};

/// The reason for the end of a run.
enum class End : int {
  kSamples = 0,  ///< all samples of the plan
  kHalfWidth,    ///< the interval is as narrow as Plan::stop_half_width
  kTimeLimit,    ///< resumable
  kSignal,       ///< canceled; resumable
};
/// "samples", "half_width", "time_limit", "signal": `stopped_by` of summary.json
[[nodiscard]] const char* to_string(End end);
[[nodiscard]] inline bool is_resumable(End end) { return end == End::kTimeLimit || end == End::kSignal; }

struct RunResult {
  End end = End::kSamples;
  Total total{};
  std::int64_t fresh = 0;   ///< samples computed now
  std::int64_t chunks = 0;  ///< in `total`; of a worker: stored, counted from the first one
  std::int64_t rows = 0;    ///< samples kept by these chunks
  double seconds = 0;       ///< of this run
};

/// Runs a study to its end: all samples, or an interval as narrow as asked for, or the time limit,
/// or cancellation. The result is that of the fewest chunks, from the first one on, that meet the
/// rule. To the last bit it depends neither on the device, the number of threads and of processes
/// on the store, nor on interruptions. The size of chunks matters only if the half width ends the
/// run. Throws the exceptions of the study and of the store.
[[nodiscard]] RunResult run(const Study& study, const RunOptions& options = {});

/// Number of chunks of a study's plan.
[[nodiscard]] std::int64_t count_chunks(const Plan& plan);

/// Estimated CPU time of `samples` of the study, from the time of a few samples in one thread [s].
[[nodiscard]] double estimated_seconds(const Study& study, std::int64_t samples, const Device& processor);

/// Computes chunk `index` piece by piece; empty if `is_given_up` (called between blocks of samples)
/// returns true. Several GPUs may share the chunk, with the same result.
[[nodiscard]] std::optional<Total> compute_chunk(const Study& study, std::int64_t index,
                                                 const std::vector<Device>& devices,
                                                 const std::function<bool()>& is_given_up = {});

/// The chunks of a store up to the first missing one; computes nothing. `end` is meaningless.
[[nodiscard]] RunResult stored(const Study& study, ChunkStore& chunks);

}  // namespace garra::study
