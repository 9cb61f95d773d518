// Derivatives of the dynamics of chains of which joints follow others: P' D P of those of all joints. In a file of its
// own, so that programs without derivatives do not link theirs.
#include <algorithm>
#include <limits>

#include "chain/eval/coupled.hpp"

namespace garra::chain {

DynamicsDerivatives coupled_inverse_derivatives(const Robot& robot, const StateView& states, const Device& device) {
  Robot free = robot;
  free.coupled.clear();
  const std::vector<double> q = values_of_joints(robot, states.q, true), qd = values_of_joints(robot, states.qd, false),
                            qdd = values_of_joints(robot, states.qdd, false);
  DynamicsDerivatives out = inverse_dynamics_derivatives(free, {states.count, q, qd, qdd}, device);
  out.joints = static_cast<int>(coordinates(robot).size());
  for (std::vector<double>* matrices : {&out.by_q, &out.by_qd, &out.by_input}) reduce_matrices(robot, *matrices);
  return out;
}

DynamicsDerivatives coupled_forward_derivatives(const Robot& robot, const StateView& states, const Device& device) {
  const Results dynamics = evaluate(robot, states, Output::kForwardDynamics, {}, device);
  // Along the motion that the torques give: d qdd = -M^-1 (d tau by q, by qd) and M^-1.
  DynamicsDerivatives out =
      coupled_inverse_derivatives(robot, {states.count, states.q, states.qd, dynamics.qdd}, device);
  out.qdd = dynamics.qdd;
  out.status = dynamics.status;
  const auto n = static_cast<std::size_t>(out.joints);
  const std::vector<double> mass = out.by_input;
  for (std::size_t k = 0; k < out.by_input.size(); ++k) out.by_input[k] = k / n % n == k % n ? -1 : 0;
  std::vector<double> column(n);
  for (std::size_t first = 0; first < mass.size(); first += n * n)
    for (std::vector<double>* matrices : {&out.by_q, &out.by_qd, &out.by_input})
      for (std::size_t j = 0; j < n; ++j) {
        double* const top = matrices->data() + first + j;
        for (std::size_t i = 0; i < n; ++i) column[i] = -top[i * n];
        if (!solve_mass_matrix(mass.data() + first, column))
          std::fill(column.begin(), column.end(), std::numeric_limits<double>::quiet_NaN());
        for (std::size_t i = 0; i < n; ++i) top[i * n] = column[i];
      }
  return out;
}

}  // namespace garra::chain
