// Arguments from the host to kernels/grasp/samples.cu (garra/batch/on_device.hpp).
#pragma once

#include <cstdint>

#include "garra/solvers/friction_newton.hpp"
#include "grasp/sample/check.hpp"
#include "grasp/sample/grasp_model.hpp"
#include "grasp/study/counting.hpp"

namespace garra::grasp {

/// The samples of `tally`, which are drawn, built, solved, certified and counted on the device.
struct DeviceSamples {
  const GraspModel& model;
  solvers::FrictionNewton solver;  ///< of the method auto, and of the second solution
  contact::Options options;
  bool check_uniqueness;  ///< iterate a second time, from zero
  const Layout& layout;
  study::Keep keep;
  study::Tally& tally;  ///< `first` and `count` are read, the rest is filled
};

/// Doubles of a sample on the device.
template <int N>
struct SampleFields {
  static constexpr int problem = batch::kFields<double, solvers::FrictionProblem<double, N>>;
  static constexpr int metrics = batch::kFields<double, Metrics<double, N>>;
  static constexpr int candidate = batch::kFields<double, solvers::Candidate<double, N>>;
  static constexpr int sample_result = batch::kFields<double, SampleResult<double, N>>;
  static constexpr int load = batch::kFields<double, ObjectLoad<double>>;
  static constexpr int task = N * batch::kFields<double, FingerTask<double>>;
  static constexpr int share = N * batch::kFields<double, FingerShare<double>>;
  static constexpr int hold = N * batch::kFields<double, FingerHold<double>>;  // if torques are limited
  // If an arm carries the hand.
  static constexpr int stance = N * batch::kFields<double, FingerStance<double, chain::kMaxJoints>>;
  static constexpr int arm = N * batch::kFields<double, ArmShare<double>>;
  // Both candidates, though the second exists only if uniqueness is checked: an upper bound.
  static constexpr int total = problem + metrics + 2 * candidate + sample_result + load + task + share;

  /// Bytes of a sample with the model's options, to choose how many go to the device at once.
  [[nodiscard]] static std::uint64_t bytes(const GraspModel& model) {
    const int more = (model.torque_limited ? hold : 0) + (model.arm.joints > 0 ? stance + arm : 0);
    return sizeof(double) * static_cast<std::uint64_t>(total + more + model.draws);
  }
};

}  // namespace garra::grasp
