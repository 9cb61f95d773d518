// Chains of which joints follow others: evaluated with all of their joints, said in their coordinates.
#pragma once

#include <span>
#include <vector>

#include "garra/chain_eval.hpp"
#include "garra/chain_simulate.hpp"

namespace garra::chain {

/// evaluate() of a robot with Robot::coupled. `states` are those of its coordinates, and have been checked.
void evaluate_coupled(const Robot& robot, const StateView& states, const Outputs& wanted, const EvalPlace& place,
                      Results& out);
/// Values of all joints, P x + c, or P x, of rows of coordinates.
[[nodiscard]] std::vector<double> values_of_joints(const Robot& robot, std::span<const double> x, bool with_offset);
/// Matrices of all joints to P' A P, one after another.
void reduce_matrices(const Robot& robot, std::vector<double>& matrices);
/// b to M^-1 b, for each n numbers of it. False where M [n,n] is not positive definite to rounding.
[[nodiscard]] bool solve_mass_matrix(const double* M, int n, std::span<double> b);
/// inverse_dynamics_derivatives() and forward_dynamics_derivatives() of such a robot; the sizes of `states` have been
/// checked.
[[nodiscard]] DynamicsDerivatives coupled_inverse_derivatives(const Robot& robot, const StateView& states,
                                                              const Device& device);
[[nodiscard]] DynamicsDerivatives coupled_forward_derivatives(const Robot& robot, const StateView& states,
                                                              const Device& device);

}  // namespace garra::chain
