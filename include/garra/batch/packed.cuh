// Copies columns of arrays on the device (resident.hpp) to rows that lie one after another, and
// back, for bodies that address their rows themselves. For files that nvcc compiles.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "garra/batch/columns.cuh"

namespace garra::batch {

/// Rows in device memory: number f of row i is data[i * row + f / each * next + f % each].
struct PackedRows {
  double* data;
  std::int64_t row;
  int each;           ///< adjacent numbers
  std::int64_t next;  ///< distance between two groups of adjacent numbers

  [[nodiscard]] GARRA_HD double& at(std::int64_t i, int f) const { return data[i * row + f / each * next + f % each]; }
};

/// Number f of a row of doubles.
GARRA_HD double read_number(const DeviceColumn& column, std::int64_t row, int f) {
  return static_cast<const double*>(column.data)[row * column.row + f * column.number];
}

struct PackKernel {
  DeviceColumn from;  ///< of doubles
  RowRange rows;
  PackedRows to;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const std::int64_t row = i / from.width;
    const int f = static_cast<int>(i % from.width);
    to.at(row, f) = read_number(from, rows.first + row, f);
  }
};
struct UnpackKernel {
  PackedRows from;
  RowRange rows;
  DeviceColumn to;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const std::int64_t row = i / to.width;
    const int f = static_cast<int>(i % to.width);
    put(to, (rows.first + row) * to.row + f * to.number, from.at(row, f));
  }
};

/// Does nothing if the column is absent.
template <class Column>
void pack(const Column& from, const RowRange& rows, const PackedRows& to) {
  if (from.data != nullptr) cuda::for_each(rows.count * from.width, PackKernel{from, rows, to});
}
template <class Column>
void unpack(const PackedRows& from, const RowRange& rows, const Column& to) {
  if (to.data != nullptr) cuda::for_each(rows.count * to.width, UnpackKernel{from, rows, to});
}
/// Writes `times` rows of `fields` numbers of each sample; each part of a row is a column.
inline void unpack_parts(double* from, std::int64_t times, int fields, const RowRange& rows,
                         const std::vector<DeviceColumn>& parts) {
  if (times == 0) return;
  for (const DeviceColumn& part : parts) {
    const int each = part.width / static_cast<int>(times);
    unpack({from, times * fields, each, fields}, rows, part);
    from += each;
  }
}

struct NoNumbersKernel {
  double* to;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    to[i] = std::numeric_limits<double>::quiet_NaN();
  }
};
inline void fill_with_nan(double* to, std::int64_t numbers) { cuda::for_each(numbers, NoNumbersKernel{to}); }

/// Number of samples at a time whose results of `numbers` each take at most 1 GiB, but at least a
/// thousand samples.
inline std::int64_t samples_at_once(std::int64_t count, std::int64_t numbers) {
  return std::min(count,
                  std::clamp((std::int64_t{1} << 30) / (8 * numbers), std::int64_t{1} << 10, std::int64_t{1} << 18));
}

}  // namespace garra::batch
