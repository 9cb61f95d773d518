// Columns of arrays on the device (resident.hpp) from and to rows that lie one after another, as bodies have them that
// write their rows themselves. For files that nvcc compiles.
#pragma once

#include "garra/batch/columns.cuh"

namespace garra::batch {

/// Number f of row i is data[i * row + f / each * next + f % each].
struct PackedRows {
  double* data;
  std::int64_t row;
  int each;           ///< numbers side by side
  std::int64_t next;  ///< from some of them to the next

  [[nodiscard]] GARRA_HD double& at(std::int64_t i, int f) const { return data[i * row + f / each * next + f % each]; }
};

struct PackBody {
  DeviceColumn from;  ///< of doubles
  RowRange rows;
  PackedRows to;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const std::int64_t row = i / from.width;
    const int f = static_cast<int>(i % from.width);
    to.at(row, f) = static_cast<const double*>(from.data)[(rows.first + row) * from.row + f * from.number];
  }
};
struct UnpackBody {
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

/// Nothing where the column is absent.
template <class Column>
void pack(const Column& from, const RowRange& rows, const PackedRows& to) {
  if (from.data != nullptr) cuda::for_each(rows.count * from.width, PackBody{from, rows, to});
}
template <class Column>
void unpack(const PackedRows& from, const RowRange& rows, const Column& to) {
  if (to.data != nullptr) cuda::for_each(rows.count * to.width, UnpackBody{from, rows, to});
}

}  // namespace garra::batch
