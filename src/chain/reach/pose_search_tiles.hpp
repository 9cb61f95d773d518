// Searches for poses on the host: tiles of targets and starts in, joint values out.
#pragma once

#include "chain/eval/evaluate_kernel.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/batch/rows.hpp"
#include "garra/systems/chain/reach.hpp"

namespace garra::chain {

/// [n] targets (rotation row by row, position) and starts; joint values in place of starts, and how searches ended.
struct ReachJob {
  const Robot& robot;
  ReachOptions options;
  JointRanges range;
  std::int64_t count;
  const double* target;         ///< [n,12]
  double *q, *arrived, *steps;  ///< [n,j], [n], [n]
  Device device;
};

template <int J>
struct ReachKernel {
  template <class S>
  struct In {
    Pose<S> target;
    Vec<S, J> q;
  };
  template <class S>
  struct Out {
    Vec<S, J> q;
    ReachEnd<S> end;
  };
  const Model<double, J>& model;
  const ReachJob& job;
  const double* in;
  double* out;

  template <class S>
  void operator()(std::int64_t i) const {
    const auto from = batch::load<S, In<S>>(in, i);
    Out<S> to{from.q, {}};
    reach(model, job.range, from.target, job.options, to.q, to.end);
    batch::store<S>(out, i, to);
  }
};

template <int J>
void reach_on_cpu(const ReachJob& job) {
  using Body = ReachKernel<J>;
  using In = typename Body::template In<double>;
  using Out = typename Body::template Out<double>;
  const auto source = make_source<SharedModel<J, Joints::kMixed>>(job.robot);
  const int joints = job.robot.joints;
  const batch::Rows rows{job.count,
                         {{job.target, 12}, {job.q, joints}, {nullptr, J - joints}},
                         {{job.q, joints}, {nullptr, J - joints}, {job.arrived}, {job.steps}},
                         job.device};
  constexpr std::int64_t kBlock = 8 * batch::kTile;
  batch::for_blocks(
      solve_threads(job.device), {job.count, kBlock}, [&] { return batch::RowTiles<In, Out>(rows, kBlock); },
      [&](batch::RowTiles<In, Out>& tiles, std::int64_t first, std::int64_t count) {
        tiles.fill({first, count});
        const Body body{source.model, job, tiles.in(), tiles.out()};
        if (job.device.executor == Executor::kScalar)
          batch::for_each_scalar(count, body);
        else
          batch::for_each_lanes(count, body);
        tiles.drain({first, count});
      });
}

extern template void reach_on_cpu<6>(const ReachJob& job);
extern template void reach_on_cpu<7>(const ReachJob& job);
extern template void reach_on_cpu<kMaxJoints>(const ReachJob& job);

}  // namespace garra::chain
