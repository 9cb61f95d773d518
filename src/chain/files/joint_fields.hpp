// Values of scenario keys that have one item for each joint, or one for all of them.
#pragma once

#include <vector>

#include "chain/files/robot_table.hpp"
#include "garra/chain_study.hpp"

namespace garra::io {

/// `robot` must outlive the value: it says how many joints there are when a file is read.
[[nodiscard]] AnyValue joint_numbers(std::vector<double>& values, const chain::Robot& robot,
                                     const JointDimension& dimension, const Bounds& bounds);
[[nodiscard]] AnyValue joint_distributions(chain::JointInputs& inputs, const chain::Robot& robot,
                                           const JointDimension& dimension, const Bounds& bounds);

}  // namespace garra::io
