// Singular configurations of a serial chain by screw theory: what is lost, which joints are to blame, which joints lead
// out (docs/theory/singularity.md).
//
// After Gallardo and Rico, "Recuperando la perdida de movilidad en manipuladores seriales por medio de la
// teoria de tornillos", Ingenieria (Universidad de Costa Rica), 2001, with its errata: the exact first-order test is
// one weighted sum of Lie products for each joint, all distal screws move, and a second-order term decides where the
// first order says nothing.
//
// Everything is computed in scaled screws: origin c, unit of length L, so that singular values depend neither on where
// the base stands nor on the unit of length. A prismatic joint's step is then counted in units of L.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "garra/chain.hpp"
#include "garra/math/screw.hpp"

namespace garra::singularity {

using chain::kMaxJoints;

/// Joint screws from the base to the tip, about one origin and in one set of axes. Revolute: w is the axis, v = p x w
/// with p a point of it [m] (helical: plus pitch times w); prismatic: w = 0, v the axis.
struct ScrewSet {
  std::vector<Screw<double>> screw;
};

/// What dim[$j ... $k] is at almost every configuration. Joints are counted from 0.
struct GenericDims {
  int joints = 0;
  std::vector<int> dim;  ///< [j * joints + k], j <= k

  [[nodiscard]] int operator()(int first, int last) const {
    return dim[static_cast<std::size_t>(first * joints + last)];
  }
  /// g: what the chain can do at best.
  [[nodiscard]] int rank() const { return (*this)(0, joints - 1); }
};

/// Origin and unit of length of the scaled screws.
struct Scaling {
  Vec3<double> origin = Vec3<double>::zero();  ///< c [m]
  double length = 1;                           ///< L [m]
};

/// What counts as a singular interval of joints.
enum class IntervalRule {
  kGeneric,      ///< dimension below the generic one: nothing is said about intervals that are always dependent
  kCardinality,  ///< dimension below the number of joints: the paper's definition, eq. (11)
};

struct AnalyseOptions {
  double tolerance = 1e-10;  ///< a singular value is zero where sigma <= tolerance * sigma_1; 1e-3 for 4-digit data
  std::optional<int> generic_rank;     ///< g; unset: measured at random configurations
  std::optional<GenericDims> generic;  ///< of all intervals; unset: measured. Give it when you analyse many times.
  IntervalRule rule = IntervalRule::kGeneric;
  std::optional<Vec3<double>> origin;  ///< c [m]; unset: the point nearest to all revolute axes, in least squares
  std::optional<double> length;        ///< L [m]; unset: root mean square distance of these axes to c
  double step = 0.25;                  ///< of the finite displacements [rad; of a prismatic joint in units of L]
  int largest_set = 3;                 ///< most joints of a minimal escape set
  bool clearing_sets = true;           ///< search the sets that leave no singular interval; the dearest part
};

/// One joint of a minimal singular interval, as a means to make the interval independent.
struct Actuator {
  struct Product {
    int receptor = 0;      ///< h
    bool outside = false;  ///< [$f $h] leaves the span of the interval: the paper's test, necessary only
  };
  int joint = 0;  ///< f
  std::vector<Product> products;
  bool weighted_outside = false;  ///< sum_h v_h [$f $h], h > f, leaves the span: exact at first order
  bool restores = false;          ///< the interval has its full dimension after a motion of f by `step`
};

/// Minimal singular interval $first ... $last (the paper's SOSM). At most six joints.
struct Interval {
  int first = 0, last = 0, dim = 0;
  std::vector<int> responsible;  ///< joints with a part in its dependence (SSM)
  /// One for each joint of the interval, sum_k v_k $k = 0 [rad, m], largest entry 1; empty where the interval has more
  /// than one dependence, which only a chain with structural ones can have.
  std::vector<double> null_vector;
  std::vector<Screw<double>> reciprocal;  ///< wrenches that none of its joints feels (world axes and origin)
  std::vector<Actuator> actuators;
};

/// What one joint alone does, at first and second order and by finite steps.
struct JointEscape {
  int joint = 0;
  int order = 0;                           ///< sigma_g ~ rate * step^order; 0: constant to second order
  double rate = 0;                         ///< per rad^order; of a prismatic joint per L^order
  int sign = 0;                            ///< direction in which sigma_g grows more, by the finite step; 0: both alike
  double sigma_plus = 0, sigma_minus = 0;  ///< sigma_g after +step, -step, in the scaling of the start
  int rank_plus = 0, rank_minus = 0;
};

/// Joints that together leave the singularity, and none of them is dispensable.
struct EscapeSet {
  std::vector<int> joints;
  int order = 0;                  ///< along `direction`
  double rate = 0;                ///< along `direction`, whose largest entry is 1
  std::vector<int> sign;          ///< of every joint; 0: both alike
  std::vector<double> direction;  ///< one for each of `joints`
  double sigma = 0;               ///< sigma_g after step * direction, by finite motion
};

/// Whether a motion of the joints with the end effector at rest can leave the singularity, from the quadratic form
/// Q = V0' N V0, N_jk = u . [$j $k] / 2. Judged where one freedom is lost and one wrench is reciprocal to all joints.
enum class SelfMotion {
  kNotJudged,
  kNone,       ///< definite form: no such motion to second order, the end effector must move
  kEscapes,    ///< indefinite form
  kUndecided,  ///< semidefinite: higher orders decide
};
[[nodiscard]] const char* to_string(SelfMotion verdict);

/// A finite displacement that was carried out exactly.
struct Displacement {
  std::vector<double> motion;  ///< added to every joint [rad, m]; empty: none was found, or none is needed
  int rank = 0;                ///< after it
  double sigma = 0;            ///< sigma_g after it
};

/// All joints are counted from 0; all wrenches are about the origin of the given screws, as (moment, force), of unit
/// length in scaled form and at right angles to each other there.
struct Analysis {
  int joints = 0, rank = 0, generic_rank = 0;
  int lost_freedoms = 0;  ///< generic_rank - rank
  Scaling scaling;
  std::vector<double> singular_values;  ///< of the scaled Jacobian, min(6, joints) of them, falling
  double gap = 0;                       ///< sigma_r / sigma_(r+1), r = rank: how clear the verdict is
  std::vector<Screw<double>>
      lost_wrenches;  ///< 6 - rank: what the arm cannot yield to; 6 - generic_rank of them always
  std::vector<std::vector<double>> null_space;  ///< joint rates that leave the end effector at rest [rad, m]
  std::vector<int> responsible;                 ///< joints with a part in null_space, where freedoms are lost
  std::vector<std::array<int, 3>> dims;         ///< first, last, dim[$first ... $last]
  std::vector<Interval> intervals;              ///< minimal singular ones
  bool arm_singular = false;                    ///< rank < generic_rank
  bool subchain_singular = false;               ///< some interval is singular, which alone costs the arm nothing
  std::vector<JointEscape> escape;              ///< of every joint, where arm_singular
  std::vector<EscapeSet> escape_sets;           ///< all of the smallest size, where arm_singular
  std::vector<double> best_direction;  ///< unit joint direction of fastest growth at first order (one lost freedom)
  double best_rate = 0;
  SelfMotion self_motion = SelfMotion::kNotJudged;
  std::vector<double> self_motion_form;         ///< eigenvalues of Q, falling
  Displacement recovery;                        ///< best of escape_sets at `step`
  std::vector<std::vector<int>> clearing_sets;  ///< all smallest sets whose motion leaves no singular interval
};

/// Screws of the robot at q [rad, m], world axes and origin. Throws Error(kUsage) for a wrong number of joint values or
/// one that is not finite.
[[nodiscard]] ScrewSet screws_of(const chain::Robot& robot, const std::vector<double>& q);

/// What the field calls a singular configuration: "wrist", "elbow", "shoulder" or several of them, "wrist and elbow".
/// Empty for arms that have no such parts. They have six joints, the last three axes of which meet in a point, or axes
/// 2, 3 and 4 are parallel and 5 meets 6 (elbow and shoulder: axes 2 and 3 are parallel), or seven joints, the first
/// three and the last three axes of which meet. Calibrated arms have these to 1e-3 of their size and 2e-3 rad.
[[nodiscard]] std::string singularity_type(const chain::Robot& robot, const std::vector<double>& q);

/// The screws after every joint has moved by dq, exactly: Ad(exp(dq_j $j)) on all screws behind j.
[[nodiscard]] ScrewSet displaced(const ScrewSet& set, const std::vector<double>& dq);

/// Default origin and length, see AnalyseOptions. Without a revolute axis: the given origin and 1; where all axes meet
/// in a point: 1.
[[nodiscard]] Scaling natural_scaling(const ScrewSet& set);

/// Singular values of the scaled Jacobian, falling.
[[nodiscard]] std::vector<double> singular_values(const ScrewSet& set, const Scaling& scaling);

/// Measured at five random configurations of the chain that the screws describe (from a fixed seed: always the same).
[[nodiscard]] GenericDims generic_dims(const ScrewSet& set, double tolerance = 1e-10);
/// That of all joints together, generic_dims().rank(), alone.
[[nodiscard]] int generic_rank(const ScrewSet& set, double tolerance = 1e-10);

/// All minimal dependent sets of at most `largest` joints, smallest first: full enumeration, an oracle for up to 16
/// joints.
[[nodiscard]] std::vector<std::vector<int>> circuits(const ScrewSet& set, double tolerance = 1e-10, int largest = 6);

/// The whole analysis. Throws Error(kUsage) for no joint, more than kMaxJoints, a zero or infinite screw, or options
/// out of range.
[[nodiscard]] Analysis analyse(const ScrewSet& set, const AnalyseOptions& options = {});
/// Of a robot at q [rad, m].
[[nodiscard]] Analysis analyse(const chain::Robot& robot, const std::vector<double>& q,
                               const AnalyseOptions& options = {});

}  // namespace garra::singularity
