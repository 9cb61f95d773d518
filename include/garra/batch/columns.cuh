// Between arrays on the device, with any strides, and tiles on the device. For files that nvcc compiles.
#pragma once

#include <algorithm>

#include "garra/batch/for_each.cuh"
#include "garra/batch/resident.hpp"
#include "garra/batch/rows.hpp"
#include "garra/core/one_nan.hpp"

namespace garra::batch {

/// Columns as a kernel takes them.
struct ColumnTable {
  static constexpr int kMost = 24;
  DeviceColumn column[kMost];
  int count;

  explicit ColumnTable(const std::vector<DeviceColumn>& columns) : count(static_cast<int>(columns.size())) {
    if (columns.size() > kMost) throw Error(ExitCode::kInternal, "more than 24 columns");
    std::copy(columns.begin(), columns.end(), column);
  }
  [[nodiscard]] int width() const {
    int sum = 0;
    for (int k = 0; k < count; ++k) sum += column[k].width;
    return sum;
  }
};

/// What the 32 threads of a warp have in common: field `field` of a tile.
struct TileField {
  std::int64_t tile;
  int field, lane;
  GARRA_HD TileField(std::int64_t i, int width)
      : tile(i / kTile / width), field(static_cast<int>(i / kTile % width)), lane(static_cast<int>(i % kTile)) {}
};

/// A number of a column's array, at so many of them behind the first: NaN as the one NaN.
GARRA_HD void put(const DeviceColumn& column, std::int64_t place, double x) {
  if (column.bytes == 8) static_cast<double*>(column.data)[place] = with_one_nan(x);
  if (column.bytes == 4)
    static_cast<std::int32_t*>(column.data)[place] = static_cast<std::int32_t>(static_cast<int>(x));
  if (column.bytes == 1)
    static_cast<std::uint8_t*>(column.data)[place] = static_cast<std::uint8_t>(static_cast<int>(x));
}

/// Thread i takes one number: fields one after another, the 32 rows of a tile side by side.
struct GatherBody {
  ColumnTable table;
  int width;  ///< of all columns
  RowRange rows;
  FieldTiles to;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const TileField at(i, width);
    // Spare lanes of the last tile repeat the last row: ordinary arithmetic.
    const std::int64_t in_tile = at.tile * kTile + at.lane;
    const std::int64_t row = rows.first + (in_tile < rows.count ? in_tile : rows.count - 1);
    int k = 0, field = at.field;
    while (field >= table.column[k].width) field -= table.column[k++].width;
    const DeviceColumn& c = table.column[k];
    const std::int64_t place = row * c.row + field * c.number;
    double x = 0;  // a column that is absent
    if (c.data != nullptr) {
      if (c.bytes == 8) x = static_cast<const double*>(c.data)[place];
      if (c.bytes == 4) x = static_cast<const std::int32_t*>(c.data)[place];
      if (c.bytes == 1) x = static_cast<const std::uint8_t*>(c.data)[place];
    }
    to.data[(at.tile * to.fields + at.field) * kTile + at.lane] = x;
  }
};

struct ScatterBody {
  ColumnTable table;
  int width;
  RowRange rows;
  FieldTiles from;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const TileField at(i, width);
    const std::int64_t in_tile = at.tile * kTile + at.lane;
    if (in_tile >= rows.count) return;
    int k = 0, field = at.field;
    while (field >= table.column[k].width) field -= table.column[k++].width;
    const DeviceColumn& c = table.column[k];
    if (c.data == nullptr) return;
    put(c, (rows.first + in_tile) * c.row + field * c.number,
        from.data[(at.tile * from.fields + at.field) * kTile + at.lane]);
  }
};

/// Rows to tiles. The widths of the columns add up to `to.fields`, or less.
inline void gather(const std::vector<DeviceColumn>& columns, const RowRange& rows, const FieldTiles& to) {
  const ColumnTable table(columns);
  const int width = table.width();
  cuda::for_each(tiles_for(rows.count) * kTile * width, GatherBody{table, width, rows, to});
}
/// Tiles to rows.
inline void scatter(const FieldTiles& from, const RowRange& rows, const std::vector<DeviceColumn>& columns) {
  const ColumnTable table(columns);
  const int width = table.width();
  cuda::for_each(tiles_for(rows.count) * kTile * width, ScatterBody{table, width, rows, from});
}

/// While it lives, what this thread launches goes to the call's stream, and memory comes from its workspace.
class ResidentCall {
 public:
  ResidentCall(const DeviceCall& call, std::size_t* needed) : needed_(needed) {
    call_.stream = static_cast<cudaStream_t>(call.stream);
    call_.memory = static_cast<std::byte*>(call.workspace);
    call_.bytes = call.bytes;
    call_.counts_only = needed != nullptr;
    cuda::current_call = &call_;
  }
  explicit ResidentCall(const ResidentRows& job) : ResidentCall(job.call, job.needed) {}
  ResidentCall(const ResidentCall&) = delete;
  ResidentCall& operator=(const ResidentCall&) = delete;
  ~ResidentCall() {
    cuda::current_call = nullptr;
    if (needed_ != nullptr) *needed_ = call_.most;
  }

 private:
  cuda::Call call_;
  std::size_t* needed_;
};

}  // namespace garra::batch
