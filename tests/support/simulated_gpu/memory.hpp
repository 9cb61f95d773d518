// Memory of the simulated GPU. Its addresses are no addresses of the host (they are not even canonical), so that the
// host which follows one dies at once, and no address is given out twice, so that a block that was freed stays unknown.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace simulated_gpu {

/// Where the kinds of memory begin, as a kernel sees them.
inline constexpr std::uint64_t kGlobal = 0x00d0'0000'0000'0000;  ///< of all threads
inline constexpr std::uint64_t kLocal = 0x00a0'0000'0000'0000;   ///< of a thread
inline constexpr std::uint64_t kShared = 0x00c0'0000'0000'0000;  ///< of a block
inline constexpr std::uint64_t kParameters = 0x00b0'0000'0000'0000;
inline constexpr std::uint64_t kWindow = 0x000f'ffff'ffff'ffff;  ///< bits of an address within its kind

/// What a GPU reports as an illegal access; `what` says what it was.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A range that was allocated, [first, first + bytes).
struct Block {
  std::uint64_t first = 0;
  std::size_t bytes = 0;
  std::byte* host = nullptr;

  [[nodiscard]] bool contains(std::uint64_t address, std::size_t size) const {
    return address - first < bytes && bytes - (address - first) >= size;
  }
};

/// What the threads of a block share. Between what one thread writes and another reads or writes at the same place both
/// have to meet at a barrier, of their warp or of the block: the first access without is refused. Atomic operations
/// need none among themselves.
class SharedMemory {
 public:
  /// Filled with 0xff.
  explicit SharedMemory(std::size_t bytes) : bytes_(bytes, std::byte{0xff}), words_((bytes + 3) / 4) {}

  [[nodiscard]] bool contains(std::uint64_t at, std::size_t size) const {
    return at < bytes_.size() && bytes_.size() - at >= size;
  }
  [[nodiscard]] std::byte* host(std::uint64_t at) { return bytes_.data() + at; }
  /// Accesses of thread `lane` of a warp, that has met others `met` times.
  void read(std::uint64_t at, std::size_t size, int warp, int lane, std::uint64_t met);
  void write(std::uint64_t at, std::size_t size, int warp, int lane, std::uint64_t met);
  void change(std::uint64_t at, std::size_t size, int warp, int lane, std::uint64_t met);
  /// All threads of the block have met.
  void meet() { std::fill(words_.begin(), words_.end(), Word{}); }

 private:
  struct Access {
    int warp = -1;
    std::uint32_t lanes = 0;  ///< since `met`
    std::uint64_t met = 0;
    void add(int in, int lane, std::uint64_t now) {
      if (warp != in || met != now) *this = {in, 0, now};
      lanes |= 1u << lane;
    }
    /// Whether another thread did that, and has not been met since.
    [[nodiscard]] bool races(int in, int lane, std::uint64_t now) const {
      return warp >= 0 && (warp != in || (met == now && (lanes & ~(1u << lane)) != 0));
    }
  };
  struct Word {
    Access reads, writes, changes;
  };
  /// use(word) for each that is touched.
  template <class Use>
  void for_each_word(std::uint64_t at, std::size_t size, const Use& use) {
    for (std::uint64_t k = at / 4; k <= (at + size - 1) / 4; ++k) use(words_[k]);
  }
  std::vector<std::byte> bytes_;
  std::vector<Word> words_;
};

class Memory {
 public:
  /// Of device `index`: each has addresses of its own.
  explicit Memory(std::size_t capacity, int index = 0)
      : capacity_(capacity), next_(kGlobal + (static_cast<std::uint64_t>(index) << kDeviceShift)) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  /// Filled with 0xff: as a double it is a NaN. 0 where there is no room.
  [[nodiscard]] std::uint64_t allocate(std::size_t bytes);
  /// Whether there was such a block.
  bool release(std::uint64_t first);

  /// The block with this address, or null.
  [[nodiscard]] const Block* find(std::uint64_t address) const;
  /// Where the host finds [address, address + bytes); null where that is not inside one block.
  [[nodiscard]] std::byte* host(std::uint64_t address, std::size_t bytes) const;

  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  void set_capacity(std::size_t bytes) { capacity_ = bytes; }
  [[nodiscard]] std::size_t in_use() const { return in_use_; }

 private:
  std::vector<Block> blocks_;  // by address: each new one is behind all before it
  static constexpr int kDeviceShift = 44;
  std::size_t capacity_, in_use_ = 0;
  std::uint64_t next_;
};

}  // namespace simulated_gpu
