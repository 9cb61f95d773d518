// Moves rows of the host through the GPU: packs them into pinned memory, copies them, runs the work
// on them as arrays of the device (resident.hpp), and copies them back. Three shares of rows are
// under way at once, so that copies overlap with kernels and with packing on the CPU. For files
// that nvcc compiles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "garra/batch/for_each.cuh"
#include "garra/batch/resident.hpp"
#include "garra/batch/rows.hpp"

namespace garra::cuda {

/// Pinned host memory, which the GPU reads and writes by itself. Returned pieces are kept for
/// reuse: allocating them takes longer than copying through them.
class Pinned {
 public:
  explicit Pinned(std::size_t bytes) : piece_(taken(bytes)) {
    if (piece_.bytes >= bytes) return;
    if (piece_.data != nullptr) cudaFreeHost(piece_.data);
    piece_ = {nullptr, bytes};
    check(cudaHostAlloc(&piece_.data, bytes, cudaHostAllocPortable), "allocating pinned memory of the host");
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() {
    const std::lock_guard<std::mutex> lock(mutex());
    kept().push_back(piece_);
  }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(piece_.data); }

 private:
  struct Piece {
    void* data;
    std::size_t bytes;
  };
  /// The smallest kept piece that is large enough, otherwise the largest.
  static Piece taken(std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex());
    std::vector<Piece>& all = kept();
    if (all.empty()) return {nullptr, 0};
    std::ranges::sort(all, {}, &Piece::bytes);
    auto one = std::ranges::find_if(all, [&](const Piece& piece) { return piece.bytes >= bytes; });
    if (one == all.end()) --one;
    const Piece piece = *one;
    all.erase(one);
    return piece;
  }
  // Never destroyed: the driver may already be unloaded.
  static std::vector<Piece>& kept() {
    static auto* const all = new std::vector<Piece>;
    return *all;
  }
  static std::mutex& mutex() {
    static auto* const one = new std::mutex;
    return *one;
  }

  Piece piece_;
};

