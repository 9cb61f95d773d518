// Kinematics and dynamics of the same chain by Pinocchio. Optional: where it is not installed, pinocchio_absent.cpp
// stands in.
#pragma once

#include <memory>
#include <vector>

#include "garra/systems/chain/model.hpp"

namespace garra::bench::pinocchio_peer {

/// False where the project was built without Pinocchio.
[[nodiscard]] bool available();

/// Revolute joints in kernel form (garra/systems/chain/model.hpp).
struct Chain {
  std::vector<chain::JointForm<double>> joint;
  Pose<double> base, tool;
  Vec3<double> gravity;
};

/// Arrays are row-major. Each function does what its Pinocchio namesake needs and no more.
class Arm {
 public:
  explicit Arm(const Chain& chain);
  ~Arm();
  /// Of the tool point, rows 0-2 its velocity, rows 3-5 the angular velocity, world axes. [6][joints]
  void jacobian(const double* q, double* out);
  /// sqrt(det(J J^T)) of that Jacobian.
  double manipulability(const double* q);
  /// Its singular values, falling, with lengths in units of `length` [m], by Eigen's JacobiSVD. [min(6, joints)]
  void singular_values(const double* q, double length, double* sigma);
  void rnea(const double* q, const double* qd, const double* qdd, double* tau);
  void bias(const double* q, const double* qd, double* out);
  void gravity(const double* q, double* out);
  /// Upper triangle of H; below it zeros. [joints][joints]
  void crba(const double* q, double* out);
  void aba(const double* q, const double* qd, const double* tau, double* qdd);
  void coriolis(const double* q, const double* qd, double* out);

 private:
  struct Solvers;
  std::unique_ptr<Solvers> solvers_;
};

}  // namespace garra::bench::pinocchio_peer
