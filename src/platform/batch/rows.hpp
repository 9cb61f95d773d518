// Operations on rows (garra/batch/rows.hpp) of platforms: one platform that all rows share, or one for each. For files
// that nvcc compiles, too.
//
// The call operator of these operations also takes a model,
//   template <class S, class T> GARRA_HD Out<S> operator()(const Model<T>& model, const In<S>& in) const;
// T is double where all rows share the platform, else S.
#pragma once

#include <vector>

#include "garra/batch/resident.hpp"
#include "garra/batch/rows.hpp"
#include "garra/platform.hpp"

namespace garra::platform {

using batch::InColumn;
using batch::OutColumn;

/// Rows of a batch with their platforms.
struct RowsJob {
  std::int64_t count = 0;
  std::vector<Model<double>> models;  ///< one, or `count`
  std::vector<InColumn> in;
  std::vector<OutColumn> out;
  Device device;
};

/// Rows in GPU memory, of one platform.
struct ResidentJob {
  Model<double> model;
  batch::ResidentRows rows;
};

/// Operation with one platform for all rows.
template <class Op>
struct OnSharedModel {
  Op op;
  Model<double> model;
  template <class S>
  using In = typename Op::template In<S>;
  template <class S>
  using Out = typename Op::template Out<S>;
  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& in) const {
    return op(model, in);
  }
};

/// Operation with one platform per row.
template <class Op>
struct OnOwnModel {
  Op op;
  template <class S>
  struct In {
    Model<S> model;
    typename Op::template In<S> in;
  };
  template <class S>
  using Out = typename Op::template Out<S>;
  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& row) const {
    return op(row.model, row.in);
  }
};

/// Calls run(operation, rows) with the matching operation.
template <class Op, class Run>
void with_models(const Op& op, const RowsJob& job, const Run& run) {
  batch::Rows rows{job.count, job.in, job.out, job.device};
  // The two instances differ in T: with a shared platform all arithmetic among its constants is done in doubles, not in
  // lanes.
  if (job.models.size() == 1) return run(OnSharedModel<Op>{op, job.models.front()}, rows);
  constexpr int width = batch::kFields<double, Model<double>>;
  // A Model holds doubles only, so `models` is a matrix of `count` rows already.
  rows.in.insert(rows.in.begin(), {reinterpret_cast<const double*>(job.models.data()), width});
  run(OnOwnModel<Op>{op}, rows);
}

}  // namespace garra::platform
