// Sets of candidate grasps: for each, the probability that it holds, and their ranking (docs/theory/grasp-sets.md).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/core/names.hpp"
#include "garra/grasp.hpp"
#include "garra/study/distribution.hpp"

namespace garra::mesh {
class Surface;
}

namespace garra::grasp {

/// What presses on the object, and so what "held" means.
enum class Hand : std::uint8_t {
  kAuto,       ///< whole where the set has `jacobian`, compliant where it has `mobility`, else ideal
  kIdeal,      ///< any forces that friction and limits allow: held where some of them balance the wrench
  kCompliant,  ///< contacts that give way by `mobility` and press with `force`: held as in a grasp study
  kWhole,      ///< joints with inertia and torques that move several contacts together: held as in a grasp study
};
[[nodiscard]] constexpr auto names_of(Hand) { return names("auto", "ideal", "compliant", "whole"); }

/// G grasps with any numbers of contacts, in SI units and axes of the object's. What may be left out is empty. Without
/// the hand's arrays the hand is ideal: it presses with any forces that friction allows.
struct Set {
  std::vector<std::int64_t> first;  ///< [g+1] rows of grasp g: first[g] ... first[g+1] - 1 of m
  std::vector<double> point;        ///< [m][3] [m]
  std::vector<double> normal;       ///< [m][3] into the object
  std::vector<double> tangent;      ///< [m][3] direction t of curvature and slide; none: any
  std::vector<double> friction;     ///< [m] coefficient
  std::vector<double> curvature;    ///< [m][2] of the surface along t and o = n x t, positive where it is convex [1/m]
  std::vector<double> force_limit;  ///< [m] of the normal force [N]; none: no limit
  /// [m] r of a soft contact [m]: |(c_t, c_o, tau / r)| <= mu c_n with the moment tau about the normal. 0, or none: a
  /// point. A hand with a command needs its angular_mobility or angular_jacobian, too.
  std::vector<double> torsion_radius;
  std::vector<double> mass;      ///< [g] [kg]
  std::vector<double> com;       ///< [g][3] centre of mass [m]; none: the origin
  std::vector<double> inertia;   ///< [g][3][3] about it [kg m^2]: its radius of gyration makes moments forces
  std::vector<double> gravity;   ///< [g][3] [m/s^2]; none: (0, 0, -9.81)
  std::vector<double> wrench;    ///< [g][6] external (force; moment about the centre of mass) [N, N m]
  std::vector<double> force;     ///< [m][3] commanded contact force (n, t, o) [N]; t, o not 0: with `tangent`
  std::vector<double> torsion;   ///< [m] commanded moment about the normal of soft contacts, beside `force` [N m]
  std::vector<double> mobility;  ///< [m][3][3], or [m]: acceleration of a compliant contact per force [1/kg]
  /// [m][3][3], or [m]: angular acceleration of a compliant soft contact per moment [1/(kg m^2)].
  std::vector<double> angular_mobility;
  std::vector<double> jacobian;  ///< [m][3][nq] velocity of the hand's contact point per joint rate
  /// [m][3][nq] angular velocity of what touches there, per joint rate: of soft contacts.
  std::vector<double> angular_jacobian;
  std::vector<double> mass_matrix;  ///< [g][nq][nq] of the hand's joints
  std::vector<double> torque;       ///< [g][nq] commanded; none: bias + J^T force
  std::vector<double> bias;         ///< [g][nq] that holds the hand against its weight and motion; none: 0
  /// [g][nq] of |torque| of the motors, above 0; infinite, or none: no limit. kMostTorqueLimits joints of a grasp.
  std::vector<double> torque_limit;
  /// Of all grasps: says whether normals that all point away from the centre of mass point into it all the same, as
  /// those of a ring held from within. None: it is not known (SetStudy::from_within).
  std::shared_ptr<const mesh::Surface> object = nullptr;

