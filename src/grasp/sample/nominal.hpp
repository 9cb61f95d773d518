// Balance of the nominal grasp: the unbalanced part of its command, and wrenches that no contact force resists. Host
// only.
#pragma once

#include <string>
#include <vector>

#include "grasp/study/grasp_study.hpp"

namespace garra::grasp {

/// A basis of the unit wrenches (force; moment about the center of mass over the radius of gyration, palm axes) that no
/// contact force of the nominal grasp resists. Empty if W has rank 6.
[[nodiscard]] std::vector<Vec<double, 6>> unresisted_wrenches(const GraspModel& model);

/// Balance of the nominal grasp.
struct NominalBalance {
  double resisted;                         ///< 1: forces can balance the nominal wrench, 0: none can; NaN: not decided
  double imbalance;                        ///< as the metric of the same name
  std::vector<Vec<double, 6>> unresisted;  ///< unresisted_wrenches
};
/// Replays the nominal sample.
[[nodiscard]] NominalBalance nominal_balance(const Study& study);

/// "a torque about (1, 0, 0)", "a force along (0, 0, 1)", or "a force along (...) with a torque about (...)".
[[nodiscard]] std::string describe_wrench(const Vec<double, 6>& unit);

/// Warnings about a nominal grasp, for a user before the run; empty if there are none.
[[nodiscard]] std::vector<std::string> nominal_warnings(const Study& study);

}  // namespace garra::grasp
