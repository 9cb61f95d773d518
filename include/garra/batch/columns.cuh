// Copies columns of arrays on the device, with any strides, to tiles on the device and back. For
// files that nvcc compiles.
#pragma once

#include <algorithm>

#include "garra/batch/for_each_team.cuh"
#include "garra/batch/resident.hpp"
#include "garra/batch/rows.hpp"
#include "garra/core/one_nan.hpp"

namespace garra::batch {

/// Columns as a kernel takes them.
struct ColumnTable {
  static constexpr int kMax = 24;
  DeviceColumn column[kMax];
  int count;

  explicit ColumnTable(const std::vector<DeviceColumn>& columns) : count(static_cast<int>(columns.size())) {
    if (columns.size() > kMax) throw Error(ExitCode::kInternal, "more than 24 columns");
    std::copy(columns.begin(), columns.end(), column);
  }
  [[nodiscard]] int width() const {
    int sum = 0;
    for (int k = 0; k < count; ++k) sum += column[k].width;
    return sum;
  }
};

/// Stores number `place` of a column's array, counted from its first: NaN as the one NaN.
GARRA_HD void put(const DeviceColumn& column, std::int64_t place, double x) {
  if (column.bytes == 8) static_cast<double*>(column.data)[place] = with_one_nan(x);
  if (column.bytes == 4)
    static_cast<std::int32_t*>(column.data)[place] = static_cast<std::int32_t>(static_cast<int>(x));
  if (column.bytes == 1)
    static_cast<std::uint8_t*>(column.data)[place] = static_cast<std::uint8_t>(static_cast<int>(x));
}

/// One number of the columns, taken side by side, in all rows.
struct ColumnField {
  DeviceColumn column;
  int field;  ///< of the column

  GARRA_HD ColumnField(const ColumnTable& table, int among_all) : field(among_all) {
    int k = 0;
    while (field >= table.column[k].width) field -= table.column[k++].width;
    column = table.column[k];
  }
  [[nodiscard]] GARRA_HD bool is_there() const { return column.data != nullptr; }
  [[nodiscard]] GARRA_HD double at(std::int64_t row) const {
    const std::int64_t place = row * column.row + field * column.number;
    if (column.bytes == 8) return static_cast<const double*>(column.data)[place];
    if (column.bytes == 4) return static_cast<const std::int32_t*>(column.data)[place];
    return static_cast<const std::uint8_t*>(column.data)[place];
  }
  GARRA_HD void put(std::int64_t row, double x) const {
    batch::put(column, row * column.row + field * column.number, x);
  }
};

/// The part of a tile that a warp moves: up to 32 fields of the tile's 32 rows. Fields are adjacent
/// in a row, rows are adjacent in a tile. Each thread therefore has another field or another row on
/// either side, and shared memory holds both.
struct TilePart {
  static constexpr int kFields = 32;
  using Shared = double[kTile][kFields + 1];  // one more: threads along a row, or along a field, are in other banks
  std::int64_t tile;
  int first, fields;

  __device__ TilePart(std::int64_t i, int width) {
    const int parts = count_parts(width);
    tile = i / parts;
    first = static_cast<int>(i % parts) * kFields;
    fields = min(kFields, width - first);
  }
  GARRA_HD static int count_parts(int width) { return (width + kFields - 1) / kFields; }
};

struct GatherKernel {
  static constexpr int kLanes = 32, kRegisters = 64;
  using Shared = TilePart::Shared;
  ColumnTable table;
  int width;  ///< of all columns together
  RowRange rows;
  FieldTiles to;

  // Inlined at any -O, so that it is known where `shared` is.
  __device__ __forceinline__ void operator()(std::int64_t i, const cuda::Team<kLanes>& team, Shared& shared) const {
    const TilePart part(i, width);
    if (team.lane < part.fields) {
      const ColumnField field(table, part.first + team.lane);
      // Spare lanes of the last tile repeat the last row: ordinary arithmetic. Absent columns are
      // zero.
#pragma unroll 8
      for (int r = 0; r < kTile; ++r) {
        const std::int64_t row = rows.first + min(part.tile * kTile + r, rows.count - 1);
        shared[r][team.lane] = field.is_there() ? field.at(row) : 0.0;
      }
    }
    team.sync();
    double* const tile = to.data + (part.tile * to.fields + part.first) * kTile;
    for (int f = 0; f < part.fields; ++f) tile[f * kTile + team.lane] = shared[team.lane][f];
  }
};

struct ScatterKernel {
  static constexpr int kLanes = 32, kRegisters = 64;
  using Shared = TilePart::Shared;
  ColumnTable table;
  int width;
  RowRange rows;
  FieldTiles from;

  // Inlined at any -O, so that it is known where `shared` is.
  __device__ __forceinline__ void operator()(std::int64_t i, const cuda::Team<kLanes>& team, Shared& shared) const {
    const TilePart part(i, width);
    const double* const tile = from.data + (part.tile * from.fields + part.first) * kTile;
    for (int f = 0; f < part.fields; ++f) shared[team.lane][f] = tile[f * kTile + team.lane];
    team.sync();
    if (team.lane >= part.fields) return;
    const ColumnField field(table, part.first + team.lane);
    if (!field.is_there()) return;
    const std::int64_t first = part.tile * kTile, count = min(std::int64_t{kTile}, rows.count - first);
    for (std::int64_t r = 0; r < count; ++r) field.put(rows.first + first + r, shared[r][team.lane]);
  }
};

/// Copies rows to tiles. The widths of the columns add up to at most `to.fields`. A template, as
/// scatter(): a file that does not call it contains no such kernel.
template <class Columns = std::vector<DeviceColumn>>
void gather(const Columns& columns, const RowRange& rows, const FieldTiles& to) {
  const ColumnTable table(columns);
  const int width = table.width();
  cuda::for_each_team(tiles_for(rows.count) * TilePart::count_parts(width), GatherKernel{table, width, rows, to});
}
/// Tiles to rows.
template <class Columns = std::vector<DeviceColumn>>
void scatter(const FieldTiles& from, const RowRange& rows, const Columns& columns) {
  const ColumnTable table(columns);
  const int width = table.width();
  cuda::for_each_team(tiles_for(rows.count) * TilePart::count_parts(width), ScatterKernel{table, width, rows, from});
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
