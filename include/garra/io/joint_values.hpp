// Warnings about joint values that were probably given in another unit.
#pragma once

#include <string>
#include <vector>

#include "garra/chain.hpp"

namespace garra::io {

/// One sentence for each joint value far outside its limits (revolute: by more than 1 rad, or beyond two turns if it
/// has no limits; prismatic: by more than the range). For a value without a unit, the sentence adds its reading in
/// degrees or millimeters if that is within the limits. `has_unit`: empty, or one entry per joint.
[[nodiscard]] std::vector<std::string> far_outside_limits(const chain::Robot& robot, const std::vector<double>& q,
                                                          const std::vector<bool>& has_unit = {});

}  // namespace garra::io
