// Copies between plain arrays and tiles, whole tiles at a time.
#include "garra/batch/rows.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/row_tiles.hpp"
#include "garra/batch/parallel.hpp"

namespace garra::batch {

namespace {

constexpr int kLanes = static_cast<int>(kTile);
constexpr int kLeastStreamed = 8;               // numbers a row: eight rows of fewer hardly fill a line
constexpr int kMostStreamed = 64;               // their buffer stays in the first cache
constexpr std::size_t kHeldByCaches = 1 << 25;  // bytes: a core's share of the last cache, or more

/// use(t, first, count) for the tiles of some rows: `count` <= 32 of them, from row `first` on, lie in tile t.
template <class Use>
void for_each_tile(const RowRange& rows, const Use& use) {
  for (std::int64_t t = 0; t < tiles_for(rows.count); ++t)
    use(t, rows.first + t * kTile, static_cast<int>(std::min(kTile, rows.count - t * kTile)));
}

/// The same number in the lanes of a field.
void fill_lanes(double number, double* lanes, int count) {
  const rows::Row all = {number, number, number, number, number, number, number, number};
  for (int l = 0; l < count; l += rows::kSide) rows::store(all, lanes + l);
}

void gather_column(const InColumn& column, std::int64_t first, int count, double* tile, int lanes) {
  // An absent column is zeros, so that operations need no case for it.
  if (column.data == nullptr || column.shared)
    for (int w = 0; w < column.width; ++w)
      fill_lanes(column.data == nullptr ? 0.0 : column.data[w], tile + w * kLanes, lanes);
  else
    rows::to_tile(column.data + first * column.width, column.width, count, tile, lanes);
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

/// T is as wide as the numbers, which may be of an enum type.
template <class T>
void scatter_whole(const double* tile, std::int64_t first, int count, const OutColumn& column) {
  char* to = static_cast<char*>(column.whole.data) + first * column.width * static_cast<std::int64_t>(sizeof(T));
  const auto put = [&](int row, int w) {
    const T number = static_cast<T>(static_cast<int>(tile[w * kLanes + row]));
    // The array may be of an enum: bytes are copied, so that no object of another type is written.
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

/// The same bytes as by from_tile(), eight rows at a time by way of the cache.
void stream_rows(const double* tile, int width, int count, double* to) {
  alignas(64) double rows[kMostStreamed * rows::kSide];
  for (int row = 0; row < count; row += rows::kSide) {
    const int here = std::min(rows::kSide, count - row);
    rows::from_tile(tile + row, width, here, rows);
    rows::stream(rows, here * width, to + row * width);
  }
}

void scatter_column(const double* tile, std::int64_t first, int count, const OutColumn& column, bool past_caches) {
  const int width = column.width;
  if (column.data != nullptr && width == 1)
    scatter_single(tile, count, column.data + first);
  else if (column.data != nullptr && past_caches && width >= kLeastStreamed && width <= kMostStreamed)
    stream_rows(tile, width, count, column.data + first * width);
  else if (column.data != nullptr)
    rows::from_tile(tile, width, count, column.data + first * width);
  else if (column.whole.bytes == 4)
    scatter_whole<std::int32_t>(tile, first, count, column);
  else if (column.whole.bytes == 1)
    scatter_whole<std::uint8_t>(tile, first, count, column);
}

std::size_t row_bytes(const InColumn& column) {
  return column.data == nullptr ? 0 : static_cast<std::size_t>(column.width) * sizeof(double);
}
std::size_t row_bytes(const OutColumn& column) {
  const auto width = static_cast<std::size_t>(column.width);
  if (column.data != nullptr) return width * sizeof(double);
  return column.whole.data != nullptr ? width * static_cast<std::size_t>(column.whole.bytes) : 0;
}
std::int64_t count_rows(const InColumn& column, std::int64_t rows) { return column.shared ? 1 : rows; }
std::int64_t count_rows(const OutColumn&, std::int64_t rows) { return rows; }

template <class Column>
Offsets compute_offsets(const std::vector<Column>& columns, std::int64_t rows) {
  constexpr std::size_t kAlignment = 256;  // as cudaMalloc's
  Offsets at = {0};
  for (const Column& column : columns) {
    const std::size_t bytes = row_bytes(column) * static_cast<std::size_t>(count_rows(column, rows));
    at.push_back(at.back() + (bytes + kAlignment - 1) / kAlignment * kAlignment);
  }
  return at;
}

/// Calls copy(column, offset, first, bytes) for shares of the rows of a column, with their offset in the pack and their
/// distance from the first row [bytes].
template <class Column, class Copy>
void for_each_share(const std::vector<Column>& columns, std::int64_t rows, int threads, const Copy& copy) {
  constexpr std::int64_t kShare = 512;  // rows
  const Offsets at = compute_offsets(columns, rows);
  for_blocks(threads, {rows, kShare}, [&](std::int64_t first, std::int64_t count) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::size_t each = row_bytes(columns[c]);
      const std::int64_t here = std::min(count, count_rows(columns[c], rows) - first);
      const std::size_t before = static_cast<std::size_t>(first) * each;
      if (each > 0 && here > 0) copy(columns[c], at[c] + before, before, static_cast<std::size_t>(here) * each);
    }
  });
}

}  // namespace

Offsets packed_offsets(const std::vector<InColumn>& columns, std::int64_t rows) {
  return compute_offsets(columns, rows);
}
Offsets packed_offsets(const std::vector<OutColumn>& columns, std::int64_t rows) {
  return compute_offsets(columns, rows);
}

void pack(const std::vector<InColumn>& columns, const RowRange& rows, std::byte* to, int threads) {
  for_each_share(columns, rows.count, threads,
                 [&](const InColumn& c, std::size_t offset, std::size_t before, std::size_t bytes) {
                   const auto* from = reinterpret_cast<const std::byte*>(c.data);
                   if (!c.shared) from += static_cast<std::size_t>(rows.first) * row_bytes(c);
                   std::memcpy(to + offset, from + before, bytes);
                 });
}

void unpack(const std::byte* from, const RowRange& rows, const std::vector<OutColumn>& columns, int threads) {
  for_each_share(columns, rows.count, threads,
                 [&](const OutColumn& c, std::size_t offset, std::size_t before, std::size_t bytes) {
                   void* const all = c.data != nullptr ? c.data : c.whole.data;
                   std::byte* to = static_cast<std::byte*>(all) + static_cast<std::size_t>(rows.first) * row_bytes(c);
                   std::memcpy(to + before, from + offset, bytes);
                 });
}

void gather(const std::vector<InColumn>& columns, const RowRange& rows, const FieldTiles& to, int lanes) {
  for_each_tile(rows, [&](std::int64_t t, std::int64_t first, int count) {
    double* tile = to.data + t * to.fields * kLanes;
    for (const InColumn& column : columns) {
      gather_column(column, first, count, tile, lanes);
      tile += column.width * kLanes;
    }
  });
}

void scatter(const FieldTiles& from, const RowRange& rows, const std::vector<OutColumn>& columns, bool past_caches) {
  for_each_tile(rows, [&](std::int64_t t, std::int64_t first, int count) {
    const double* tile = from.data + t * from.fields * kLanes;
    for (const OutColumn& column : columns) {
      scatter_column(tile, first, count, column, past_caches);
      tile += column.width * kLanes;
    }
  });
}

void finish_scatter() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}

bool exceeds_caches(const Rows& job) {
  std::size_t bytes = 0;
  for (const OutColumn& column : job.out) bytes += row_bytes(column);
  return bytes * static_cast<std::size_t>(job.count) > kHeldByCaches;
}

void find_pages(const Rows& job, const RowRange& rows) {
  const auto find = [&](const void* data, std::size_t row) {
    constexpr std::size_t kPage = 4096;
    const char* first = static_cast<const char*>(data) + static_cast<std::size_t>(rows.first) * row;
    for (std::size_t at = 0; at < static_cast<std::size_t>(rows.count) * row; at += kPage)
      __builtin_prefetch(first + at, 0, 2);
  };
  for (const InColumn& column : job.in)
    if (!column.shared) find(column.data, row_bytes(column));
  for (const OutColumn& column : job.out)
    find(column.data != nullptr ? column.data : column.whole.data, row_bytes(column));
}

}  // namespace garra::batch
