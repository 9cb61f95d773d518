#include "garra/study/engine.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <thread>

#include "garra/batch/devices.hpp"
#include "garra/batch/interrupt.hpp"
#include "garra/core/error.hpp"
#include "study/summary.hpp"

namespace garra::study {

namespace {

using Clock = std::chrono::steady_clock;

/// Samples computed in one call. For a larger chunk the sums of all blocks need not be in memory at once, and a signal
/// need not wait for the chunk.
constexpr std::int64_t kPiece = 1024 * kBlock;

/// Pauses before recomputing a chunk that another process has reported as stored: about 0.9 s in all. A shared file
/// system may show a new file late.
constexpr int kMaxPauses = 14;

std::int64_t chunk_begin(std::int64_t chunk, const Plan& plan) { return chunk * plan.chunk; }
std::int64_t chunk_size(std::int64_t chunk, const Plan& plan) {
  return std::min(plan.chunk, plan.samples - chunk_begin(chunk, plan));
}

/// Samples of a piece: at most an equal share of the chunk per device.
std::int64_t choose_piece_size(std::int64_t count, std::size_t devices) {
  const auto parts = static_cast<std::int64_t>(devices) * kBlock;
  return std::min(kPiece, (count + parts - 1) / parts * kBlock);
}

/// Computes a piece on one device and appends it to `to`; in halves, down to a block, if the device has too little
/// memory.
void run_piece(const Study& study, std::int64_t first, std::int64_t count, const Device& device,
               std::vector<Tally>& to) {
  try {
    to.push_back(study.run(first, count, device));
    return;
  } catch (const OutOfDeviceMemory&) {
    if (count <= kBlock) throw;
  }
  const std::int64_t half = (count / kBlock + 1) / 2 * kBlock;
  run_piece(study, first, half, device, to);
  run_piece(study, first + half, count - half, device, to);
}

/// Computes consecutive pieces from `first` on, one per device, in parallel, as far as there are samples.
std::vector<Tally> run_pieces(const Study& study, std::int64_t first, std::int64_t count, std::int64_t piece,
                              const std::vector<Device>& devices) {
  std::vector<Tally> found;
  if (devices.size() == 1) {
    run_piece(study, first, std::min(piece, count), devices[0], found);
    return found;
  }
  // One host thread per device; an exception is rethrown once all have ended.
  std::vector<std::future<std::vector<Tally>>> under_way;
  for (const Device& device : devices) {
    const std::int64_t done = static_cast<std::int64_t>(under_way.size()) * piece;
    if (done >= count) break;
    under_way.push_back(std::async(std::launch::async, [&study, &device, first, done, count, piece] {
      std::vector<Tally> part;
      run_piece(study, first + done, std::min(piece, count - done), device, part);
      return part;
    }));
  }
  for (auto& part : under_way)
    for (Tally& tally : part.get()) found.push_back(std::move(tally));
  return found;
}

/// Exception that ends a chunk to be given up. Its condition may read the run folder, hence the time between checks.
struct GivenUp {};
constexpr std::chrono::milliseconds kBetweenAsks{200};

/// compute(), or nothing if is_stopped() ends it. It is also checked within a piece, which takes minutes for a study in
/// time.
template <class Compute>
std::optional<Total> stopped_by(const std::function<bool()>& is_stopped, const Compute& compute) {
  if (!is_stopped) return compute();
  const InterruptScope scope(
      [&] {
        if (is_stopped()) throw GivenUp();
      },
      kBetweenAsks);
  try {
    return compute();
  } catch (const GivenUp&) {
    return std::nullopt;
  }
}

/// Computes a chunk in pieces; checks `is_given_up` between them.
std::optional<Total> compute_pieces(const Study& study, std::int64_t index, const std::vector<Device>& devices,
                                    const std::function<bool()>& is_given_up);

void add(const Study& study, const Total& chunk, RunResult& to) {
  to.total.add(chunk);
  // Counted here, so that results.h5 can be laid out before the chunks are read again.
  to.rows += static_cast<std::int64_t>(chunk.kept.size() / study.shape().row);
  ++to.chunks;
}

/// A run under way.
struct Runner {
  const Study& study;
  const RunOptions& options;
  std::vector<Device> devices = options.devices();
  Clock::time_point start = Clock::now();
  RunResult result{};
  int pauses = 0;  ///< since the last chunk

  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }

