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
  for (std::size_t k = 0; k < mass.size(); ++k) out.by_input[k] = k / n % n == k % n ? -1 : 0;
  std::vector<double> columns(3 * n * n);
  for (std::size_t first = 0; first < mass.size(); first += n * n) {
    // Calls of(number, its place among the columns) for all numbers of the three matrices.
    const auto for_all = [&](const auto& of) {
      double* column = columns.data();
      for (std::vector<double>* matrices : {&out.by_q, &out.by_qd, &out.by_input})
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t i = 0; i < n; ++i) of((*matrices)[first + i * n + j], *column++);
    };
    for_all([](const double& number, double& at) { at = -number; });
    if (!solve_mass_matrix(mass.data() + first, out.joints, columns))
      std::fill(columns.begin(), columns.end(), std::numeric_limits<double>::quiet_NaN());
    for_all([](double& number, const double& at) { number = at; });
  }
  return out;
}

}  // namespace garra::chain