  [[nodiscard]] std::int64_t count() const { return first.empty() ? 0 : std::ssize(first) - 1; }
  /// nq; 0 without a jacobian.
  [[nodiscard]] std::int64_t joints() const {
    return first.empty() || first.back() == 0 ? 0 : std::ssize(jacobian) / (3 * first.back());
  }
};

/// What is uncertain, and how it is computed. Sample i of one grasp has the same draws as sample i of any other, so
/// that differences between grasps are sharper than the probabilities themselves.
struct SetStudy {
  using Distribution = study::Distribution;
  Distribution friction = Distribution::constant(1);  ///< all contacts': a factor, or the coefficient itself
  bool friction_is_factor = true;
  Distribution contact_friction = Distribution::constant(1);  ///< a further factor on each contact's
  Distribution mass = Distribution::constant(1);              ///< a factor, or the mass itself [kg]
  bool mass_is_factor = true;
  double com_ball = 0;  ///< the centre of mass is off, uniform in a ball of this radius [m]
  Distribution slide_t = Distribution::constant(0);  ///< of each contact point along the surface [m]
  Distribution slide_o = Distribution::constant(0);
  Distribution tilt = Distribution::constant(0);  ///< of each true normal, towards any side [rad]
  double force_ball = 0, torque_ball = 0;         ///< disturbance, uniform in balls of these radii [N, N m]
  /// One of them, any as likely as the others, acts besides (force; moment about the centre of mass) [N, N m]; at most
  /// kMostWrenches.
  std::vector<std::array<double, 6>> wrenches;
  bool any_gravity = false;                                      ///< gravity from a direction uniform on the sphere
  double force_limit = std::numeric_limits<double>::infinity();  ///< of every contact, where the set has none [N]
  Hand hand = Hand::kAuto;
  /// Normals of a set without its object may all point away from the centre of mass: rings and cups are held from
  /// within. Otherwise they are taken for turned the wrong way.
  bool from_within = false;
  Distribution command = Distribution::constant(1);        ///< a factor on the commanded forces or torques
  Distribution squeeze_error = Distribution::constant(0);  ///< added to each contact's commanded normal force [N]
  Distribution torque_error = Distribution::constant(0);   ///< added to each joint's torque, of a whole hand [N m]
  double held_imbalance = 0.5;  ///< carried: what the command leaves unbalanced <= this (weight + external wrench)
  double held_acceleration = kHeldAcceleration;  ///< at rest: |a| of a contact <= this; it opens: a_n above [m/s^2]
  bool check_uniqueness = true;         ///< solve contact problems from another start, too, and tell a second solution
  std::int64_t samples = 1000;          ///< of each grasp
  std::int64_t friction_samples = 100;  ///< the first so many of them are also asked for the friction that they need
  /// Likewise for the wrench radius, of an ideal hand whose forces are limited. Below 0: a twentieth of
  /// friction_samples.
  std::int64_t radius_samples = -1;
  std::uint64_t seed = 1;
  /// Above 0: only so many best grasps are wanted. Grasps that are surely not among them are given up early, and the
  /// ranking ends when the others are found; `samples` is then the most for each grasp.
  std::int64_t best = 0;
  double confidence = 0.95;  ///< that none of the true best is given up, and of all intervals
};

/// Why a grasp has a place in the ranking or not.
enum class GraspStatus : std::uint8_t {
  kRanked,
  kNoContact,
  kTooManyContacts,  ///< more than kMostSetContacts
  kNotFinite,        ///< a number of it is NaN or infinite (a force or torque limit may be infinite)
  kBadNormal,        ///< a normal is zero, or a tangent parallel to its normal
  kBadFriction,      ///< a coefficient, force limit or torsion radius is negative
  kBadMass,          ///< negative, or an inertia that no body has
  kOutwardNormals,   ///< every normal points away from the centre of mass, and nothing says that it is meant
  kMillimeters,      ///< a contact is more than kMostReach away from the centre of mass, or a torsion radius as long
  kBadHand,  ///< a mobility or mass matrix that is not symmetric and positive definite, a torque limit not above 0
};
[[nodiscard]] constexpr auto names_of(GraspStatus) {
  return names("ranked", "no_contact", "too_many_contacts", "not_finite", "bad_normal", "bad_friction", "bad_mass",
               "outward_normals", "millimeters", "bad_hand");
}
inline constexpr int kMostSetContacts = 32;
inline constexpr int kMostTorqueLimits = 32;  ///< or joints with a torque error
inline constexpr int kMostWrenches = 32;      ///< in SetStudy::wrenches
inline constexpr double kMostReach = 10;      ///< [m]
inline constexpr double kMostFriction = 10;   ///< up to which a friction is sought that would do

/// One entry per grasp. Where its status is not kRanked: NaN, and rank 0.
struct Ranking {
  std::vector<GraspStatus> status;
  std::vector<std::int64_t> held, unsolved;  ///< samples
  std::vector<std::int64_t> samples;         ///< of each grasp
  Hand hand = Hand::kIdeal;                  ///< what it was ranked with
  /// Share of the decided samples that are held: of an ideal hand whose wrench forces in the cones balance, else whose
  /// contacts stick, whose wrench can be balanced, and whose command carries it.
  std::vector<double> p_held;
  /// 95 % interval (Clopper-Pearson; where `best` is asked for one that may be looked at at any time); unsolved samples
  /// widen it
  std::vector<double> low, high;
  std::vector<double> difference;                       ///< p_held less the best grasp's, of samples that both decide
  std::vector<double> difference_low, difference_high;  ///< 95 % interval from the same draws (Agresti and Min, 2005)
  /// 5, 50, 95 % quantiles of the least friction coefficient, the same at all contacts, with which a sample is held;
  /// infinity: none up to kMostFriction does.
  std::vector<std::array<double, 3>> critical_friction;
  std::vector<double> p_no_slip;      ///< share whose contacts all stick; NaN of an ideal hand, which has no command
  std::vector<double> p_can_be_held;  ///< share whose wrench forces in the cones can balance
  /// 5, 50, 95 % quantiles of the smallest friction margin 1 - |c_T| / (mu c_n); NaN of an ideal hand.
  std::vector<std::array<double, 3>> margin;
  /// Median of the largest ball of wrenches |(F, M / length)| that may be added [N]: it can be balanced, and leaves all
  /// contacts of a hand with a command sticking. A lower bound; of the first radius_samples samples of an ideal hand
  /// (NaN where forces are not limited), else of the first friction_samples, as the two above.
  std::vector<double> wrench_radius;
  std::vector<std::int64_t> non_unique;   ///< samples with another certified solution that moves otherwise; of an ideal
                                          ///< hand none
  std::vector<std::int64_t> fails_first;  ///< contact of the grasp, from 0, that fails most often; -1: none, or ideal
  std::vector<std::array<std::int64_t, kOutcomes>> outcomes;  ///< samples of each Outcome; of an ideal hand the first
                                                              ///< two and the last
  /// 1 is the best: most probable, then the one that needs the least friction. Where `best` is asked for, the order of
  /// those given up is that of how long they lasted.
  std::vector<std::int64_t> rank;
  bool decided = true;  ///< `best`: the best are found; else the samples have ended before that
};

/// A set that is read a stretch at a time, so that it may be larger than memory: io::SetFile reads one from its file.
class SetSource {
 public:
  virtual ~SetSource() = default;
  SetSource(const SetSource&) = delete;
  SetSource& operator=(const SetSource&) = delete;

