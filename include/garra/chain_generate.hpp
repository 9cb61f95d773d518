// Prepares one robot: a C++ header of straight-line code from its numbers, and all solutions of its
// inverse kinematics.
// Takes: a Robot; operation names; one to six joints to move, and poses [n,16] or a path for AllSolutions.
// Gives: the header's text; per pose all joint values with residual and certificate, and whether the
// list is complete; every branch along a path.
// Units and frames: SI, rad; world axes; Jacobian rows linear first; poses row-major; joints count from 0.
// Bad input: wrong names, numbers that are not finite, other numbers of joints and matrices that are
// no rotations throw Error(kUsage). A pose that is not finite has kInvalidInput and no solution.
// Not for: robots that change at run time, coupled joints (AllSolutions: more than one), paths of other than six
// joints.
// Docs: docs/howto/chain-generated.md, docs/howto/all-solutions.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/chain.hpp"
#include "garra/core/names.hpp"
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
/// "forward_dynamics", "energy", "inverse_dynamics_derivatives", "forward_dynamics_derivatives", "inverse_kinematics"
/// (closed forms only).
[[nodiscard]] std::vector<std::string> generated_operations();

/// Text of the header. Each function is a template of the scalar S (double, SIMD lanes, a GPU
/// thread). One overload takes q [j], one the sines and cosines of q (Angles<S>).
/// @throws Error kUsage for an invalid namespace, an unknown operation, or a number of the robot
///         that is not finite.
[[nodiscard]] std::string generate_header(const Robot& robot, const GenerateOptions& options = {});

/// What counts of a pose of the tool. An arm moves as many joints as its task has coordinates, 6, 5, 3, 3, or fewer:
/// most poses are out of reach then.
enum class ToolTask {
  kPose,
  kPointAxis,  ///< the tool's origin, and its z axis
  kPoint,      ///< the tool's origin
  kPlanar,     ///< x, y and the yaw angle in the world
};
[[nodiscard]] constexpr auto names_of(ToolTask) { return names("pose", "point_axis", "point", "planar"); }

/// Options of AllSolutions::solve().
struct AllSolutionsOptions {
  bool limits = true;               ///< keep only solutions within the joint limits, in the turn that is within them
  bool windings = false;            ///< with limits: every turn of a joint within its limits is a solution of its own
  bool proofs = true;               ///< false: faster; `unique` is 0, and families are not searched
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
      limit_distance;                ///< [m] of the joint next to a limit [rad or m]; negative: outside; infinite: none
  std::vector<std::uint8_t> family;  ///< [m] 1: one of a continuous family, in which the arm moves without its tool
  std::vector<std::uint8_t> complete;  ///< [n] 1: no solution is missing, as far as the elimination's digits show
  std::vector<Status> status;          ///< [n] kConverged: there are solutions; kOutOfReach: there is none within the
                                       ///< limits; kInvalidInput
  std::vector<double> distance;  ///< [n] of arms of fewer than six joints from a whole pose without solution: error of
                                 ///< the nearest pose that a search finds [m and rad]; otherwise 0
};

// Cartesian paths.

/// Path of the tool through poses. Its parameter s is 0 at the first pose, 1 at the second, and so on.
struct ToolPath {
  enum class Kind {
    kStraight,  ///< position on a line, rotation about one fixed axis
    kScrew,     ///< one screw motion from pose to pose
    kSpline,    ///< cubic in place and orientation; at a pose the mean velocity from the pose before to the one after,
                ///< rest at both ends
  };
  Kind kind = Kind::kStraight;
  std::span<const double> pose = {};  ///< [k,16], two or more
  std::span<const double> time = {};  ///< [k] of the poses, ascending [s]; empty: no joint speeds
};
[[nodiscard]] constexpr auto names_of(ToolPath::Kind) { return names("straight", "screw", "spline"); }

/// Options of AllSolutions::check_path().
struct PathOptions {
  double near_singular = 0.02;  ///< a branch that ends with scaled sigma_min <= this ends at a singularity
  int samples = 101;            ///< at first, along the whole path
  int refinements = 10;         ///< largest number of bisections of an interval without a proof
  std::span<const double> q0 =
      {};           ///< [j]: the best branch starts next to it; empty: the one with the largest sigma_min
  double unit = 0;  ///< of a ToolPath: lengths of the scaled Jacobian are over it [m]; 0: the mean length of the links
};

/// Where a branch begins or ends.
enum class BranchEnd : int {
  kPathEnd = 0,  ///< with the path
  kSingular,     ///< next to a singularity or to the border of the workspace
  kUndecided,    ///< the last interval has no proof, and sigma_min is above near_singular
};
[[nodiscard]] constexpr auto names_of(BranchEnd) { return names("path_end", "singular", "undecided"); }

