// Chains of which joints follow others: evaluated with all of their joints, said in their coordinates.
#pragma once

#include "garra/chain_eval.hpp"
#include "garra/chain_simulate.hpp"

namespace garra::chain {

/// evaluate() of a robot with Robot::coupled. `states` are those of its coordinates, and have been checked.
void evaluate_coupled(const Robot& robot, const StateView& states, const Outputs& wanted, const EvalPlace& place,
                      Results& out);
/// inverse_dynamics_derivatives() and forward_dynamics_derivatives() likewise; their sizes have been checked.
[[nodiscard]] DynamicsDerivatives coupled_inverse_derivatives(const Robot& robot, const StateView& states,
                                                              const Device& device);
[[nodiscard]] DynamicsDerivatives coupled_forward_derivatives(const Robot& robot, const StateView& states,
                                                              const Device& device);

}  // namespace garra::chain
