// 32 threads that run one instruction at a time together, each with its own registers.
#pragma once

#include <array>
#include <bit>
#include <functional>
#include <span>

#include "code.hpp"

namespace simulated_gpu {

/// Instructions that a kernel ran: how often one was issued to a warp, and in how many threads it took part.
struct Counts {
  std::uint64_t threads = 0;
  std::array<std::uint64_t, kClasses> issued{}, done{};

  void add(const Counts& other) {
    threads += other.threads;
    for (int k = 0; k < kClasses; ++k) {
      issued[k] += other.issued[k];
      done[k] += other.done[k];
    }
  }
};

/// Place of a warp in the grid, of which only the x direction is used.
struct Place {
  std::uint32_t block, blocks, threads, first_thread;
};

/// What belongs to the function that runs.
struct Scope {
  Words* registers = nullptr;
  const Words* constants = nullptr;
  std::int64_t frame = 0, local_used = 0;  ///< bytes of the local memory: where it begins, and where the next would
};

struct Warp : Scope {
  Words mask{};  ///< all ones in the threads that take part, zero in the others
  std::uint32_t active = 0;
  Place place{};
  const std::byte* parameters = nullptr;
  std::size_t parameter_bytes = 0;
  const Memory* memory = nullptr;
  const Block* block = nullptr;  ///< the one used last
  SharedMemory* shared = nullptr;
  const std::function<void()>* others = nullptr;  ///< runs blocks that this one may wait for
  std::array<std::uint64_t, kLanes> met{};        ///< how often a thread was at a barrier
  Counts counts;

  // Words of a thread lie 32 words apart, so that the same variable of all threads is one row.
  Words* local = nullptr;
  std::int64_t local_bytes = 0;
  Words* registers_end = nullptr;

  [[nodiscard]] const Words& read(int operand) const { return operand >= 0 ? registers[operand] : constants[~operand]; }
  void take_part(std::uint32_t threads) {
    active = threads;
    for (int i = 0; i < kLanes; ++i) mask.at[i] = Word{0} - (threads >> i & 1u);
  }
  [[nodiscard]] bool all() const { return active == ~0u; }
  void let_others_run() const {
    if (active != 0) (*others)();
  }
  [[nodiscard]] int first_active() const { return std::countr_zero(active); }

  /// to = value(thread) where threads take part.
  template <class Value>
  void write(int operand, const Value& value) {
    Word* to = registers[operand].at;
    if (all()) {
#pragma GCC ivdep
      for (int i = 0; i < kLanes; ++i) to[i] = value(i);
    } else {
#pragma GCC ivdep
      for (int i = 0; i < kLanes; ++i) to[i] = (value(i) & mask.at[i]) | (to[i] & ~mask.at[i]);
    }
  }
};

/// Runs a kernel in the active threads of warps, one warp after another; of those of a block that has barriers all are
/// there, and each goes on to the next barrier.
void run_kernel(std::span<Warp> warps, const Function& kernel, SharedMemory& shared);

}  // namespace simulated_gpu
