// What a batch of simulations is made of: the numbers that samples share, the rows of their own, and the state of one
// on its way. Host and device.
#pragma once

#include <cstdint>
#include <limits>

#include "chain/eval/evaluate_kernel.hpp"
#include "garra/chain_simulate.hpp"

namespace garra::chain {

/// What the samples share.
template <int J>
struct SimulateSetup {
  Model<double, J> nominal;  ///< the chain that controllers believe in
  TorqueLaw<J> law;
  ToolForceLaw tool;
  FrictionLaw<J> friction;
  Vec<double, J> damping, amplitude;       ///< where the samples have none of their own
  Vec<double, J> lower, upper, settle_at;  ///< [rad or m]
  bool settle_at_place;                    ///< settle_at counts
  double settle_band, settle_speed;        ///< [rad or m]; [rad/s or m/s]
  Integrator method;
  LimitRule limits;
  Tolerance tolerance;
  double first_step, max_step, limit_tolerance;  ///< [s]; [s]; [rad or m]
  int max_steps, joints;                         ///< of dopri5, accepted and rejected; real joints
  Tableau tableau;
};

/// Where a simulation stops: at outputs, jumps and kinks of the torque, and the end. As doubles, so that lanes can
/// gather them.
struct StopTable {
  int count;             ///< stop 0 is t = 0
  const double *t, *h;   ///< time; length of the fixed steps that lead to it
  const double* steps;   ///< how many of them
  const double* output;  ///< number of the output, or -1
};

/// Rows of the inputs and outputs of the samples at hand. Null: not there.
struct SimulateArrays {
  std::int64_t count;                          ///< samples at hand
  const double *q, *qd, *damping, *amplitude;  ///< [n,j]
  const double* values;                        ///< [columns,n]
  std::int64_t values_stride;                  ///< n of the whole batch
  const Column* columns;
  int column_count;
  StopTable stops;
  int outputs;         ///< output times
  double* trajectory;  ///< [n,outputs,trajectory_fields]
  double* summary;     ///< [n,summary_fields]
};

// Fields of a row of `trajectory`: q, qd, tip (3), then these.
enum TrajectoryField { kKinetic, kPotential, kDissipated, kWork, kStopLoss, kBalance, kEnergyFields };
constexpr GARRA_HD int trajectory_fields(int joints) { return 2 * joints + 3 + kEnergyFields; }
// Fields of a row of `summary`: q, qd, peak speed, peak torque, then these.
enum SummaryField {
  kEndTime,
  kEndStatus,
  kSteps,
  kRejected,
  kSettling,
  kEndDissipated,
  kEndWork,
  kEndStopLoss,
  kEndBalance,
  kWorst,
  kEndFields
};
constexpr GARRA_HD int summary_fields(int joints) { return 4 * joints + kEndFields; }

/// A sample's own numbers, all S.
template <class S, int J>
struct OwnModel {
  JointForm<S> joint[kCapacity<J>];
  Pose<S> base, tool;
  Vec3<S> gravity;
};
/// All samples share the chain of the setup.
struct NoModel {};

/// A sample on its way; all members are S, so that a lane can be copied field by field.
template <class S, int J, class Own>
struct SimulateState : Own {
  S index, running, status, steps, rejected;  ///< index: in the arrays at hand; running: 1 or 0
  S t, stop;                                  ///< number of the next stop
  Motion<S, J> at;                            ///< q [rad or m], qd
  Vec<S, J> damping, amplitude, peak_speed, peak_torque;
  S dissipated, work, stop_loss, first_energy, worst, settling;  ///< [J]; first_energy: at t = 0; worst: balance
  // Adaptive steps.
  S h, fresh;  ///< fresh: the first stage must be computed, it cannot be taken from the last step
  StepControl<S> control;
  FirstStage<S, J> first;  ///< of dopri5: acceleration, torque and flows at t
};

GARRA_HD bool get_lane(bool m, int) { return m; }
GARRA_HD double get_lane(double v, int) { return v; }
// Lanes and their masks; plain numbers have one lane.
template <class V>
requires requires(const V& v) { v[0]; }
GARRA_HD auto get_lane(const V& v, int lane) { return v[lane]; }

/// Kinetic and potential energy [J]; a call, so that it is compiled once per body.
template <Joints K, class S, class M, int J>
GARRA_HD_CALL void compute_energy(const M& m, const Motion<S, J>& at, Energy<S>& out) {
  out = energy<K>(m, angles<K>(m, at.q), at.qd);
}
/// The tool point in the world [m].
template <Joints K, class S, class M, int J>
GARRA_HD_CALL void compute_tip(const M& m, const Vec<S, J>& q, Vec3<S>& out) {
  out = frames<K>(m, angles<K>(m, q)).tool.p;
}

}  // namespace garra::chain
