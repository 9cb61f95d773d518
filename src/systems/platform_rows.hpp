// One operation on every row of a batch of platforms: plain arrays in, plain arrays out, whatever the executor. For
// files that nvcc compiles, too; platform_rows_run.hpp has the host's loops, kernels/platform_rows.cuh the GPU's.
//
// An operation is a struct with types In<S> and Out<S>, all of whose members are S, and
//   template <class S, class T> GARRA_HD Out<S> operator()(const Model<T>& model, const In<S>& in) const;
// T is double where all rows share the platform, else S.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/batch/tiles.hpp"
#include "garra/platform.hpp"

namespace garra::platform {

/// `width` numbers of every row: of the input, or wanted of the output. A null input reads as zeros, a null output is
/// dropped. `shared`: one row stands for all.
struct InColumn {
  const double* data = nullptr;
  int width = 1;
  bool shared = false;
};
struct OutColumn {
  double* data = nullptr;
  int width = 1;
};

/// Columns in the order of the members of In and Out; their widths add up to the numbers of fields.
struct RowsJob {
  std::int64_t count = 0;
  std::vector<Model<double>> models;  ///< one, or `count`
  std::vector<InColumn> in;
  std::vector<OutColumn> out;
  Device device;
};

/// What the executors run: row i of the tiles.
template <class Op, bool kOwn>
struct RowsBody {
  Op op;
  Model<double> shared;  ///< !kOwn
  const double* models;  ///< kOwn: tiles of models
  const double* in;
  double* out;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    using In = typename Op::template In<S>;
    using Out = typename Op::template Out<S>;
    const In x = batch::load<S, In>(in, i);
    Out y;
    if constexpr (kOwn)
      y = op(batch::load<S, Model<S>>(models, i), x);
    else
      y = op(shared, x);
    batch::store<S, Out>(out, i, y);
  }
};

/// The tiles of some rows of a job. Spare lanes of the last tile repeat the last row.
template <class Op>
class RowsTiles {
 public:
  using In = typename Op::template In<double>;
  using Out = typename Op::template Out<double>;

  RowsTiles(const RowsJob& job, std::int64_t most)
      : job_(job), own_(job.models.size() > 1), models_(own_ ? most : 0), in_(most), out_(most) {}
  [[nodiscard]] bool own() const { return own_; }
  void fill(std::int64_t first, std::int64_t count);
  void drain(std::int64_t first, std::int64_t count) const;

  [[nodiscard]] const batch::Tiles<Model<double>>& models() const { return models_; }
  [[nodiscard]] const batch::Tiles<In>& in() const { return in_; }
  [[nodiscard]] batch::Tiles<Out>& out() { return out_; }

 private:
  const RowsJob& job_;
  bool own_;
  batch::Tiles<Model<double>> models_;
  batch::Tiles<In> in_;
  batch::Tiles<Out> out_;
};

template <class Op>
void RowsTiles<Op>::fill(std::int64_t first, std::int64_t count) {
  constexpr std::int64_t fields = batch::kFields<double, In>;
  const std::int64_t padded = batch::tiles_for(count) * batch::kTile;
  std::int64_t field = 0;
  for (const InColumn& column : job_.in) {
    for (std::int64_t k = 0; k < padded; ++k) {
      const std::int64_t row = column.shared ? 0 : first + (k < count ? k : count - 1);
      double* p = in_.data() + ((k / batch::kTile) * fields + field) * batch::kTile + k % batch::kTile;
      for (int w = 0; w < column.width; ++w)
        p[w * batch::kTile] = column.data == nullptr ? 0.0 : column.data[row * column.width + w];
    }
    field += column.width;
  }
  if (!own_) return;
  for (std::int64_t k = 0; k < padded; ++k)
    models_.set(k, job_.models[static_cast<std::size_t>(first + (k < count ? k : count - 1))]);
}

template <class Op>
void RowsTiles<Op>::drain(std::int64_t first, std::int64_t count) const {
  constexpr std::int64_t fields = batch::kFields<double, Out>;
  std::int64_t field = 0;
  for (const OutColumn& column : job_.out) {
    for (std::int64_t k = 0; column.data != nullptr && k < count; ++k) {
      const double* p = out_.data() + ((k / batch::kTile) * fields + field) * batch::kTile + k % batch::kTile;
      for (int w = 0; w < column.width; ++w) column.data[(first + k) * column.width + w] = p[w * batch::kTile];
    }
    field += column.width;
  }
}

/// On a GPU; in kernels/platform_*.cu, one instance per operation.
template <class Op>
void cuda_rows(const Op& op, const RowsJob& job);

}  // namespace garra::platform