/// A stream that is waited for when it is destroyed.
class Stream {
 public:
  Stream() { check(cudaStreamCreate(&stream_), "making a stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  [[nodiscard]] cudaStream_t get() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "running kernels"); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace garra::cuda

namespace garra::batch {

/// Queues the work on rows of the device, or reports the workspace it takes.
using ResidentWork = std::function<void(const ResidentRows&)>;

/// The rows of a job as packed rows on the device, from `in` and `out` on.
inline ResidentRows rows_on_device(const Rows& job, std::int64_t count, std::byte* in, std::byte* out) {
  ResidentRows rows;
  rows.count = count;
  const Offsets in_at = packed_offsets(job.in, count), out_at = packed_offsets(job.out, count);
  for (std::size_t k = 0; k < job.in.size(); ++k) {
    const InColumn& c = job.in[k];
    rows.in.push_back(
        {c.data == nullptr ? nullptr : in + in_at[k], c.width, sizeof(double), c.shared ? 0 : c.width, 1});
  }
  for (std::size_t k = 0; k < job.out.size(); ++k) {
    const OutColumn& c = job.out[k];
    const bool is_there = c.data != nullptr || c.whole.data != nullptr;
    const int bytes = c.data != nullptr ? static_cast<int>(sizeof(double)) : c.whole.bytes;
    rows.out.push_back({is_there ? out + out_at[k] : nullptr, c.width, bytes, c.width, 1});
  }
  rows.call.device = job.device.index;
  return rows;
}

/// The buffers and the stream of one share of the rows.
class Stage {
 public:
  /// At most `most` rows, for which the work takes `workspace` bytes.
  Stage(const Rows& job, std::int64_t most, std::size_t workspace)
      : job_(job),
        in_bytes_(packed_offsets(job.in, most).back()),
        out_bytes_(packed_offsets(job.out, most).back()),
        workspace_(workspace),
        memory_(static_cast<std::int64_t>(in_bytes_ + out_bytes_ + workspace)),
        pinned_(in_bytes_ + out_bytes_) {}

  /// Queues the copies and the work.
  void start(const RowRange& rows, const ResidentWork& work) {
    rows_ = rows;
    pack(job_.in, rows, pinned_.data(), solve_threads(job_.device));
    copy(memory_.data(), pinned_.data(), packed_offsets(job_.in, rows.count).back(), cudaMemcpyHostToDevice);
    std::byte* const out = memory_.data() + in_bytes_;
    ResidentRows there = rows_on_device(job_, rows.count, memory_.data(), out);
    there.call.stream = stream_.get();
    there.call.workspace = out + out_bytes_;
    there.call.bytes = workspace_;
    work(there);
    copy(pinned_.data() + in_bytes_, out, packed_offsets(job_.out, rows.count).back(), cudaMemcpyDeviceToHost);
  }
  /// Waits for the queued rows, if there are any, and stores their results.
  void finish() {
    if (rows_.count == 0) return;
    stream_.wait();
    unpack(pinned_.data() + in_bytes_, rows_, job_.out, solve_threads(job_.device));
    rows_.count = 0;
  }

 private:
  void copy(std::byte* to, const std::byte* from, std::size_t bytes, cudaMemcpyKind kind) const {
    cuda::check(cudaMemcpyAsync(to, from, bytes, kind, stream_.get()), "copying");
  }

  const Rows& job_;
  RowRange rows_{0, 0};
  std::size_t in_bytes_, out_bytes_, workspace_;
  cuda::Buffer<std::byte> memory_;
  cuda::Pinned pinned_;
  cuda::Stream stream_;  // the last member, so destroyed first: it waits
};

inline constexpr int kStages = 3;

/// Maximum number of rows on the device if each takes `each` bytes.
using MostRows = std::function<std::int64_t(std::uint64_t each)>;
/// As many rows as fit beside `stacks` (cuda::measure_stack()), and at most `most`.
inline MostRows as_many_as_fit(const Device& device, std::int64_t most, std::uint64_t stacks) {
  return [=](std::uint64_t each) { return std::min(most, cuda::how_many_fit(device, {each, stacks})); };
}

/// Runs the work on all rows of the host.
inline void run_staged(const Rows& job, const MostRows& most, const ResidentWork& work) {
  if (job.count == 0) return;
  // Large enough that copying takes far longer than starting a copy, and that the shares under way
  // fill a GPU, an eighth of whose threads have registers for these kernels. Small enough that
  // shares overlap.
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  constexpr std::int64_t kBlock = 1024, kMin = 4 * kBlock, kShares = 2 * kStages;
  const auto workspace_of = [&](std::int64_t rows) {
    std::size_t bytes = 0;
    auto* const somewhere = reinterpret_cast<std::byte*>(std::uintptr_t{256});  // null would mean absent
    ResidentRows there = rows_on_device(job, rows, somewhere, somewhere);
    there.needed = &bytes;
    work(there);
    return bytes;
  };
  const std::size_t copied = packed_offsets(job.in, kBlock).back() + packed_offsets(job.out, kBlock).back();
  const std::uint64_t each = (copied + workspace_of(kBlock)) / kBlock + 1;
  const auto by_bytes = static_cast<std::int64_t>(kBytes * kBlock / (copied + 1) + 1);
  const auto by_threads = static_cast<std::int64_t>(cuda::threads_at_once(job.device.index) / (8 * kStages));
  const std::int64_t overlapping = std::max(kMin, job.count / kShares + 1);
  const std::int64_t rows = std::min({most(kStages * each), std::max(by_bytes, by_threads), overlapping, job.count});
  const std::size_t workspace = workspace_of(rows);
  const std::int64_t shares = (job.count + rows - 1) / rows;
  // Allocates before anything runs: allocation waits for the GPU.
  std::deque<Stage> stages;
  while (static_cast<std::int64_t>(stages.size()) < std::min<std::int64_t>(kStages, shares))
    stages.emplace_back(job, rows, workspace);
  const auto in_turn = static_cast<std::int64_t>(stages.size());
  for (std::int64_t k = 0; k < shares + in_turn; ++k) {
    Stage& stage = stages[static_cast<std::size_t>(k % in_turn)];
    stage.finish();
    if (k < shares) stage.start({k * rows, std::min(rows, job.count - k * rows)}, work);
  }
}

}  // namespace garra::batch
