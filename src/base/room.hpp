// Memory for large arrays that several threads will fill. The system assigns a new page when a thread first touches it.
// Touching 128 MB took one thread 78 ms, as long as a million problems of three contacts; sixteen threads took 8 ms
// (docs/howto/gpu.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "garra/batch/parallel.hpp"

namespace garra {

/// Touches every page of new memory.
inline void touch_pages(std::byte* memory, std::size_t bytes, int threads) {
  constexpr std::int64_t kPage = 4096;
  const auto pages = static_cast<std::int64_t>(bytes) / kPage;
  batch::for_blocks(threads, {pages, 256}, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t page = first; page < first + count; ++page)
      *const_cast<volatile std::byte*>(memory + page * kPage) = std::byte{0};
  });
}

/// numbers.resize(n); the content is lost if the memory was too small.
template <class T>
void make_room_for(std::vector<T>& numbers, std::size_t n, int threads) {
  constexpr std::size_t kManyBytes = std::size_t{1} << 22;  // fewer are there before threads are
  if (n > numbers.capacity() && n * sizeof(T) >= kManyBytes && threads > 1) {
    numbers.clear();
    numbers.reserve(n);
    touch_pages(reinterpret_cast<std::byte*>(numbers.data()), n * sizeof(T), threads);
  }
  numbers.resize(n);
}

}  // namespace garra
