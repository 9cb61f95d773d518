// Kinematics and dynamics of the same chain by Orocos KDL. Optional: where it is not installed, kdl_absent.cpp stands
// in.
#pragma once

#include <memory>
#include <vector>

#include "garra/chain.hpp"

namespace garra::bench::kdl {

/// False where the project was built without KDL.
[[nodiscard]] bool available();

/// A chain of revolute joints in standard DH form, gravity along -z. Arrays are row-major.
class Arm {
 public:
  Arm(const std::vector<chain::DhJoint>& joints, const Pose<double>& tool);
  ~Arm();
  /// Of the tool point, rows 0-2 its velocity, rows 3-5 the angular velocity, base axes. [6][joints]
  void jacobian(const double* q, double* out);
  /// Joint-space inertia [joints][joints] by composite rigid bodies.
  void inertia(const double* q, double* out);
  /// Holding torque against gravity [joints].
  void gravity(const double* q, double* torque);
  /// Torque of a motion, by recursive Newton-Euler.
  void inverse_dynamics(const double* q, const double* qd, const double* qdd, double* torque);

 private:
  struct Solvers;
  std::unique_ptr<Solvers> solvers_;
};

}  // namespace garra::bench::kdl
