// Analyzes one singular configuration of a serial chain by screw theory: lost degrees of freedom,
// dependent joints, escape motions.
// Takes: a ScrewSet, or a Robot with q [j].
// Gives: an Analysis: rank, lost wrenches, null space, singular intervals, escape joints and a
// recovery motion.
// Units and frames: screws (w; v) in world axes about the world origin, m and rad; wrenches are
// (force; moment); joints count from 0, also in error texts.
// Bad input: bad input throws Error(kUsage). Escape lists are empty at a regular configuration;
// SelfMotion::kUndecided is an open decision.
// Not for: many configurations or a GPU (singularity_map.hpp), coupled joints, more than kMaxJoints
// (16) joints.
// Docs: docs/theory/singularity.md.
//
// Method: Gallardo and Rico, "Recuperando la perdida de movilidad en manipuladores seriales por
// medio de la teoria de tornillos", Ingenieria (Universidad de Costa Rica), 2001, with its errata.
// The exact first-order test is one weighted sum of Lie products for each joint. All distal screws
// move. A second-order term decides if the first order is zero.
//
// Computations use scaled screws: origin c, unit of length L. Singular values then depend neither
// on the place of the base nor on the unit of length. The step of a prismatic joint is in units of
// L.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "garra/chain.hpp"
#include "garra/math/wrench.hpp"

namespace garra::singularity {

using chain::kMaxJoints;

/// Joint screws (w; v) from the base to the tip, about one origin and in one set of axes. Revolute:
/// w is the axis and v = p x w with a point p of the axis [m]; helical: plus pitch times w.
/// Prismatic: w = 0 and v is the axis.
struct ScrewSet {
  std::vector<Screw<double>> screw;
};

/// Generic dimensions: dim[$j ... $k], the rank of the screws $j ... $k of joints j ... k, at
/// almost every configuration.
struct GenericDims {
  int joints = 0;
  std::vector<int> dim;  ///< [j * joints + k], j <= k

