#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace simulated_gpu {

namespace {
constexpr std::size_t kAlignment = 256;  // of cudaMalloc
constexpr std::size_t kGap = 4096;       // between blocks: one index too many is nobody's memory
}  // namespace

Memory::~Memory() {
  for (const Block& block : blocks_) munmap(block.host, block.bytes);
}

std::uint64_t Memory::allocate(std::size_t bytes) {
  if (bytes == 0 || bytes > capacity_ - std::min(capacity_, in_use_)) return 0;
  void* host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (host == MAP_FAILED) return 0;
  std::memset(host, 0xff, bytes);
  blocks_.push_back({next_, bytes, static_cast<std::byte*>(host)});
  next_ += (bytes + kGap + kAlignment - 1) / kAlignment * kAlignment;
  in_use_ += bytes;
  return blocks_.back().first;
}

bool Memory::release(std::uint64_t first) {
  const auto block = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.first == first; });
  if (block == blocks_.end()) return false;
  in_use_ -= block->bytes;
  munmap(block->host, block->bytes);
  blocks_.erase(block);
  return true;
}

const Block* Memory::find(std::uint64_t address) const {
  auto after = std::upper_bound(blocks_.begin(), blocks_.end(), address,
                                [](std::uint64_t a, const Block& block) { return a < block.first; });
  if (after == blocks_.begin()) return nullptr;
  const Block& block = *--after;
  return block.contains(address, 1) ? &block : nullptr;
}

std::byte* Memory::host(std::uint64_t address, std::size_t bytes) const {
  const Block* block = find(address);
  return block != nullptr && block->contains(address, bytes) ? block->host + (address - block->first) : nullptr;
}

void SharedMemory::read(std::uint64_t at, std::size_t size, int warp, int lane, std::uint64_t met) {
  for_each_word(at, size, [&](Word& word) {
    if (word.writes.races(warp, lane, met) || word.changes.races(warp, lane, met))
      throw Fault("a read of what another thread wrote, without a barrier between");
    word.reads.add(warp, lane, met);
  });
}
void SharedMemory::write(std::uint64_t at, std::size_t size, int warp, int lane, std::uint64_t met) {
  for_each_word(at, size, [&](Word& word) {
    if (word.writes.races(warp, lane, met) || word.reads.races(warp, lane, met) || word.changes.races(warp, lane, met))
      throw Fault("a write where another thread reads or writes, without a barrier between");
    word.writes.add(warp, lane, met);
  });
}
void SharedMemory::change(std::uint64_t at, std::size_t size, int warp, int lane, std::uint64_t met) {
  for_each_word(at, size, [&](Word& word) {
    if (word.writes.races(warp, lane, met) || word.reads.races(warp, lane, met))
      throw Fault("an atomic operation where another thread reads or writes, without a barrier between");
    word.changes.add(warp, lane, met);
  });
}

}  // namespace simulated_gpu
