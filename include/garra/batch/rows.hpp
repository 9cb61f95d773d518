// Runs one operation on every row of a batch: plain arrays in and out, on every executor.
// rows_run.hpp has the host's loops, rows.cuh the GPU's; this file serves both.
//
// An operation is a struct with types In<S> and Out<S>, all of whose members are S, and
//   template <class S> GARRA_HD Out<S> operator()(const In<S>& in) const;
// All values that the rows share (a model, options) are members of the operation. It is run by
//   batch::run_rows(Op{...}, {count, {columns of In}, {columns of Out}, device});
// and, where a file that nvcc compiles includes rows.cuh, gets its kernel by
//   template struct garra::batch::Kernels<Op, garra::batch::Rows>;
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/batch/tiles.hpp"

namespace garra::batch {

/// An input of a batch: `width` numbers of every row, [count][width], which must outlive the run. A
/// null input reads as zeros. `shared`: one row stands for all.
struct InColumn {
  const double* data = nullptr;
  int width = 1;
  bool shared = false;
};

/// Whole numbers and enums, [count][width], of 1 or 4 bytes each.
struct WholeNumbers {
  void* data = nullptr;
  int bytes = 0;
};
/// An output of a batch: `width` numbers of every row, [count][width], as double or as whole
/// numbers. Nothing is stored if both pointers are null.
struct OutColumn {
  double* data = nullptr;
  int width = 1;
  WholeNumbers whole = {};
};

/// Columns of an array with `width` numbers per row; an empty array gives zeros as input.
inline InColumn in_column(std::span<const double> array, int width, bool shared = false) {
  return {array.empty() ? nullptr : array.data(), width, shared};
}
template <class T>
OutColumn out_column(std::vector<T>& array, int width = 1) {
  if (array.empty()) return {nullptr, width};
  if constexpr (std::is_same_v<T, double>) {
    return {array.data(), width};
  } else {
    static_assert(sizeof(T) == 1 || sizeof(T) == 4);
    return {nullptr, width, {array.data(), sizeof(T)}};
  }
}

/// Calls use(std::integral_constant<int, N>) with N = `size`, from 1 to Most.
template <int Most, class Use>
void with_size(int size, const Use& use) {
  [&]<int... K>(std::integer_sequence<int, K...>) {
    (void)((size == K + 1 && (use(std::integral_constant<int, K + 1>{}), true)) || ...);
  }
  (std::make_integer_sequence<int, Most>{});
}

/// A batch of rows. Columns are in the order of the members of In and Out; their widths add up to the numbers of
/// fields.
struct Rows {
  std::int64_t count = 0;
  std::vector<InColumn> in;
  std::vector<OutColumn> out;
  Device device;
};

/// Consecutive rows, and tiles of `fields` numbers whose first problem is the first of these rows.
struct RowRange {
  std::int64_t first, count;
};
struct FieldTiles {
  double* data;
  int fields;
};

/// Copies rows to tiles. Spare lanes up to a multiple of `lanes` repeat the last row: ordinary arithmetic.
void gather(const std::vector<InColumn>& columns, const RowRange& rows, const FieldTiles& to, int lanes = kTile);
/// Copies tiles to rows. `past_caches`, for arrays that no cache holds: lines are written without being read. The
/// thread then calls finish_scatter() before another one reads them.
void scatter(const FieldTiles& from, const RowRange& rows, const std::vector<OutColumn>& columns,
             bool past_caches = false);
void finish_scatter();
/// Whether no cache holds the outputs of a job.
[[nodiscard]] bool exceeds_caches(const Rows& job);
/// Asks for the addresses of the pages of rows that a thread is about to read and write: several are found at a time.
void find_pages(const Rows& job, const RowRange& rows);

/// Begin of each column in memory that holds the columns' rows one after another, then the end
/// [bytes]. Absent columns take no memory, shared ones a single row.
using Offsets = std::vector<std::size_t>;
[[nodiscard]] Offsets packed_offsets(const std::vector<InColumn>& columns, std::int64_t rows);
[[nodiscard]] Offsets packed_offsets(const std::vector<OutColumn>& columns, std::int64_t rows);
/// Copies rows as they are into such memory and out of it, by `threads` threads.
void pack(const std::vector<InColumn>& columns, const RowRange& rows, std::byte* to, int threads);
void unpack(const std::byte* from, const RowRange& rows, const std::vector<OutColumn>& columns, int threads);

/// Tiles of at most `most` rows between the arrays of a job and an operation.
template <class In, class Out>
class RowTiles {
 public:
  /// `job` must outlive the tiles. Of each tile `lanes` are used.
  RowTiles(const Rows& job, std::int64_t most, int lanes = kTile)
      : job_(job), most_(most), in_(most), out_(most + kTile), lanes_(lanes), past_caches_(exceeds_caches(job)) {}
  ~RowTiles() { finish_scatter(); }
  [[nodiscard]] std::int64_t most() const { return most_; }
  void fill(const RowRange& rows) { gather(job_.in, rows, {in(), fields<double, In>()}, lanes_); }
  void drain(const RowRange& rows) { scatter({out(), fields<double, Out>()}, rows, job_.out, past_caches_); }
  [[nodiscard]] double* in() { return in_.data(); }
  /// Half a row of lanes past the place of the input. The processor delays a load after a store whose address is a
  /// multiple of 4 kB away, as that of every 16th field is.
  [[nodiscard]] double* out() {
    const auto bytes = reinterpret_cast<std::uintptr_t>(in_.data()) - reinterpret_cast<std::uintptr_t>(out_.data());
    return out_.data() + (bytes / sizeof(double) + kTile / 2) % kTile;
  }

 private:
  const Rows& job_;
  std::int64_t most_;
  Tiles<In> in_;
  Tiles<Out> out_;
  int lanes_;
  bool past_caches_;
};

/// Rows at a time for an operation that needs no more of them than lanes: all that it touches stays in the first
/// cache, and the next rows arrive meanwhile.
template <class In, class Out>
int rows_at_once() {
  constexpr int kNumbers = 2048;  // 16 kB of input and output
  const int most = kNumbers / (fields<double, In>() + fields<double, Out>());
  int rows = 8;  // a register of the widest lanes
  while (2 * rows <= most && rows < 512) rows *= 2;
  return rows;
}

/// The body that the executors run: applies the operation to row i of the tiles.
template <class Op>
struct RowsKernel {
  Op op;
  const double* in;
  double* out;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    using In = typename Op::template In<S>;
    using Out = typename Op::template Out<S>;
    store<S, Out>(out, i, op(load<S, In>(in, i)));
  }
};

}  // namespace garra::batch
