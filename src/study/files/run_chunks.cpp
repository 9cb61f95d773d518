#include "study/files/run_chunks.hpp"

#include <algorithm>

#include "garra/core/error.hpp"

namespace garra::io {

namespace {

/// Time between two writes of a worker's record [s]: each write waits twice for the disk, 2 % of the time for small
/// chunks.
constexpr double kRecordEvery = 1;

}  // namespace

const char* describe_state(RunFolder::Chunk state) {
  if (state == RunFolder::Chunk::kMissing) return "is missing";
  return state == RunFolder::Chunk::kDamaged ? "is damaged" : "belongs to another scenario or version of garra";
}

bool is_fault(RunFolder::Chunk state) {
  return state == RunFolder::Chunk::kDamaged || state == RunFolder::Chunk::kForeign;
}

void RunChunks::work_from(double place, std::string device) {
  place_ = place;
  worker_ = WorkerState{.name = worker_name(), .device = std::move(device), .chunks = {}, .checked = {}};
  start_ = std::chrono::steady_clock::now();
}

std::optional<study::Total> RunChunks::read(std::int64_t index, std::int64_t first, std::int64_t count) {
  auto chunk = folder_.read_chunk(index, &last_);
  // Sound, but of other samples: a chunk file under another chunk's name.
  if (chunk && (chunk->first != first || chunk->count != count)) {
    last_ = RunFolder::Chunk::kForeign;
    chunk.reset();
  }
  if (is_fault(last_)) {
    faulty_.insert(index);
    if (warn_) warn_("chunk " + std::to_string(index) + " " + describe_state(last_) + "; computing it again");
  }
  return chunk;
}

bool RunChunks::has(std::int64_t index) { return !faulty_.contains(index) && folder_.has_chunk(index); }

std::optional<std::int64_t> RunChunks::claim(std::int64_t next, std::int64_t end) {
  if (!claims_) claims_.emplace(folder_.path(), worker_name());
  if (!recorded_) write_record();
  there_.resize(static_cast<std::size_t>(end), false);
  const std::int64_t count = end - next;
  const std::int64_t begin =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(place_ * static_cast<double>(end)) - next, 0, count - 1);
  std::int64_t asked = 0;
  // From the worker's start to the end, then from the first wanted one.
  const auto next_missing = [&]() -> std::optional<std::int64_t> {
    while (asked < count) {
      const std::int64_t k = next + (begin + asked++) % count;
      const auto seen = there_.begin() + static_cast<std::ptrdiff_t>(k);
      if (!*seen) *seen = has(k);
      if (!*seen) return k;
    }
    return std::nullopt;
  };
  return claims_->take(next_missing, [&](std::int64_t k) { return has(k); });
}

void RunChunks::give_up(std::int64_t index) {
  if (claims_) claims_->drop(index);
}

void RunChunks::write(std::int64_t index, const study::Total& chunk) {
  if (faulty_.erase(index) > 0) folder_.remove_chunk(index);
  RunFolder::Written written = folder_.write_chunk(index, chunk);
  if (written == RunFolder::Written::kOther) {
    RunFolder::Chunk state{};
    static_cast<void>(folder_.read_chunk(index, &state));
    if (!is_fault(state)) {
      write_record();
      refuse(index);
    }
    // A damaged chunk that was not read before.
    folder_.remove_chunk(index);
    written = folder_.write_chunk(index, chunk);
  }
  if (claims_) claims_->drop(index);
  if (worker_) record(index, chunk, written);
  // After each chunk: a claim is renewed for as long as work goes on.
  folder_.renew_lock();
}

void RunChunks::record(std::int64_t index, const study::Total& chunk, RunFolder::Written written) {
  (written == RunFolder::Written::kNew ? worker_->chunks : worker_->checked).push_back(index);
  worker_->samples += chunk.count;
  worker_->seconds = seconds();
  if (worker_->seconds - recorded_.value_or(-kRecordEvery) >= kRecordEvery) write_record();
}

double RunChunks::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void RunChunks::write_record() {
  if (!worker_) return;
  write_worker(folder_, *worker_);
  recorded_ = seconds();
}

void RunChunks::end_work() {
  if (!worker_ || !recorded_) return;
  worker_->ended = true;
  write_record();
}

/// Throws Error for different bytes of the same chunk: one of both machines computes wrongly.
void RunChunks::refuse(std::int64_t index) const {
  const std::string writer = writer_of_chunk(folder_, index);
  throw Error(
      ExitCode::kInputOutput,
      folder_.path() + ": chunk " + std::to_string(index) + " was computed by " +
          (writer.empty() ? "a process that has left no record" : describe_worker(writer)) + " and by " +
          describe_worker(worker_name()) + ", and the results differ",
      "One of both machines computes wrongly, or runs another build of garra. Find out which by `garra verify " +
          folder_.path() + " --fraction 1` on a third one.");
}

}  // namespace garra::io
