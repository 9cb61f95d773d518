// Processes large files in blocks: each thread reads, processes and writes a block, in memory that it reuses.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace garra::cli {

/// Seconds that `work` takes.
template <class Work>
double measure_seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Division of `count` items into blocks for threads.
struct Blocks {
  std::int64_t count = 0, block = 1;  ///< of all; of one block
  int threads = 1;

  [[nodiscard]] int workers() const {
    const std::int64_t blocks = (count + block - 1) / block;
    return static_cast<int>(std::clamp<std::int64_t>(blocks, 1, threads));
  }

  /// Calls worker(first, count) for every block, in workers() threads that each own a worker = make(). An empty range
  /// has one empty block. The first exception of a worker ends the others after their block and is rethrown here.
  template <class Make>
  void run(const Make& make) const {
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;
    std::mutex mutex;
    const auto work = [&] {
      try {
        auto worker = make();
        // One empty block for an empty range, so that an output file is made anyway.
        const std::int64_t end = std::max<std::int64_t>(count, 1);
        for (std::int64_t first = next.fetch_add(block); first < end; first = next.fetch_add(block))
          worker(first, std::min(block, count - first));
      } catch (...) {
        // No further block begins; other threads finish theirs.
        next = std::max<std::int64_t>(count, 1);
        const std::scoped_lock lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    };
    std::vector<std::jthread> others;
    for (int i = 1; i < workers(); ++i) others.emplace_back(work);
    work();
    // Joins: `failure` is read only when no thread can write it.
    others.clear();
    if (failure) std::rethrow_exception(failure);
  }
};

}  // namespace garra::cli
