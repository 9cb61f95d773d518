// Shares work among threads of the host. An exception that left an OpenMP region would end the
// program; it is kept until all threads have stopped and then thrown to the caller. Use it for all
// work that allocates.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "garra/batch/interrupt.hpp"

namespace garra {

/// Four threads per processor that this process may use. study_threads() and solve_threads() never
/// give more, which would only take memory.
[[nodiscard]] int most_threads();

}  // namespace garra

namespace garra::batch {

/// The pieces 0 ... count - 1 of a work. Threads take them one after another until all are taken or
/// one has failed. Before each piece a thread checks whether the call is to end (interrupt.hpp).
class Pieces {
 public:
  explicit Pieces(std::int64_t count) : count_(count) {}

  /// Takes a piece: `for (std::int64_t k = 0; pieces.next(k);)`.
  [[nodiscard]] bool next(std::int64_t& piece) {
    if (failed_.load(std::memory_order_relaxed)) return false;
    check_interrupt();
    piece = next_.fetch_add(1, std::memory_order_relaxed);
    return piece < count_;
  }
  /// Runs `work` in one thread at a time; its exceptions, bad_alloc above all, do not block others.
  template <class Work>
  void alone(const Work& work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    work();
  }
  template <class Work>
  void guard(const Work& work) noexcept {
    try {
      const InterruptShare share(interrupt_);
      work(*this);
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::int64_t count_;
  InterruptScope* interrupt_ = InterruptShare::current();
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  std::mutex mutex_;
};

/// Runs work(pieces) on each of `threads` threads. Throws the first of their exceptions.
template <class Work>
void run_threads(int threads, std::int64_t count, const Work& work) {
  Pieces pieces(count);
  if (threads == 1) {
    pieces.guard(work);
  } else {
#pragma omp parallel num_threads(threads)
    pieces.guard(work);
  }
  pieces.rethrow();
}

/// `count` items in blocks of `size`; the last block may be shorter.
struct Blocks {
  std::int64_t count, size;

  [[nodiscard]] std::int64_t number() const { return (count + size - 1) / size; }
  [[nodiscard]] std::int64_t largest() const { return std::min(count, size); }
};

/// Runs work(workspace, first, how_many) for every block, in any order: the loop of all batches on
/// the host. Each thread takes its workspace from make() once; no more threads than blocks start.
template <class Make, class Work>
void for_blocks(int threads, const Blocks& blocks, const Make& make, const Work& work) {
  const std::int64_t number = blocks.number();
  if (number == 0) return;
  run_threads(static_cast<int>(std::min<std::int64_t>(threads, number)), number, [&](Pieces& pieces) {
    auto workspace = make();
    for (std::int64_t k = 0; pieces.next(k);)
      work(workspace, k * blocks.size, std::min(blocks.size, blocks.count - k * blocks.size));
  });
}
/// Runs work(first, how_many), if a thread needs no memory of its own.
template <class Work>
void for_blocks(int threads, const Blocks& blocks, const Work& work) {
  for_blocks(
      threads, blocks, [] { return 0; }, [&](int, std::int64_t first, std::int64_t count) { work(first, count); });
}

/// Runs body(k) for k = 0 ... count - 1, in any order.
template <class Body>
void parallel_for(int threads, std::int64_t count, const Body& body) {
  run_threads(threads, count, [&](Pieces& pieces) {
    for (std::int64_t k = 0; pieces.next(k);) body(k);
  });
}

}  // namespace garra::batch
