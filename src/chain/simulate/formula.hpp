// Formulas of all joints of a torque law, compiled.
#pragma once

#include <vector>

#include "garra/chain_simulate.hpp"

namespace garra::chain {

/// Formulas of all joints, each with its end (garra/systems/chain/formula.hpp); empty for other laws.
[[nodiscard]] std::vector<double> compile_torques(const TorqueInput& torque, int joints);

}  // namespace garra::chain