  [[nodiscard]] virtual std::int64_t count() const = 0;
  /// Grasps first .. first + count - 1 as a set of their own, with the arrays that the whole set has. Where they have
  /// no contacts at all, without a hand.
  [[nodiscard]] virtual Set read(std::int64_t first, std::int64_t count) const = 0;

 protected:
  SetSource() = default;
};

/// Told now and then how many grasps are decided. What it throws ends the ranking.
using SetProgress = std::function<void(std::int64_t)>;

/// Ranks all of them. Throws Error (kInvalidFile: sizes that do not fit, named with the array and row; kUsage: nothing
/// to hold against; kNoDevice).
[[nodiscard]] Ranking rank(const Set& set, const SetStudy& study, const Device& device = {},
                           const SetProgress& progress = {});

/// The same of a set that is not in memory as a whole. The ranking is: 300 bytes a grasp, and 2 bits a sample
/// (`garra run` does with 40 bytes a grasp, docs/theory/grasp-sets.md).
[[nodiscard]] Ranking rank(const SetSource& set, const SetStudy& study, const Device& device = {},
                           const SetProgress& progress = {});

/// One sample of one grasp, in full. Forces are (n, t, o) of each contact in the sample's own frames [N].
struct SetReplay {
  Hand hand = Hand::kIdeal;
  Outcome outcome = Outcome::kUnsolved;
  std::vector<std::pair<std::string, double>> inputs;  ///< what was drawn: "mass", "contact 2 friction"
  double mass = 0;                                     ///< [kg]
  Vec3<double> com{}, gravity{};                       ///< [m], [m/s^2]
  Vec<double, 6> wrench{};                             ///< to be balanced: weight and all else (force; moment)
  std::vector<double> point, normal;                   ///< [k][3]
  std::vector<double> friction;                        ///< [k]
  std::vector<double> force;  ///< [k][3] of the contacts; of an ideal hand some that balance the wrench; NaN: none
  /// [k] of a grasp with soft contacts; else empty: the radius [m], and the moment about the normal [N m] (NaN: none).
  std::vector<double> torsion_radius, torsion;
  std::vector<double> command;  ///< [k][3] what the hand presses with; empty: ideal
  std::vector<int> state;       ///< [k] ContactState; empty: ideal
  Vec<double, 6> against{};     ///< ideal and not held: a unit wrench (moment over length) that no forces go along with
  Vec<double, 6> least_push{};  ///< ideal and held: the added wrench, about as long as the radius, at which it gives
                                ///< way (force; moment) [N, N m]; zero: none
  double residual = 0;          ///< of the contact problem; of an ideal hand what forces leave, or must leave, over |w|
  double margin = 0, critical_friction = 0, wrench_radius = 0, imbalance = 0;  ///< NaN where there is none
};

/// Sample `sample` of grasp `grasp`, as rank() has it. Throws Error as rank() does, and (kUsage) where there is no such
/// grasp or sample, or the grasp's status is not kRanked.
[[nodiscard]] SetReplay replay(const Set& set, const SetStudy& study, std::int64_t grasp, std::int64_t sample);
[[nodiscard]] SetReplay replay(const SetSource& set, const SetStudy& study, std::int64_t grasp, std::int64_t sample);

}  // namespace garra::grasp
