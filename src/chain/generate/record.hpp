// The kernels recorded: from a robot to the graph of an operation.
#pragma once

#include <vector>

#include "chain/generate/code.hpp"
#include "garra/chain.hpp"

namespace garra::chain {

/// In the order of the signatures; the kinematic ones come first.
enum class Operation {
  kToolPose,
  kFrames,
  kJacobian,
  kManipulability,
  kJacobianManipulability,
  kInverseDynamics,
  kBiasTorque,
  kCoriolisTorque,
  kGravityTorque,
  kInertiaMatrix,
  kForwardDynamics,
  kEnergy,
  kInverseDynamicsDerivatives,
  kForwardDynamicsDerivatives,
  kInverseKinematics
};
inline constexpr int kOperations = 15;

/// The joint nearest to the tip that moves no inertia, by itself or without the joints behind it: the mass matrix is
/// singular everywhere. -1: there is none.
[[nodiscard]] int find_weightless_joint(const Robot& robot);

/// Whether an arm has the operation: forward dynamics need a regular mass matrix, inverse kinematics a closed form
/// without quartic equations.
[[nodiscard]] bool has_operation(const Robot& robot, Operation operation);

/// Ways to the same result, numbered from 0; the cheapest is kept.
[[nodiscard]] int ways(Operation operation, int joints);

/// Results are called `out`; inputs x.cos[i], x.sin[i], x.slide[i], qd[i], and qdd[i] or tau[i]. Of inverse kinematics
/// the inputs are pose.R(i, j) and pose.p[i], and angles of candidate k are given as c[k][i], s[k][i].
[[nodiscard]] std::vector<Target> record(symbolic::Graph& graph, const Robot& robot, Operation operation, int way);

}  // namespace garra::chain
