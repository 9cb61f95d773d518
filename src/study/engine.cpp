#include "garra/study/engine.hpp"

#include <algorithm>
#include <chrono>

#include "garra/core/error.hpp"

namespace garra::study {

namespace {

using Clock = std::chrono::steady_clock;

void add(const Study& study, const Tally& chunk, RunResult& to) {
  const Shape shape = study.shape();
  to.total.add(chunk, shape.sums, shape.tracked);
  // Counted as chunks pass, so that results.h5 can be laid out before they are read again.
  to.rows += static_cast<std::int64_t>(chunk.kept.size() / shape.row);
  ++to.chunks;
}

/// A run under way.
struct Runner {
  const Study& study;
  const RunOptions& options;
  Clock::time_point start = Clock::now();
  RunResult result{};

  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }

  /// Nothing while the run goes on. What is in memory only has one chunk at least, however short the time.
  [[nodiscard]] std::optional<End> end() const {
    const Plan& plan = study.plan();
    const Total& total = result.total;
    // In this order: a run that is complete is not reported as stopped, and a resumable end is the last resort.
    if (total.count >= plan.samples) return End::kSamples;
    if (plan.stop_half_width > 0 && total.count > 0 && study.widest_interval(total) <= 2 * plan.stop_half_width)
      return End::kHalfWidth;
    // Between chunks only: what is computed is whole or not at all.
    if (options.is_cancelled && options.is_cancelled()) return End::kSignal;
    const double limit = options.time_limit > 0 ? options.time_limit : plan.time_limit;
    // With stored chunks a run that stops at once loses nothing and may be resumed.
    const bool may_stop = options.chunks != nullptr || result.fresh > 0;
    if (limit > 0 && may_stop && seconds() > limit) return End::kTimeLimit;
    return std::nullopt;
  }

  [[nodiscard]] Tally next_chunk() {
    const Plan& plan = study.plan();
    const std::int64_t first = result.chunks * plan.chunk, count = std::min(plan.chunk, plan.samples - first);
    if (options.chunks != nullptr)
      // A chunk that cannot be taken is computed again: the same bits, for sample i depends on (seed, i) only.
      if (auto chunk = options.chunks->read(result.chunks, first, count)) return *std::move(chunk);
    Tally chunk = study.run(first, count, options.device);
    if (options.chunks != nullptr) options.chunks->write(result.chunks, chunk);
    // Stored chunks do not count as work of this start.
    result.fresh += count;
    return chunk;
  }

  void take_chunk() {
    const Tally chunk = next_chunk();
    add(study, chunk, result);
    if (options.on_chunk) options.on_chunk(chunk);
    if (options.on_progress) options.on_progress({result.total.count, result.fresh, study.estimate(result.total)});
  }
};

}  // namespace

Estimate Study::named_estimate(const Total& /*total*/, const std::string& quantity) const {
  throw Error(ExitCode::kUsage, "this study has no " + quantity, "Require its own probability.");
}

const char* to_string(End end) {
  static constexpr const char* kNames[] = {"samples", "half_width", "time_limit", "signal"};
  return kNames[static_cast<int>(end)];
}

RunResult run(const Study& study, const RunOptions& options) {
  Runner runner{study, options};
  std::optional<End> end;
  while (!(end = runner.end())) runner.take_chunk();
  runner.result.end = *end;
  runner.result.seconds = runner.seconds();
  return std::move(runner.result);
}

RunResult stored(const Study& study, ChunkStore& chunks) {
  const Plan& plan = study.plan();
  RunResult result;
  while (result.total.count < plan.samples) {
    const std::int64_t first = result.chunks * plan.chunk;
    const auto chunk = chunks.read(result.chunks, first, std::min(plan.chunk, plan.samples - first));
    // Chunks are used in order: what lies behind a gap is no part of the result.
    if (!chunk) break;
    add(study, *chunk, result);
  }
  return result;
}

}  // namespace garra::study
