// Transposes 8 x 4 numbers in registers, between plain arrays, [problem][field], and one tile, [field][lane]. Copying
// number by number, the stores of a 6 x 6 matrix would take longer than computing it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "garra/batch/rows.hpp"
#include "garra/core/one_nan.hpp"

namespace garra::rows {

inline constexpr int kSide = 8;
inline constexpr int kLanes = static_cast<int>(batch::kTile);

/// Eight numbers in one register or two, depending on the processor.
typedef double Row __attribute__((vector_size(kSide * sizeof(double))));

/// The same in memory, and half of them. A copy by memcpy() goes through the stack in halves: the processor waits for
/// both stores.
typedef double Unaligned __attribute__((vector_size(sizeof(Row)), aligned(alignof(double)), may_alias));
typedef double Half __attribute__((vector_size(sizeof(Row) / 2), aligned(alignof(double)), may_alias));
inline void load(const double* from, Row& to) { to = *reinterpret_cast<const Unaligned*>(from); }
inline void store(const Row& row, double* to) { *reinterpret_cast<Unaligned*>(to) = row; }

inline double find_least(const Row& of) {
  Row x = of, y = __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
  x = x < y ? x : y;
  y = __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
  x = x < y ? x : y;
  return x[0] < x[1] ? x[0] : x[1];
}

/// garra::with_one_nan() of eight numbers, in place: the calling convention for two registers depends on the processor.
inline void make_one_nan(Row& x) {
  typedef std::uint64_t Bits __attribute__((vector_size(sizeof(Row))));
  const auto is_nan = reinterpret_cast<Bits>(x != x);
  x = reinterpret_cast<Row>((reinterpret_cast<Bits>(x) & ~is_nan) | (is_nan & kOneNan));
}

/// Four rows of eight numbers, each (x, y, z, w; x, y, z, w), to the eight x, y, z and w; and back.
inline void exchange(Row (&r)[4]) {
  const Row a = __builtin_shufflevector(r[0], r[1], 0, 8, 2, 10, 4, 12, 6, 14);
  const Row b = __builtin_shufflevector(r[0], r[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const Row c = __builtin_shufflevector(r[2], r[3], 0, 8, 2, 10, 4, 12, 6, 14);
  const Row d = __builtin_shufflevector(r[2], r[3], 1, 9, 3, 11, 5, 13, 7, 15);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  r[1] = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  r[2] = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  r[3] = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}

/// Four fields of eight states, from `rows` with `stride` numbers per state to `tile`.
inline void block_to_tile(const double* rows, std::int64_t stride, double* tile) {
  Row r[4];
#pragma GCC unroll 4
  for (int s = 0; s < 4; ++s) {
    // By name: `auto` would forget that rows are aligned to 8 bytes only.
    const Half* a = reinterpret_cast<const Half*>(rows + s * stride);
    const Half* b = reinterpret_cast<const Half*>(rows + (s + 4) * stride);
    r[s] = __builtin_shufflevector(*a, *b, 0, 1, 2, 3, 4, 5, 6, 7);
  }
  exchange(r);
#pragma GCC unroll 4
  for (int f = 0; f < 4; ++f) store(r[f], tile + f * kLanes);
}
inline void block_from_tile(const double* tile, std::int64_t stride, double* rows) {
  Row r[4];
#pragma GCC unroll 4
  for (int f = 0; f < 4; ++f) {
    load(tile + f * kLanes, r[f]);
    make_one_nan(r[f]);
  }
  exchange(r);
#pragma GCC unroll 4
  for (int s = 0; s < 4; ++s) {
    *reinterpret_cast<Half*>(rows + s * stride) = __builtin_shufflevector(r[s], r[s], 0, 1, 2, 3);
    *reinterpret_cast<Half*>(rows + (s + 4) * stride) = __builtin_shufflevector(r[s], r[s], 4, 5, 6, 7);
  }
}

/// One field of eight states.
inline void field_to_tile(const double* rows, std::int64_t k, double* tile) {
  Row r = {rows[0], rows[k], rows[2 * k], rows[3 * k], rows[4 * k], rows[5 * k], rows[6 * k], rows[7 * k]};
  if (k == 1) load(rows, r);
  store(r, tile);
}
inline void field_from_tile(const double* tile, std::int64_t stride, double* rows) {
  Row r;
  load(tile, r);
  make_one_nan(r);
#pragma GCC unroll 8
  for (int s = 0; s < kSide; ++s) rows[s * stride] = r[s];
}

/// Calls block(first) for groups of four fields, and field(f) for those that no group has: all of fewer than four, and
/// a single last one (9 and 81 are the sizes of three contacts). Two or three last ones form a group that overlaps the
/// one before: some numbers are stored twice, none outside of its place.
template <class Block, class Field>
inline void for_fields(int fields, const Block& block, const Field& field) {
  const int single = fields < 4 ? fields : fields % 4 == 1;
  for (int f = 0; f < fields - single; f += 4) block(std::min(f, fields - 4));
  for (int f = fields - single; f < fields; ++f) field(f);
}

/// `count` <= 32 rows to a tile. Unused lanes up to a multiple of `lanes`, a power of two, get copies of the last
/// row, to perform ordinary arithmetic.
inline void to_tile(const double* rows, int fields, int count, double* tile, int lanes = kLanes) {
  const int whole = count / kSide * kSide;
  for (int s = 0; s < whole; s += kSide) {
    const double* from = rows + s * fields;
    // The processor does not prefetch eight rows side by side: fetch the next eight meanwhile, a few lines for each
    // group of fields, or the transposition waits for all of them at once.
    const double* next = from + kSide * fields;
    for_fields(
        fields,
        [&](int f) {
#pragma GCC unroll 4
          for (int i = 0; i < 4; ++i) __builtin_prefetch(next + kSide * (f + i), 0, 2);
          block_to_tile(from + f, fields, tile + f * kLanes + s);
        },
        [&](int f) {
          __builtin_prefetch(next + kSide * f, 0, 2);
          field_to_tile(from + f, fields, tile + f * kLanes + s);
        });
  }
  // Fewer than eight rows are left: number by number, with copies of the last row beyond `count`.
  for (int s = whole; s < ((count + lanes - 1) & -lanes); ++s)
    for (int f = 0; f < fields; ++f) tile[f * kLanes + s] = rows[std::min(s, count - 1) * fields + f];
}
/// `count` <= 32 problems of a tile to rows; unused lanes are dropped. NaN gets its one bit pattern.
inline void from_tile(const double* tile, int fields, int count, double* rows) {
  const int whole = count / kSide * kSide;
  for (int s = 0; s < whole; s += kSide)
    for_fields(
        fields, [&](int f) { block_from_tile(tile + f * kLanes + s, fields, rows + s * fields + f); },
        [&](int f) { field_from_tile(tile + f * kLanes + s, fields, rows + s * fields + f); });
  for (int s = whole; s < count; ++s)
    for (int f = 0; f < fields; ++f) rows[s * fields + f] = garra::with_one_nan(tile[f * kLanes + s]);
}

/// Stores a line past the caches: what is not there is not read before it is written.
inline void stream_line(const Row& row, double* to) {
#if defined(__clang__)
  __builtin_nontemporal_store(row, reinterpret_cast<Row*>(to));
#elif defined(__AVX512F__)
  __builtin_ia32_movntpd512(to, row);
#elif defined(__SSE2__)
  typedef double Pair __attribute__((vector_size(16)));
  for (int k = 0; k < kSide; k += 2) __builtin_ia32_movntpd(to + k, Pair{row[k], row[k + 1]});
#else
  store(row, to);
#endif
}

/// Copies `count` numbers past the caches. Lines at the ends that hold other numbers, too, are written as usual.
inline void stream(const double* from, int count, double* to) {
  int i = 0;
  for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % sizeof(Row) != 0; ++i) to[i] = from[i];
  for (Row line; i + kSide <= count; i += kSide) {
    load(from + i, line);
    stream_line(line, to + i);
  }
  for (; i < count; ++i) to[i] = from[i];
}

}  // namespace garra::rows