/// Joint values that follow the path continuously from sample `first` on.
struct PathBranch {
  std::int64_t first = 0;
  std::vector<double> q;      ///< [m,j] at successive samples, in one turn [rad or m]
  std::vector<double> sigma;  ///< [m] smallest singular value of the scaled Jacobian at the samples
  double sigma_bound = 0;     ///< proven: sigma_min of the whole branch is at least this; 0: not proven
  double limit_distance = 0;  ///< of the samples (of a JointPath: of all), of the joint next to a limit [rad or m]
  int limit_joint = -1;       ///< this joint
  double limit_bound = 0;     ///< proven: limit_distance of the whole branch; -infinity: not proven
  double speed_share = 0;     ///< largest mean joint speed between samples over its limit; 0 without times or limits
  double cost = 0;            ///< by choose_best()
  BranchEnd begin = BranchEnd::kPathEnd, end = BranchEnd::kPathEnd;

  [[nodiscard]] bool passes() const { return begin == BranchEnd::kPathEnd && end == BranchEnd::kPathEnd; }
};

/// What check_path() found. Lengths of the scaled Jacobian are over the unit: rows of velocities, columns of slides.
struct PathCheck {
  int joints = 0;
  double unit = 1;        ///< [m]
  std::vector<double> s;  ///< [t] samples, ascending
  std::vector<PathBranch> branch;
  std::int64_t best = -1;         ///< of the branches that pass within limits and speeds; -1: none does
  std::vector<double> undecided;  ///< [m,2] intervals of s in which some solution has no proven continuation
};

/// What a branch costs.
enum class PathCriterion {
  kSigma,   ///< -sigma_bound
  kLimits,  ///< -limit_distance
  kTravel,  ///< length of the way of the joint values [rad and m]
  kSpeed,   ///< speed_share
  kStart,   ///< distance of the first joint values from q0, turns by the shorter way, slides over the unit
};
[[nodiscard]] constexpr auto names_of(PathCriterion) { return names("sigma", "limits", "travel", "speed", "start"); }

/// Gives every branch its cost. The best is the cheapest of those that pass within limits and speeds.
/// @param q0 [j] for kStart. @throws Error kUsage for kStart without it.
void choose_best(const Robot& robot, PathCriterion criterion, std::span<const double> q0, PathCheck& found);

/// Path of joint values. Its parameter s is 0 at the first row, 1 at the second, and so on.
struct JointPath {
  enum class Kind {
    kStraight,  ///< lines
    kSpline,  ///< cubic from row to row, velocity continuous: that of the line through the rows before and after; rest
              ///< at both ends
  };
  Kind kind = Kind::kStraight;
  std::span<const double> q = {};     ///< [k,j] two rows or more [rad or m]
  std::span<const double> time = {};  ///< [k] of the rows, ascending [s]; empty: 1 from row to row, and no joint speeds
};
[[nodiscard]] constexpr auto names_of(JointPath::Kind) { return names("straight", "spline"); }

/// The only branch of a path of joint values. Intervals are bisected until sigma_bound is half of sigma. `undecided`: a
/// singularity is not excluded there. speed_share counts the largest speed of each interval.
/// @throws Error kUsage for coupled joints, fewer than two rows, numbers that are not finite, and options out of range.
[[nodiscard]] PathCheck check_path(const Robot& robot, const JointPath& path, const PathOptions& options = {},
                                   const Device& device = {});

/// A robot prepared for all_solutions: the eliminations are chosen once by tries at random poses. One joint may follow
/// another (a helical joint): its leader is searched within its limits, and no list is complete.
class AllSolutions {
 public:
  /// @throws Error kUsage for more joints than the task has coordinates, more than one coupled joint, or equations that
  ///         cannot be eliminated.
  explicit AllSolutions(const Robot& robot, ToolTask task = ToolTask::kPose);
  /// The same with the eliminations of an arm of almost the same joints, without tries.
  AllSolutions(const Robot& robot, const AllSolutions& like);
  AllSolutions(AllSolutions&&) noexcept;
  AllSolutions& operator=(AllSolutions&&) noexcept;
  ~AllSolutions();

  /// @param pose homogeneous matrices of the tool in the world [n,16], row-major.
  /// @throws Error kUsage for sizes and matrices that are no rotations (with their index).
  [[nodiscard]] AllSolutionsResult solve(std::span<const double> pose, const AllSolutionsOptions& options = {},
                                         const Device& device = {}) const;

  /// Follows every branch along a path of the tool. Between samples Newton-Kantorovich proves that the branch is one
  /// continuous curve without singularity, or the interval is bisected.
  /// @throws Error kUsage for other than six uncoupled joints, a path of one pose, matrices that are no rotations, and
  /// options out of range.
  [[nodiscard]] PathCheck check_path(const ToolPath& path, const PathOptions& options = {},
                                     const Device& device = {}) const;

  struct Prepared;

 private:
  std::unique_ptr<const Prepared> prepared_;
};

/// The chain without joint `joint`, which is fixed at q [rad or m]. Bodies distal to it count to the link before.
/// @throws Error kUsage for a joint that does not exist, a chain of one joint, and q outside the joint's limits.
[[nodiscard]] Robot lock_joint(const Robot& robot, int joint, double q);

}  // namespace garra::chain