  [[nodiscard]] int operator()(int first, int last) const {
    return dim[static_cast<std::size_t>(first * joints + last)];
  }
  /// Generic rank g: the largest rank of the chain's Jacobian.
  [[nodiscard]] int rank() const { return (*this)(0, joints - 1); }
};

/// Origin and unit of length of the scaled screws.
struct Scaling {
  Vec3<double> origin = Vec3<double>::zero();  ///< c [m]
  double length = 1;                           ///< L [m]
};

/// Definition of a singular interval of joints.
enum class IntervalRule {
  kGeneric,      ///< dimension below the generic one; intervals that are always dependent are not singular
  kCardinality,  ///< dimension below the number of joints: the paper's definition, eq. (11)
};

/// Options of analyze().
struct AnalyzeOptions {
  double tolerance = 1e-10;         ///< a singular value is zero if sigma <= tolerance * sigma_1; 1e-3 for 4-digit data
  std::optional<int> generic_rank;  ///< g; unset: measured at random configurations
  std::optional<GenericDims> generic;  ///< of all intervals; unset: measured. Give it for repeated analyses.
  IntervalRule rule = IntervalRule::kGeneric;
  std::optional<Vec3<double>> origin;  ///< c [m]; unset: the point nearest to all revolute axes, in least squares
  std::optional<double> length;        ///< L [m]; unset: root mean square distance of these axes to c
  double step = 0.25;                  ///< of the finite displacements [rad; of a prismatic joint in units of L]
  int max_set_size = 3;                ///< most joints of a minimal escape set
  bool clearing_sets = true;           ///< search the sets that leave no singular interval; the most expensive step
};

/// Test of one joint of a minimal singular interval: whether its motion makes the interval
/// independent.
struct Actuator {
  struct Product {
    int receptor = 0;      ///< h
    bool outside = false;  ///< Lie product [$f $h] is outside the interval's span: the paper's test, necessary only
  };
  int joint = 0;  ///< f
  std::vector<Product> products;
  bool weighted_outside = false;  ///< sum_h v_h [$f $h], h > f, leaves the span: exact at first order
  bool restores = false;          ///< the interval has its full dimension after a motion of f by `step`
};

/// Minimal singular interval $first ... $last (the paper's SOSM). At most six joints.
struct Interval {
  int first = 0, last = 0, dim = 0;
  std::vector<int> dependent_joints;  ///< joints that take part in its dependence (SSM)
  /// One number per joint of the interval: sum_k v_k $k = 0 [rad, m], largest entry 1. Empty if the
  /// interval has more than one dependence, which requires structural dependences.
  std::vector<double> null_vector;
  std::vector<Wrench<double>> reciprocal;  ///< wrenches without power on its joints (world axes and origin)
  std::vector<Actuator> actuators;
};

/// Effect of one joint alone on sigma_g, the g-th (smallest regular) scaled singular value, at
/// first and second order and by finite steps.
struct JointEscape {
  int joint = 0;
  int order = 0;                           ///< sigma_g ~ rate * step^order; 0: constant to second order
  double rate = 0;                         ///< per rad^order; of a prismatic joint per L^order
  int sign = 0;                            ///< direction in which sigma_g grows more, by the finite step; 0: both alike
  double sigma_plus = 0, sigma_minus = 0;  ///< sigma_g after +step, -step, in the scaling of the start
  int rank_plus = 0, rank_minus = 0;
};

/// Minimal set of joints that together leave the singularity.
struct EscapeSet {
  std::vector<int> joints;
  int order = 0;                  ///< along `direction`
  double rate = 0;                ///< along `direction`, whose largest entry is 1
  std::vector<int> sign;          ///< of every joint; 0: both alike
  std::vector<double> direction;  ///< one for each of `joints`
  double sigma = 0;               ///< sigma_g after step * direction, by finite motion
};

/// Whether a self-motion (end effector at rest) leaves the singularity, by the quadratic form Q =
/// V0' N V0 with N_jk = u . [$j $k] / 2. Decided only if one degree of freedom is lost and one
/// wrench is reciprocal to all joints.
enum class SelfMotion {
  kNotChecked,
  kNone,       ///< definite form: no such motion to second order, the end effector must move
  kEscapes,    ///< indefinite form
  kUndecided,  ///< semidefinite: higher orders decide
};
[[nodiscard]] const char* to_string(SelfMotion decision);

/// Result of a finite joint displacement, computed exactly.
struct Displacement {
  std::vector<double> motion;  ///< added to the joints [rad, m]; empty: not found, or not needed
  int rank = 0;                ///< after it
  double sigma = 0;            ///< sigma_g after it
};

/// Result of analyze(). Joints count from 0. Wrenches are (force; moment) about the origin of the
/// given screws, and orthonormal in scaled form.
struct Analysis {
  int joints = 0, rank = 0, generic_rank = 0;
  int lost_freedoms = 0;  ///< generic_rank - rank
  Scaling scaling;
  std::vector<double> singular_values;  ///< of the scaled Jacobian, min(6, joints) of them, falling
  double gap = 0;                       ///< sigma_r / sigma_(r+1), r = rank: clearness of the rank decision
  std::vector<Wrench<double>>
      lost_wrenches;  ///< 6 - rank of them, without power on any joint; 6 - generic_rank are structural
  std::vector<std::vector<double>> null_space;  ///< joint rates that leave the end effector at rest [rad, m]
  std::vector<int> dependent_joints;            ///< joints that take part in null_space, if degrees of freedom are lost
  std::vector<std::array<int, 3>> dims;         ///< first, last, dim[$first ... $last]
  std::vector<Interval> intervals;              ///< minimal singular ones
  bool arm_singular = false;                    ///< rank < generic_rank
  bool subchain_singular = false;               ///< some interval is singular; the arm itself may be regular
  std::vector<JointEscape> escape;              ///< of every joint, if arm_singular
  std::vector<EscapeSet> escape_sets;           ///< all of the smallest size, if arm_singular
  std::vector<double>
      best_direction;  ///< unit joint direction of fastest first-order growth (one lost degree of freedom)
  double best_rate = 0;
  SelfMotion self_motion = SelfMotion::kNotChecked;
  std::vector<double> self_motion_form;         ///< eigenvalues of Q, falling
  Displacement recovery;                        ///< best of escape_sets at `step`
  std::vector<std::vector<int>> clearing_sets;  ///< all smallest sets whose motion leaves no singular interval
};

/// Joint screws of a robot.
/// @param q joint values [j] in rad or m.
/// @return screws in world axes about the world origin.
/// @throws Error kUsage for a wrong number of joint values or one that is not finite.
[[nodiscard]] ScrewSet make_screws(const chain::Robot& robot, const std::vector<double>& q);

/// Usual name of a singular configuration: "wrist", "elbow", "shoulder", or several: "wrist and
/// elbow". Empty for other arms than three kinds. Six joints: the last three axes meet in a point;
/// or axes 1, 2 and 3 (from 0) are parallel and 4 meets 5. Elbow and shoulder also need parallel
/// axes 1 and 2. Seven joints: the first three and the last three axes meet. Tolerances for
/// calibrated arms: 1e-3 of their size and 2e-3 rad.
[[nodiscard]] std::string singularity_type(const chain::Robot& robot, const std::vector<double>& q);

/// Joint speeds that a unit velocity of the tool point takes, at most over its directions. Arms of rank 6 keep the
/// tool's orientation; other arms may turn it. Redundant joints take the least speeds, in units of their limits if all
/// joints have one.
struct ToolSpeed {
  bool possible = false;  ///< false: singular, some motion of the tool takes infinite speeds; nothing below holds
  bool orientation_kept = true;         ///< the tool does not turn
  int directions = 3;                   ///< that the tool point of the arm can move in
  std::vector<double> joint_speed;      ///< [j] largest, for a tool speed of 1 m/s [rad/s or m/s]
  std::vector<Vec3<double>> direction;  ///< [j] of the tool velocity that takes it, world axes
  int joint = -1;                       ///< first at its limit as the tool gets faster; without limits the fastest
  double speed = chain::kNoLimit;       ///< largest tool speed that all directions allow within velocity_limit [m/s]
};
/// @param q joint values [j] in rad or m.
/// @throws Error kUsage for a wrong number of joint values or one that is not finite.
[[nodiscard]] ToolSpeed tool_speed(const chain::Robot& robot, const std::vector<double>& q);

/// Screws after a finite motion, exactly: Ad(exp(dq_j $j)) acts on all screws behind j.
/// @param dq joint motion [j] in rad or m.
/// @throws Error kUsage for another number of joints.
[[nodiscard]] ScrewSet displaced(const ScrewSet& set, const std::vector<double>& dq);

/// Default origin and length [m], see AnalyzeOptions. The length is 1 if all axes meet in a point.
/// Without a revolute axis: the given origin and 1.
[[nodiscard]] Scaling natural_scaling(const ScrewSet& set);

/// Singular values of the scaled Jacobian, in descending order.
[[nodiscard]] std::vector<double> singular_values(const ScrewSet& set, const Scaling& scaling);

/// Generic dimensions of the chain that the screws describe, measured at five random configurations
/// of a fixed seed.
[[nodiscard]] GenericDims generic_dims(const ScrewSet& set, double tolerance = 1e-10);
/// Generic rank of all joints: generic_dims().rank() without the other intervals.
[[nodiscard]] int generic_rank(const ScrewSet& set, double tolerance = 1e-10);

/// All minimal dependent sets of at most `largest` joints, smallest first, by full enumeration; a
/// reference for tests. At most 16 joints.
[[nodiscard]] std::vector<std::vector<int>> circuits(const ScrewSet& set, double tolerance = 1e-10, int largest = 6);

/// Analyzes one configuration.
/// @param set joint screws of 1 to kMaxJoints joints.
/// @return rank, lost wrenches, dependent joints, escape joints and recovery motion.
/// @throws Error kUsage for the number of joints, a zero or infinite screw, or options out of
///         range.
[[nodiscard]] Analysis analyze(const ScrewSet& set, const AnalyzeOptions& options = {});
/// Same for a robot. @param q joint values [j] in rad or m. @throws Error kUsage as make_screws() and
/// above.
[[nodiscard]] Analysis analyze(const chain::Robot& robot, const std::vector<double>& q,
                               const AnalyzeOptions& options = {});

}  // namespace garra::singularity
