// Joint values that were probably meant in another unit.
#pragma once

#include <string>
#include <vector>

#include "garra/chain.hpp"

namespace garra::io {

/// A sentence for each joint value that is far outside its limits (revolute: by more than 1 rad, or beyond two turns
/// where there are none; prismatic: by more than the range). Of values without a unit it says what degrees or
/// millimeters would be, where these are within the limits. `has_unit`: empty, or one for each joint.
[[nodiscard]] std::vector<std::string> far_outside_limits(const chain::Robot& robot, const std::vector<double>& q,
                                                          const std::vector<bool>& has_unit = {});

}  // namespace garra::io
