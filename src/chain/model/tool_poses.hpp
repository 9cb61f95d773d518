// The check of tool poses that inverse kinematics takes.
#pragma once

#include <span>

namespace garra::chain {

/// Throws Error(kUsage) with the index of the first matrix [n,16] that is no rotation with [0, 0, 0, 1] below it, to
/// four digits. A pose with NaN or infinity passes: it has no answer, and disturbs no other.
void check_tool_poses(std::span<const double> pose);

}  // namespace garra::chain
