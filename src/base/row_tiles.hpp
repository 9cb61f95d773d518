// Transposes 8 x 8 numbers in registers, between plain arrays, [problem][field], and one tile, [field][lane]. Copying
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

/// K <= 8 numbers from memory. A copy by memcpy() goes through the stack in halves: the processor waits for both
/// stores.
typedef double Unaligned __attribute__((vector_size(sizeof(Row)), aligned(alignof(double)), may_alias));
typedef double Half __attribute__((vector_size(sizeof(Row) / 2), aligned(alignof(double)), may_alias));
template <int K>
inline void load(const double* from, Row& to) {
  if constexpr (K == kSide) {
    to = *reinterpret_cast<const Unaligned*>(from);
  } else if constexpr (K >= 4) {
    constexpr auto at = [](int i) { return i < K ? i + kSide - K : 0; };  // of the half that ends with the last number
    to = __builtin_shufflevector(*reinterpret_cast<const Half*>(from), *reinterpret_cast<const Half*>(from + K - 4), 0,
                                 1, 2, 3, at(4), at(5), at(6), at(7));
  } else {
    to = Row{};
    std::memcpy(&to, from, K * sizeof(double));
  }
}
template <int K>
inline void store(const Row& row, double* to) {
  if constexpr (K == kSide)
    *reinterpret_cast<Unaligned*>(to) = row;
  else
    std::memcpy(to, &row, K * sizeof(double));
}

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

/// Exchanges rows and columns in three rounds of pairs: neighbors, pairs, fours.
inline void transpose(Row (&r)[kSide]) {
  Row a[kSide], b[kSide];
  for (int i = 0; i < kSide; i += 2) {
    a[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < kSide; i += 4)
    for (int k = 0; k < 2; ++k) {
      b[i + k] = __builtin_shufflevector(a[i + k], a[i + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[i + k + 2] = __builtin_shufflevector(a[i + k], a[i + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int i = 0; i < 4; ++i) {
    r[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// K <= 8 fields of 8 states, from `rows` with `stride` numbers per state to `tile`.
template <int K>
inline void block_to_tile(const double* rows, int stride, double* tile) {
  Row r[kSide] = {};
  if constexpr (K == 1) {
    for (int s = 0; s < kSide; ++s) r[0][s] = rows[s * stride];
  } else {
#pragma GCC unroll 8
    for (int s = 0; s < kSide; ++s) load<K>(rows + s * stride, r[s]);
    transpose(r);
  }
#pragma GCC unroll 8
  for (int f = 0; f < K; ++f) store<kSide>(r[f], tile + f * kLanes);
}
template <int K>
inline void block_from_tile(const double* tile, int stride, double* rows) {
  Row r[kSide] = {};
#pragma GCC unroll 8
  for (int f = 0; f < K; ++f) {
    load<kSide>(tile + f * kLanes, r[f]);
    make_one_nan(r[f]);
  }
  if constexpr (K == 1) {
    for (int s = 0; s < kSide; ++s) rows[s * stride] = r[0][s];
  } else {
    transpose(r);
#pragma GCC unroll 8
    for (int s = 0; s < kSide; ++s) store<K>(r[s], rows + s * stride);
  }
}

/// Calls block(K, first) for groups of eight fields from `first` on. A single remaining field is a group of its own (9
/// and 81 are the sizes of three contacts). Two or more form a group that overlaps the one before: some numbers are
/// stored twice, none outside of its place.
template <class Block>
inline void for_fields(int fields, const Block& block) {
  if (fields < kSide) return batch::with_size<kSide>(fields, [&](auto k) { block(k, 0); });
  const bool one_alone = fields % kSide == 1;
  for (int f = 0; f < fields - one_alone; f += kSide)
    block(std::integral_constant<int, kSide>{}, std::min(f, fields - kSide));
  if (one_alone) block(std::integral_constant<int, 1>{}, fields - 1);
}

/// `count` <= 32 rows to a tile. Unused lanes get copies of the last row, to perform ordinary arithmetic.
inline void to_tile(const double* rows, int fields, int count, double* tile) {
  const int whole = count / kSide * kSide;
  for (int s = 0; s < whole; s += kSide) {
    // The processor does not prefetch eight rows side by side: fetch the next eight meanwhile.
    const double* next = rows + (s + kSide) * fields;
    for (int i = 0; i < kSide * fields; i += kSide) __builtin_prefetch(next + i);
    for_fields(fields, [&](auto k, int f) { block_to_tile<k>(rows + s * fields + f, fields, tile + f * kLanes + s); });
  }
  // Fewer than eight rows are left: number by number, with copies of the last row beyond `count`.
  for (int s = whole; s < kLanes; ++s)
    for (int f = 0; f < fields; ++f) tile[f * kLanes + s] = rows[std::min(s, count - 1) * fields + f];
}
/// `count` <= 32 problems of a tile to rows; unused lanes are dropped. NaN gets its one bit pattern.
inline void from_tile(const double* tile, int fields, int count, double* rows) {
  const int whole = count / kSide * kSide;
  for (int s = 0; s < whole; s += kSide)
    for_fields(fields,
               [&](auto k, int f) { block_from_tile<k>(tile + f * kLanes + s, fields, rows + s * fields + f); });
  for (int s = whole; s < count; ++s)
    for (int f = 0; f < fields; ++f) rows[s * fields + f] = garra::with_one_nan(tile[f * kLanes + s]);
}

}  // namespace garra::rows
