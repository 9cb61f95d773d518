// One block of threads that runs a kernel from its PTX, without the runtime.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "simulated_gpu/warp.hpp"

namespace simulated_gpu {

/// A warp with all that it needs, and memory.
class Machine {
 public:
  static constexpr int kBlock = 2;  ///< number of the block, the last of its grid

  explicit Machine(std::string ptx) : text_(std::move(ptx)), module_(text_, memory_) {}

  /// Runs the kernel `k` in `threads` threads; its parameters are words.
  void run(const std::vector<Word>& parameters, int threads = kLanes) {
    SharedMemory shared(256);
    const auto number = static_cast<std::size_t>((threads + kLanes - 1) / kLanes);
    std::vector<Words> registers(2000 * number), local(2000 * number);
    std::vector<Warp> warps(number);
    for (std::size_t k = 0; k < number; ++k) {
      Warp& warp = warps[k];
      warp.registers = registers.data() + 2000 * k;
      warp.registers_end = warp.registers + 2000;
      warp.local = local.data() + 2000 * k;
      warp.local_bytes = 2000 * 8;
      warp.memory = &memory_;
      warp.shared = &shared;
      warp.parameters = reinterpret_cast<const std::byte*>(parameters.data());
      warp.parameter_bytes = parameters.size() * sizeof(Word);
      const int first = static_cast<int>(k) * kLanes, mine = std::min(kLanes, threads - first);
      warp.place = {kBlock, kBlock + 1, static_cast<std::uint32_t>(threads), static_cast<std::uint32_t>(first)};
      warp.take_part(mine == kLanes ? ~0u : (1u << mine) - 1);
    }
    run_kernel(warps, *module_.function("k"), shared);
    counts = warps[0].counts;
  }

  Memory& memory() { return memory_; }
  template <class T>
  T* host(std::uint64_t address, std::size_t count) {
    return reinterpret_cast<T*>(memory_.host(address, count * sizeof(T)));
  }

  Counts counts;

 private:
  std::string text_;
  Memory memory_{1 << 20};
  Module module_;
};

}  // namespace simulated_gpu
