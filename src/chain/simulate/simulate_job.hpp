// A checked simulation job, and the rows of inputs and outputs between its plain arrays and the bodies.
#pragma once

#include <vector>

#include "chain/simulate/simulate_kernel.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/systems/chain/followers.hpp"

namespace garra::chain {

/// `out` has its sizes already; one number per joint everywhere.
struct SimulateJob {
  const Robot& robot;
  const Samples& in;
  const TorqueInput& torque;
  const SimulateOptions& options;
  const Device& device;
  Followers followers;                                                ///< joints that follow others
  std::vector<Column> columns;                                        ///< numbers that differ from sample to sample
  std::vector<double> column_values;                                  ///< [columns,n]
  std::vector<double> damping, amplitude, lower, upper;               ///< [N m s/rad]; [N m], or a factor; [rad or m]
  std::vector<double> code;                                           ///< formulas of all joints
  std::vector<double> stop_time, stop_step, stop_steps, stop_output;  ///< at each stop [s]; [s]; how many; output or -1
  Trajectories& out;
};

/// Rows of up to `most` samples at once.
class SimulateRows {
 public:
  SimulateRows(const SimulateJob& job, std::int64_t most);
  /// The samples first ... first + count - 1, outputs all NaN.
  [[nodiscard]] SimulateArrays take(std::int64_t first, std::int64_t count);
  /// Copies what was written about them into the job's output.
  void give_back();

  [[nodiscard]] std::vector<double>& trajectory() { return trajectory_; }
  [[nodiscard]] std::vector<double>& summary() { return summary_; }

 private:
  /// Rows of one sample, output by output.
  void give_back_trajectory(std::int64_t i, const double* rows);
  /// The row of one sample's end.
  void give_back_summary(std::int64_t i, const double* row);

  const SimulateJob& job_;
  std::int64_t first_ = 0, count_ = 0;
  std::vector<double> trajectory_, summary_;
};

/// Lanes. Chains of J joints, or of fewer; kAnyJoints: of any number. In src/chain/instances.
template <int J>
void simulate_on_lanes(const SimulateJob& job);
/// One sample after another, for any number of joints: the reference.
void simulate_on_scalar(const SimulateJob& job);

}  // namespace garra::chain
