// Between plain arrays and tiles, whole tiles at a time.
#include "garra/batch/rows.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/row_tiles.hpp"
#include "garra/batch/parallel.hpp"

namespace garra::batch {

namespace {

constexpr int kLanes = static_cast<int>(kTile);

/// use(t, first, count) for the tiles of some rows: `count` <= 32 of them, from row `first` on, lie in tile t.
template <class Use>
void for_each_tile(const RowRange& rows, int threads, const Use& use) {
  constexpr std::int64_t kTilesAtOnce = 64;  // a thread's share
  const auto range = [&](std::int64_t begin, std::int64_t count) {
    for (std::int64_t t = begin; t < begin + count; ++t)
      use(t, rows.first + t * kTile, static_cast<int>(std::min(kTile, rows.count - t * kTile)));
  };
  const std::int64_t tiles = tiles_for(rows.count);
  if (threads == 1)
    range(0, tiles);
  else
    for_blocks(threads, {tiles, kTilesAtOnce}, range);
}

void gather_column(const InColumn& column, std::int64_t first, int count, double* tile) {
  if (column.width == 0) return;
  if (column.data == nullptr)
    // A column that is absent is zeros: operations have no case for it.
    std::fill_n(tile, column.width * kLanes, 0.0);
  else if (column.shared)
    for (int w = 0; w < column.width; ++w) std::fill_n(tile + w * kLanes, kLanes, column.data[w]);
  else
    rows::to_tile(column.data + first * column.width, column.width, count, tile);
}

/// One number per row lies in a tile as in an array.
void scatter_single(const double* tile, int count, double* to) {
  int row = 0;
  for (; row + rows::kSide <= count; row += rows::kSide) {
    rows::Row numbers;
    std::memcpy(&numbers, tile + row, sizeof numbers);
    rows::make_one_nan(numbers);
    std::memcpy(to + row, &numbers, sizeof numbers);
  }
  for (; row < count; ++row) to[row] = with_one_nan(tile[row]);
}

/// T is as long as the numbers, which may be an enum's.
template <class T>
void scatter_whole(const double* tile, std::int64_t first, int count, const OutColumn& column) {
  char* to = static_cast<char*>(column.whole.data) + first * column.width * static_cast<std::int64_t>(sizeof(T));
  const auto put = [&](int row, int w) {
    const T number = static_cast<T>(static_cast<int>(tile[w * kLanes + row]));
    // The array may be of an enum: bytes are copied, no object of another type is written.
    std::memcpy(to + (row * column.width + w) * static_cast<int>(sizeof(T)), &number, sizeof(T));
  };
  int row = 0;
  if constexpr (sizeof(T) == 4) {  // one number per row, most of them: eight at a time
    typedef T Whole __attribute__((vector_size(rows::kSide * sizeof(T))));
    for (; column.width == 1 && row + rows::kSide <= count; row += rows::kSide) {
      rows::Row numbers;
      std::memcpy(&numbers, tile + row, sizeof numbers);
      const auto whole = __builtin_convertvector(numbers, Whole);
      std::memcpy(to + row * static_cast<int>(sizeof(T)), &whole, sizeof whole);
    }
  }
  for (; row < count; ++row)
    for (int w = 0; w < column.width; ++w) put(row, w);
}

void scatter_column(const double* tile, std::int64_t first, int count, const OutColumn& column) {
  const int width = column.width;
  if (column.data != nullptr && width == 1)
    scatter_single(tile, count, column.data + first);
  else if (column.data != nullptr)
    rows::from_tile(tile, width, count, column.data + first * width);
  else if (column.whole.bytes == 4)
    scatter_whole<std::int32_t>(tile, first, count, column);
  else if (column.whole.bytes == 1)
    scatter_whole<std::uint8_t>(tile, first, count, column);
}

}  // namespace

void gather(const std::vector<InColumn>& columns, const RowRange& rows, const FieldTiles& to, int threads) {
  for_each_tile(rows, threads, [&](std::int64_t t, std::int64_t first, int count) {
    double* tile = to.data + t * to.fields * kLanes;
    for (const InColumn& column : columns) {
      gather_column(column, first, count, tile);
      tile += column.width * kLanes;
    }
  });
}

void scatter(const FieldTiles& from, const RowRange& rows, const std::vector<OutColumn>& columns, int threads) {
  for_each_tile(rows, threads, [&](std::int64_t t, std::int64_t first, int count) {
    const double* tile = from.data + t * from.fields * kLanes;
    for (const OutColumn& column : columns) {
      scatter_column(tile, first, count, column);
      tile += column.width * kLanes;
    }
  });
}

}  // namespace garra::batch
