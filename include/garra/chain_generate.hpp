// Prepares one robot: a C++ header of straight-line code from its numbers, and all solutions of its
// inverse kinematics.
// Takes: a Robot; operation names; six joints to move and poses [n,16] for AllSolutions.
// Gives: the header's text; per pose all joint values with residual and certificate, and whether the
// list is complete.
// Units and frames: SI, rad; world axes; Jacobian rows linear first; poses row-major; joints count from 0.
// Bad input: wrong names, numbers that are not finite, other numbers of joints and matrices that are
// no rotations throw Error(kUsage). A pose that is not finite has kInvalidInput and no solution.
// Not for: robots that change at run time, coupled joints; AllSolutions: more than one sliding joint.
// Docs: docs/howto/chain-generated.md, docs/howto/all-solutions.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/chain.hpp"
#include "garra/core/status.hpp"

namespace garra::chain {

/// Options of generate_header().
struct GenerateOptions {
  std::string name = {};                     ///< namespace; "": derived from the robot's name
  std::vector<std::string> operations = {};  ///< subset of generated_operations(); empty: all
  std::string command = {};                  ///< command line quoted in the header; "": none
};

/// "tool_pose", "frames", "jacobian", "manipulability", "jacobian_manipulability",
/// "inverse_dynamics", "bias_torque", "coriolis_torque", "gravity_torque", "inertia_matrix",
/// "forward_dynamics", "energy".
[[nodiscard]] std::vector<std::string> generated_operations();

/// Text of the header. Each function is a template of the scalar S (double, SIMD lanes, a GPU
/// thread). One overload takes q [j], one the sines and cosines of q (Angles<S>).
/// @throws Error kUsage for an invalid namespace, an unknown operation, or a number of the robot
///         that is not finite.
[[nodiscard]] std::string generate_header(const Robot& robot, const GenerateOptions& options = {});

/// Options of AllSolutions::solve().
struct AllSolutionsOptions {
  bool limits = true;               ///< keep only solutions within the joint limits, in the turn that is within them
  bool windings = false;            ///< with limits: every turn of a joint within its limits is a solution of its own
  std::span<const double> q0 = {};  ///< [n,j]: solutions are sorted by their distance from it; joints without limits
                                    ///< are in the turn next to it
};

/// Solutions of a batch: those of pose n are rows first[n] .. first[n + 1] - 1.
struct AllSolutionsResult {
  int joints = 0;
  std::vector<std::int64_t> first;  ///< [n+1]
  std::vector<double> q;            ///< [m,j] rad or m; without limits in (-pi, pi]
  std::vector<double> residual;     ///< [m] norm of the pose error [m and rad]
  std::vector<double> unique;       ///< [m] proven: no other solution has |dq| below this [rad or m]; 0: not proven
  std::vector<double>
      limit_distance;  ///< [m] of the joint next to a limit [rad or m]; negative: outside; infinite: none
  std::vector<std::uint8_t> complete;  ///< [n] 1: no solution is missing, as far as the elimination's digits show
  std::vector<Status> status;          ///< [n] kConverged: there are solutions; kOutOfReach: there is none within the
                                       ///< limits; kInvalidInput
};

/// A robot prepared for all_solutions: the eliminations are chosen once by tries at random poses.
class AllSolutions {
 public:
  /// @throws Error kUsage for other than six joints, coupled joints, or equations that cannot be eliminated.
  explicit AllSolutions(const Robot& robot);
  /// The same with the eliminations of an arm of almost the same joints, without tries.
  AllSolutions(const Robot& robot, const AllSolutions& like);
  AllSolutions(AllSolutions&&) noexcept;
  AllSolutions& operator=(AllSolutions&&) noexcept;
  ~AllSolutions();

  /// @param pose homogeneous matrices of the tool in the world [n,16], row-major.
  /// @throws Error kUsage for sizes and matrices that are no rotations (with their index).
  [[nodiscard]] AllSolutionsResult solve(std::span<const double> pose, const AllSolutionsOptions& options = {},
                                         const Device& device = {}) const;

 private:
  struct Prepared;
  std::unique_ptr<const Prepared> prepared_;
};

/// The chain without joint `joint`, which is fixed at q [rad or m]. Bodies distal to it count to the link before.
/// @throws Error kUsage for a joint that does not exist or a chain of one joint.
[[nodiscard]] Robot lock_joint(const Robot& robot, int joint, double q);

}  // namespace garra::chain