  /// The reason to end, or nothing. A run in memory computes at least one chunk, for any time limit.
  [[nodiscard]] std::optional<End> end() const {
    const Plan& plan = study.plan();
    const Total& total = result.total;
    // The order matters: a complete run is not reported as stopped, and a resumable end comes last.
    if (total.count >= plan.samples) return End::kSamples;
    if (plan.stop_half_width > 0 && total.count > 0 && study.widest_interval(total) <= 2 * plan.stop_half_width)
      return End::kHalfWidth;
    // Only between chunks: a chunk is computed completely or not at all.
    if (options.is_cancelled && options.is_cancelled()) return End::kSignal;
    const double limit = options.time_limit > 0 ? options.time_limit : plan.time_limit;
    // With stored chunks a run that stops immediately loses nothing and may be resumed.
    const bool may_stop = options.chunks != nullptr || result.fresh > 0;
    if (limit > 0 && may_stop && seconds() > limit) return End::kTimeLimit;
    return std::nullopt;
  }

  void take(const Total& chunk) {
    add(study, chunk, result);
    if (options.on_chunk) options.on_chunk(chunk);
  }

  /// Takes the next chunk in order, if it is stored.
  [[nodiscard]] bool take_stored() {
    if (options.chunks == nullptr) return false;
    const std::int64_t next = result.chunks, count = chunk_size(next, study.plan());
    if (options.only_work && study.plan().stop_half_width == 0) {
      if (!options.chunks->has(next)) return false;
      ++result.chunks;
      result.total.count += count;
      return true;
    }
    const auto chunk = options.chunks->read(next, chunk_begin(next, study.plan()), count);
    if (chunk) take(*chunk);
    return chunk.has_value();
  }

  /// Computes a missing chunk: the next one, or a later one if others work on that.
  void compute_one() {
    ChunkStore* const store = options.chunks;
    const std::int64_t next = result.chunks;
    const auto claimed = store == nullptr ? next : store->claim(next, count_chunks(study.plan()));
    if (!claimed && pause()) return;  // another process was faster
    const std::int64_t index = claimed.value_or(next);
    const auto is_given_up = [&] {
      return (options.is_cancelled && options.is_cancelled()) || (store != nullptr && store->has(index));
    };
    // Another process's copy of the chunk is looked for between pieces only; near its end this one finishes and
    // compares.
    const auto chunk =
        stopped_by(options.is_cancelled, [&] { return compute_pieces(study, index, devices, is_given_up); });
    if (!chunk) {
      if (store != nullptr) store->give_up(index);
      return;
    }
    if (store != nullptr) store->write(index, *chunk);
    // Stored chunks do not count as work of this start.
    result.fresh += chunk->count;
    // Our chunk is used directly if it is the next one; later ones are read in their turn.
    if (index == next && !options.only_work) take(*chunk);
  }

  /// False after kMaxPauses in a row: the chunk is then computed unclaimed.
  [[nodiscard]] bool pause() {
    if (pauses >= kMaxPauses) return false;
    // No sleep the first time: the chunk has probably been stored since the last look.
    if (pauses > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1 << std::min(pauses - 1, 7)));
    ++pauses;
    return true;
  }

  void step() {
    const std::int64_t chunks = result.chunks, fresh = result.fresh;
    if (!take_stored()) compute_one();
    if (result.chunks != chunks || result.fresh != fresh) pauses = 0;
    if (options.on_progress) options.on_progress({result.total.count, result.fresh, study.estimate(result.total)});
  }
};

}  // namespace

std::vector<DecisionCounts> Study::decisions(const Total& t) const {
  std::vector<DecisionCounts> groups;
  for (const IndexRange& counts : shape().outcomes) {
    DecisionCounts& group = groups.emplace_back();
    auto count = static_cast<int>(counts.first);
    for (const OutcomeWords& outcome : outcome_words()) {
      const std::int64_t n = at(t, count++);
      if (outcome.evidence == Evidence::kFor) group.held += n;
      if (outcome.evidence == Evidence::kUnsolved) group.unsolved += n;
      if (outcome.decided()) group.decided += n;
    }
  }
  return groups;
}

