#include "garra/core/large.hpp"

#include <memory>
#include <vector>

namespace garra::large_detail {

namespace {

constexpr std::align_val_t kAlignment{64};

struct Free {
  void operator()(std::byte* p) const { ::operator delete(p, kAlignment); }
};
struct Piece {
  std::unique_ptr<std::byte, Free> memory;
  std::size_t bytes = 0;
};
/// Reserved memory pieces, the first `taken` in use. Only pages that were written occupy physical memory.
struct Pieces {
  std::vector<Piece> all;
  std::size_t taken = 0;
};
thread_local Pieces pieces;

}  // namespace

void* take(std::size_t bytes) {
  if (pieces.taken == pieces.all.size()) pieces.all.emplace_back();
  Piece& piece = pieces.all[pieces.taken];
  if (piece.bytes < bytes) {
    piece.memory.reset();
    piece.memory.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
    piece.bytes = bytes;
  }
  ++pieces.taken;
  return piece.memory.get();
}

void give_back() { --pieces.taken; }

}  // namespace garra::large_detail