Estimate Study::estimate(const Total& t) const { return make_estimate(decisions(t)); }

double Study::widest_interval(const Total& t) const {
  double widest = 0;
  for (const DecisionCounts& group : decisions(t)) {
    const Interval i = make_estimate({&group, 1}).interval;
    widest = std::max(widest, i.high - i.low);
  }
  return widest;
}

Estimate Study::named_estimate(const Total& /*total*/, const std::string& quantity) const {
  throw Error(ExitCode::kUsage, "this study has no " + quantity, "Require its own probability.");
}

std::optional<std::int64_t> ChunkStore::claim(std::int64_t next, std::int64_t /*end*/) { return next; }

const char* to_string(End end) {
  static constexpr const char* kNames[] = {"samples", "half_width", "time_limit", "signal"};
  return kNames[static_cast<int>(end)];
}

RunResult run(const Study& study, const RunOptions& options) {
  Runner runner{study, options};
  std::optional<End> end;
  while (!(end = runner.end())) runner.step();
  runner.result.end = *end;
  runner.result.seconds = runner.seconds();
  return std::move(runner.result);
}

std::int64_t count_chunks(const Plan& plan) { return (plan.samples + plan.chunk - 1) / plan.chunk; }

namespace {

std::optional<Total> compute_pieces(const Study& study, std::int64_t index, const std::vector<Device>& devices,
                                    const std::function<bool()>& is_given_up) {
  const std::int64_t first = chunk_begin(index, study.plan()), count = chunk_size(index, study.plan());
  const std::int64_t piece = choose_piece_size(count, devices.size());
  const Shape shape = study.shape();
  // Two chunks at a time on a GPU: it computes the next pieces while the host processes the last ones.
  const bool on_gpu = devices[0].executor == Executor::kCuda;
  const std::int64_t together = piece * static_cast<std::int64_t>(devices.size());
  std::deque<std::future<std::vector<Tally>>> under_way;
  std::int64_t begun = 0;
  const auto begin_more = [&] {
    for (; begun < count && under_way.size() < (on_gpu ? 2 : 1); begun += together)
      under_way.push_back(std::async(on_gpu ? std::launch::async : std::launch::deferred, [&, done = begun] {
        return run_pieces(study, first + done, std::min(together, count - done), piece, devices);
      }));
  };
  Total chunk{};
  for (begin_more(); chunk.count < count;) {
    if (chunk.count > 0 && is_given_up && is_given_up()) return std::nullopt;
    std::vector<Tally> found = under_way.front().get();
    under_way.pop_front();
    begin_more();
    for (Tally& part : found) {
      const bool is_first = chunk.count == 0;
      chunk.add(part, shape);
      if (is_first)
        chunk.kept.swap(part.kept);
      else
        chunk.kept.insert(chunk.kept.end(), part.kept.begin(), part.kept.end());
    }
  }
  return chunk;
}

}  // namespace

std::optional<Total> compute_chunk(const Study& study, std::int64_t index, const std::vector<Device>& devices,
                                   const std::function<bool()>& is_given_up) {
  return stopped_by(is_given_up, [&] { return compute_pieces(study, index, devices, is_given_up); });
}

double estimated_seconds(const Study& study, std::int64_t samples, const Device& processor) {
  constexpr double kLongEnough = 0.01;  // [s], for the clock, and for what is made once
  if (samples <= 0) return 0;
  Device one = processor;
  one.threads = 1;
  const std::int64_t most = std::min(samples, kBlock);
  for (std::int64_t count = 8;; count *= 4) {
    const std::int64_t tried = std::min(count, most);
    const Clock::time_point start = Clock::now();
    static_cast<void>(study.run(0, tried, one));
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (seconds < kLongEnough && tried < most) continue;
    return seconds * static_cast<double>(samples) / static_cast<double>(tried) / study_threads(processor);
  }
}

RunResult stored(const Study& study, ChunkStore& chunks) {
  RunResult result;
  while (result.total.count < study.plan().samples) {
    const std::int64_t next = result.chunks;
    const auto chunk = chunks.read(next, chunk_begin(next, study.plan()), chunk_size(next, study.plan()));
    // Chunks are used in order: those behind a gap are not part of the result.
    if (!chunk) break;
    add(study, *chunk, result);
  }
  return result;
}

}  // namespace garra::study
