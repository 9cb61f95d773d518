// Ranks sets of candidate grasps by the probability that each holds under uncertain friction, mass,
// pose and loads.
// Takes: a GraspSet of g grasps (contact points, normals, friction, masses; optional hand arrays) and a
// SetStudy.
// Gives: a Ranking: P(held), interval, margins, status and rank per grasp; replay() of one sample.
// Units and frames: SI, object axes; wrenches are (force; moment about the center of mass); contact
// axes (n, t, o), n inward; grasps and contacts count from 0, ranks from 1.
// Bad input: wrong sizes and options throw Error. A grasp that cannot be ranked has a GraspStatus,
// NaN and rank 0.
// Not for: collisions, a table, joint limits, motion in time; more than kMaxSetContacts (32)
// contacts per grasp.
// Docs: docs/theory/grasp-sets.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/core/names.hpp"
#include "garra/grasp.hpp"
#include "garra/study/distribution.hpp"
#include "garra/study/outcomes.hpp"
#include "garra/study/study.hpp"

namespace garra::mesh {
class Surface;
}

namespace garra::grasp {

/// Model of the hand, which defines "held".
enum class Hand : std::uint8_t {
  kAuto,       ///< whole if the set has `jacobian`, compliant if it has `mobility`, else ideal
  kIdeal,      ///< any forces within friction and limits: held if some of them balance the wrench
  kCompliant,  ///< contacts with `mobility` and commanded `force`: held as in a grasp study
  kWhole,      ///< joints with inertia and torques, coupled contacts: held as in a grasp study
};
[[nodiscard]] constexpr auto names_of(Hand) { return names("auto", "ideal", "compliant", "whole"); }

/// GraspSet of g grasps with any numbers of contacts, m in all; q is the number of hand joints. SI
/// units, object axes. Optional arrays may be empty. Without the hand's arrays the hand is ideal.
struct GraspSet {
  std::vector<std::int64_t> first;  ///< [g+1] rows of grasp g: first[g] ... first[g+1] - 1 of m
  std::vector<double> point;        ///< [m][3] [m]
  std::vector<double> normal;       ///< [m][3] into the object
  std::vector<double> tangent;      ///< [m][3] direction t of curvature and slide; empty: any
  std::vector<double> friction;     ///< [m] coefficient
  std::vector<double> curvature;    ///< [m][2] of the surface along t and o = n x t, positive if convex [1/m]
  std::vector<double> force_limit;  ///< [m] largest normal force [N]; empty: no limit
  /// [m] number of the pad or link that touches. The normal forces of a pad's contacts together obey the least of their
  /// limits. Empty: each contact has its own. Ideal hands only.
  std::vector<double> pad;
  /// [m] radius r of a soft contact [m], which bears a moment tau about its normal: |(c_t, c_o, tau
  /// / r)| <= mu c_n. 0 or empty: a point contact. Compliant hands also need angular_mobility,
  /// whole hands angular_jacobian.
  std::vector<double> torsion_radius;
  std::vector<double> mass;           ///< [g] [kg]
  std::vector<double> com;            ///< [g][3] center of mass [m]; empty: the origin
  std::vector<double> inertia;        ///< [g][3][3] about com [kg m^2]; its radius of gyration scales moments to forces
  std::vector<double> moment_length;  ///< [g] that moments are divided by, in place of the radius of gyration [m]
  std::vector<double> gravity;        ///< [g][3] [m/s^2]; empty: (0, 0, -9.81)
  std::vector<double> wrench;         ///< [g][6] external (force; moment about com) [N, N m]
  std::vector<double> force;          ///< [m][3] commanded contact force (n, t, o) [N]; nonzero t, o need `tangent`
  std::vector<double> torsion;        ///< [m] commanded moment about the normal of soft contacts, with `force` [N m]
  std::vector<double> mobility;       ///< [m][3][3], or [m]: acceleration of a compliant contact per force [1/kg]
  /// [m][3][3], or [m]: angular acceleration of a compliant soft contact per moment [1/(kg m^2)].
  std::vector<double> angular_mobility;
  /// [m][3] acceleration of the object's contact point minus that of the hand, from velocities alone
  /// [m/s^2]; empty: 0.
  std::vector<double> drift;
  std::vector<double> jacobian;  ///< [m][3][nq] velocity of the hand's contact point per joint rate
  /// [m][3][nq] angular velocity of the touching body per joint rate, for soft contacts.
  std::vector<double> angular_jacobian;
  std::vector<double> mass_matrix;  ///< [g][nq][nq] of the hand's joints
  std::vector<double> torque;       ///< [g][nq] commanded [N m or N]; empty: bias + J^T force
  std::vector<double> bias;         ///< [g][nq] torque for the hand's weight and motion [N m or N]; empty: 0
  /// [g][nq] limit of the motors' |torque|, above 0; infinite or empty: no limit. At most
  /// kMaxTorqueLimits joints.
  std::vector<double> torque_limit;
  std::vector<double> outcome;      ///< [g] of a trial: 1 held, 0 not, NaN not known; for comparisons, not for P(held)
  std::vector<double> group;        ///< [g] number of the object; trials of one object are not independent
  std::vector<double> pose_number;  ///< [g] grasps of one number are draws of one pose, which comparisons pool
  /// [g] 0, 1, ..., k - 1, 0, 1, ...: k consecutive grasps are one grasp under k load cases, with P(held) of the first.
  std::vector<double> load_case;
  /// Object surface shared by all grasps. Used to accept outward-pointing normals, as of a ring
  /// held from inside. Null: SetStudy::interior_grasp decides.
  std::shared_ptr<const mesh::Surface> object = nullptr;

  [[nodiscard]] std::int64_t count() const { return first.empty() ? 0 : std::ssize(first) - 1; }
  /// nq; 0 without a jacobian.
  [[nodiscard]] std::int64_t joints() const {
    return first.empty() || first.back() == 0 ? 0 : std::ssize(jacobian) / (3 * first.back());
  }
};

/// Row of the table of GraspSet's arrays, which files, Python and checks follow.
struct GraspSetArray {
  static constexpr int kJoints = -1;  ///< an axis of nq numbers
  const char* name;
  std::vector<double> GraspSet::*values;
  bool per_contact;           ///< a row per contact, of m in all; else per grasp
  const char* doc;            ///< meaning, unit
  std::array<int, 2> axes{};  ///< after the row; 0: none
  bool or_number = false;     ///< one number per row may replace the axes

  [[nodiscard]] constexpr bool has_joints() const { return axes[0] == kJoints; }
  [[nodiscard]] constexpr bool is_jacobian() const { return axes[1] == kJoints && axes[0] != kJoints; }
};
inline constexpr GraspSetArray kGraspSetArrays[] = {
    {"point", &GraspSet::point, true, "Contact points [m].", {3}},
    {"normal", &GraspSet::normal, true, "Normals into the object.", {3}},
    {"tangent", &GraspSet::tangent, true, "Direction t of curvature and slide; any without it.", {3}},
    {"friction", &GraspSet::friction, true, "Friction coefficients."},
    {"curvature",
     &GraspSet::curvature,
     true,
     "Curvature of the surface along t and o = n x t, positive if convex [1/m].",
     {2}},
    {"force_limit", &GraspSet::force_limit, true, "Largest normal force [N]; no limit without it."},
    {"pad", &GraspSet::pad, true,
     "Number of the pad that touches: its contacts together obey the least of their force limits; ideal hands only."},
    {"torsion_radius", &GraspSet::torsion_radius, true,
     "Radius r of soft contacts [m]: |(c_t, c_o, tau / r)| <= friction c_n with the moment tau about the normal."},
    {"mass", &GraspSet::mass, false, "Mass [kg]."},
    {"com", &GraspSet::com, false, "Center of mass [m]; the origin without it.", {3}},
    {"inertia",
     &GraspSet::inertia,
     false,
     "Inertia about com [kg m^2]; its radius of gyration scales moments to forces.",
     {3, 3}},
    {"moment_length", &GraspSet::moment_length, false,
     "Length that scales moments to forces, above 0 [m]; the radius of gyration without it."},
    {"gravity", &GraspSet::gravity, false, "Gravity [m/s^2]; (0, 0, -9.81) without it.", {3}},
    {"wrench", &GraspSet::wrench, false, "External (force; moment about com) [N, N m].", {6}},
    {"force", &GraspSet::force, true, "Commanded contact force (n, t, o) [N]; nonzero t, o need `tangent`.", {3}},
    {"torsion", &GraspSet::torsion, true, "Commanded moment about the normal of soft contacts, with `force` [N m]."},
    {"mobility", &GraspSet::mobility, true, "Acceleration of a compliant contact per force [1/kg].", {3, 3}, true},
    {"angular_mobility",
     &GraspSet::angular_mobility,
     true,
     "Angular acceleration of a compliant soft contact per moment [1/(kg m^2)].",
     {3, 3},
     true},
    {"drift",
     &GraspSet::drift,
     true,
     "Acceleration of the object's contact point minus that of the hand, from velocities alone [m/s^2].",
     {3}},
    {"jacobian",
     &GraspSet::jacobian,
     true,
     "Velocity of the hand's contact point per joint rate.",
     {3, GraspSetArray::kJoints}},
    {"angular_jacobian",
     &GraspSet::angular_jacobian,
     true,
     "Angular velocity of the touching body per joint rate, for soft contacts.",
     {3, GraspSetArray::kJoints}},
    {"mass_matrix",
     &GraspSet::mass_matrix,
     false,
     "Mass matrix of the hand's joints.",
     {GraspSetArray::kJoints, GraspSetArray::kJoints}},
    {"torque",
     &GraspSet::torque,
     false,
     "Commanded torque [N m or N]; bias + J^T force without it.",
     {GraspSetArray::kJoints}},
    {"bias", &GraspSet::bias, false, "Torque for the hand's weight and motion [N m or N].", {GraspSetArray::kJoints}},
    {"torque_limit",
     &GraspSet::torque_limit,
     false,
     "Limit of the motors' |torque|, above 0, at most 32 joints; infinity for none [N m or N].",
     {GraspSetArray::kJoints}},
    {"outcome", &GraspSet::outcome, false, "Outcome of a trial: 1 held, 0 not, NaN not known; P(held) ignores it."},
    {"group", &GraspSet::group, false, "Number of the object, whole; its trials are not independent."},
    {"pose_number", &GraspSet::pose_number, false,
     "Grasps of one number are draws of one pose; comparisons pool them."},
    {"load_case", &GraspSet::load_case, false,
     "0, 1, ..., k - 1, 0, ...: k grasps in a row are load cases of one grasp."},
};

/// Uncertain inputs and options of a ranking. Sample i has the same random draws for every grasp:
/// differences between grasps are therefore more precise than the probabilities.
struct SetStudy {
  using Distribution = study::Distribution;
  Distribution friction = Distribution::constant(1);  ///< of all contacts: a factor, or the coefficient itself
  bool friction_is_factor = true;
  Distribution per_contact_friction_factor = Distribution::constant(1);  ///< further factor per contact
  Distribution mass = Distribution::constant(1);                         ///< a factor, or the mass itself [kg]
  bool mass_is_factor = true;
  double com_radius = 0;  ///< error of the center of mass, uniform in a ball of this radius [m]
  Distribution slide_t = Distribution::constant(0);  ///< of each contact point along the surface [m]
  Distribution slide_o = Distribution::constant(0);
  Distribution tilt = Distribution::constant(0);  ///< of each true normal, in a uniform direction [rad]
  double displacement_radius = 0;  ///< of the hand: of all contact points together, along their surfaces [m]
  double force_radius = 0, torque_radius = 0;  ///< disturbance, uniform in balls of these radii [N, N m]
  /// Additional wrenches (force; moment about the center of mass) [N, N m]. Each sample draws one,
  /// with equal probability. At most kMaxWrenches.
  std::vector<std::array<double, 6>> wrenches;
  bool random_gravity_direction = false;                         ///< gravity from a direction uniform on the sphere
  double force_limit = std::numeric_limits<double>::infinity();  ///< of every contact, if the set has none [N]
  Hand hand = Hand::kAuto;
  /// True: the normals of a set without its object may all point away from the center of mass, as
  /// for rings and cups held from inside. False: they get GraspStatus::kOutwardNormals.
  bool interior_grasp = false;
  Distribution command = Distribution::constant(1);           ///< a factor on the commanded forces or torques
  Distribution grip_force_error = Distribution::constant(0);  ///< added to each contact's commanded normal force [N]
  Distribution torque_error = Distribution::constant(0);      ///< added to each joint torque of a whole hand [N m]
  bool any_load_case = false;   ///< held in any load case of a grasp is enough; else it has to be held in all
  double held_imbalance = 0.5;  ///< carried: unbalanced part <= this fraction of (weight + external wrench)
  double held_acceleration = kHeldAcceleration;  ///< contact at rest: |a| <= this; contact opens: a_n > this [m/s^2]
  bool check_uniqueness = true;                  ///< solve again from another initial guess and count second solutions
  std::string method = "auto";                   ///< for a hand's contact problems (contact::set_method)
  std::string effort = "bounded";                ///< or "full" (contact::parse_effort)
  double tolerance = 1e-8;                       ///< converged: residual of a hand's contact problem <= tolerance
  std::int64_t samples = 1000;                   ///< of each grasp
  std::int64_t friction_samples = 100;           ///< first samples for which the required friction is computed
  /// First samples for which Ranking::resisted_force_radius is computed, for an ideal hand with
  /// force limits. Below 0: friction_samples / 20, rounded up.
  std::int64_t radius_samples = -1;
  std::uint64_t seed = 1;
  /// Above 0: number of best grasps wanted. Grasps that are not among them with `confidence` are
  /// dropped early, and the ranking ends when the best are found. `samples` is then the maximum per
  /// grasp.
  std::int64_t best = 0;
  double confidence = 0.95;  ///< with `best`: probability that no true best grasp is dropped, and of all intervals
};

/// Row of the table of SetStudy's options. The keys of TOML and of `--set`, JSON Schema, docs/reference/scenario.md,
/// Python's RankOptions, the study in a ranking file and its report follow. A number is written into a ranking file, a
/// distribution as text; numbers of a ball are radii.
struct SetOption {
  using Member =
      std::variant<study::Distribution SetStudy::*, double SetStudy::*, bool SetStudy::*, std::string SetStudy::*>;
  enum class Bound { kAny, kNotNegative, kPositive };

  const char *table, *key;  ///< in TOML: [contacts] slide_t
  const char* name;         ///< in C++ and in a ranking file
  Member value;
  const char* unit;  ///< SI: "m", "N*m"; "1" of a factor, "" of a switch
  const char* doc;   ///< meaning
  Bound bound = Bound::kAny;
  const char* keyword = "";  ///< in Python; "": Python has a keyword of its own for it
  const char* report = "";   ///< in the report, before the value; "": not shown, or with another option
  const char* each = "";     ///< behind the value: "for each contact on its own"
  [[nodiscard]] constexpr bool is_ball() const { return std::string_view(name).ends_with("_radius"); }
};
inline constexpr SetOption kSetOptions[] = {
    {"object", "com_radius", "com_radius", &SetStudy::com_radius, "m",
     "the center of mass is off, uniform in a ball of this radius", SetOption::Bound::kNotNegative, "",
     "center of mass off by"},
    {"contacts", "per_contact_friction_factor", "per_contact_friction_factor", &SetStudy::per_contact_friction_factor,
     "1", "a further factor, drawn for each contact", SetOption::Bound::kNotNegative},
    {"contacts", "slide_t", "slide_t", &SetStudy::slide_t, "m",
     "of each contact point along the surface; the normal turns with the curvature"},
    {"contacts", "slide_o", "slide_o", &SetStudy::slide_o, "m", "likewise, across"},
    {"contacts", "tilt", "tilt", &SetStudy::tilt, "rad", "of each true normal, towards any side",
     SetOption::Bound::kAny, "", "normals tilted by"},
    {"contacts", "displacement_radius", "displacement_radius", &SetStudy::displacement_radius, "m",
     "the hand is off: one displacement moves all contacts along their surfaces, uniform in a ball of this radius",
     SetOption::Bound::kNotNegative, "displacement", "contacts displaced together by"},
    {"load", "force_radius", "force_radius", &SetStudy::force_radius, "N",
     "disturbance, uniform in a ball of this radius", SetOption::Bound::kNotNegative, "force", "disturbing force"},
    {"load", "torque_radius", "torque_radius", &SetStudy::torque_radius, "N*m", "likewise",
     SetOption::Bound::kNotNegative, "torque", "disturbing torque"},
    {"load", "random_gravity_direction", "random_gravity_direction", &SetStudy::random_gravity_direction, "",
     "gravity from a direction uniform on the sphere", SetOption::Bound::kAny, "random_gravity_direction"},
    {"command", "factor", "command", &SetStudy::command, "1",
     "on the commanded forces; or torques, those that carry the hand itself included", SetOption::Bound::kAny,
     "command"},
    {"command", "grip_force_error", "grip_force_error", &SetStudy::grip_force_error, "N",
     "added to each contact's commanded normal force", SetOption::Bound::kAny, "grip_force_error",
     "errors of the normal forces", "for each contact on its own"},
    {"command", "torque_error", "torque_error", &SetStudy::torque_error, "N*m",
     "added to each joint's torque, drawn for each, of a whole hand", SetOption::Bound::kAny, "torque_error",
     "errors of the torques", "for each joint on its own"},
    {"held", "imbalance", "held_imbalance", &SetStudy::held_imbalance, "1",
     "carried: what the command leaves unbalanced is at most this share of the load", SetOption::Bound::kPositive,
     "imbalance"},
    {"held", "acceleration", "held_acceleration", &SetStudy::held_acceleration, "m/s^2",
     "at rest: acceleration of a contact at most this; a contact opens above it", SetOption::Bound::kPositive,
     "acceleration"},
    {"held", "any_load_case", "any_load_case", &SetStudy::any_load_case, "",
     "a grasp with load cases is held if it is in any of them; else if it is in all", SetOption::Bound::kAny,
     "any_load_case"},
    {"set", "interior_grasp", "interior_grasp", &SetStudy::interior_grasp, "",
     "normals of a set without its object may all point away from the center of mass, as in a ring held from within",
     SetOption::Bound::kAny, "interior_grasp"},
    {"solver", "check_uniqueness", "check_uniqueness", &SetStudy::check_uniqueness, "", "look for a second solution",
     SetOption::Bound::kAny, "check_uniqueness"},
    {"solver", "effort", "effort", &SetStudy::effort, "", "bounded, or full: every solver of `auto` to its own limit",
     SetOption::Bound::kAny, "effort"},
};

/// Status of a grasp: ranked, or the reason for its rejection.
enum class GraspStatus : std::uint8_t {
  kRanked,
  kNoContact,
  kTooManyContacts,  ///< more than kMaxSetContacts
  kNotFinite,        ///< a number of it is NaN or infinite (a force or torque limit may be infinite)
  kBadNormal,        ///< a normal is zero, or a tangent parallel to its normal
  kBadFriction,      ///< a coefficient, force limit or torsion radius is negative
  kBadMass,          ///< negative, or an inertia that no body has
  kOutwardNormals,   ///< every normal points away from the center of mass, without `object` or `interior_grasp`
  kMillimeters,      ///< contact farther than kMaxReach from the center of mass, or a torsion radius as long
  kBadHand,   ///< a mobility or mass matrix that is not symmetric and positive definite, a torque limit not above 0
  kLoadCase,  ///< counts for the grasp of load case 0
};
[[nodiscard]] constexpr auto names_of(GraspStatus) {
  return names("ranked", "no_contact", "too_many_contacts", "not_finite", "bad_normal", "bad_friction", "bad_mass",
               "outward_normals", "millimeters", "bad_hand", "load_case");
}
inline constexpr int kMaxSetContacts = 32;
inline constexpr int kMaxTorqueLimits = 32;  ///< or joints with a torque error
inline constexpr std::int64_t kMaxLoadCases = 32;
inline constexpr int kMaxWrenches = 32;     ///< in SetStudy::wrenches
inline constexpr double kMaxReach = 10;     ///< [m]
inline constexpr double kMaxFriction = 10;  ///< upper bound of the search for the required friction

/// Ranking with one entry per grasp. Entries of grasps without kRanked are NaN, with rank 0.
struct Ranking {
  std::vector<GraspStatus> status;
  std::vector<std::int64_t> held, unsolved;  ///< samples
  std::vector<std::int64_t> samples;         ///< of each grasp
  Hand hand = Hand::kIdeal;                  ///< model of the hand in this ranking
  /// Fraction of the decided samples that are held. Ideal hand: forces in the cones balance the
  /// wrench. Other hands: the contacts stick, the wrench can be balanced, and the command carries
  /// it.
  std::vector<double> p_held;
  /// Confidence interval of p_held: 95 % Clopper-Pearson. With `best`: a sequential interval of
  /// `confidence`, valid at any time. Unsolved samples widen it.
  std::vector<double> low, high;
  std::vector<double> difference;  ///< p_held minus the best grasp's, over samples decided for both
  /// Interval of `difference` from the same draws: 95 % (Agresti and Min, 2005); with `best` of
  /// `confidence`.
  std::vector<double> difference_low, difference_high;
  /// 5, 50, 95 % quantiles of the least friction coefficient, equal at all contacts, with which a
  /// sample is held. Infinity: above kMaxFriction.
  std::vector<std::array<double, 3>> required_friction;
  std::vector<double> p_no_slip;   ///< fraction whose contacts all stick; NaN for an ideal hand
  std::vector<double> p_resisted;  ///< fraction whose wrench can be balanced in the cones
  /// 5, 50, 95 % quantiles of the smallest friction margin 1 - |c_T| / (mu c_n); where forces are not
  /// unique, 1 - required friction / smallest mu. NaN for an ideal hand.
  std::vector<std::array<double, 3>> margin;
  /// Median radius of the largest ball |(F, M / length)| [N] of additional wrenches that the grasp
  /// resists, a lower bound; length: the radius of gyration. Ideal hand: wrenches that can be
  /// balanced, over the first radius_samples samples, NaN without force limits. Other hands: also
  /// all contacts stick, over the first friction_samples; NaN where forces are not unique, but of
  /// hands of one joint: wrenches that forces balance with which the joint rests under its command.
  std::vector<double> resisted_force_radius;
  std::vector<std::int64_t> non_unique;  ///< samples with a second certified solution of different motion; 0 for an
                                         ///< ideal hand
  std::vector<std::int64_t>
      limiting_contact;  ///< contact of the grasp, from 0, that fails most often; -1: none, or ideal
  std::vector<std::array<std::int64_t, kOutcomes>> outcomes;  ///< samples of each Outcome; an ideal hand has only
                                                              ///< the first two and the last
  /// 1 is the best: highest probability, then least required friction. With `best`, dropped grasps
  /// are ordered by the time at which they were dropped.
  std::vector<std::int64_t> rank;
  bool decided = true;  ///< `best`: true if the best were found before the samples ended
};

/// GraspSet that is read in blocks and may be larger than memory; io::SetFile reads one from a file.
class SetSource {
 public:
  virtual ~SetSource() = default;
  SetSource(const SetSource&) = delete;
  SetSource& operator=(const SetSource&) = delete;

  [[nodiscard]] virtual std::int64_t count() const = 0;
  /// Grasps first .. first + count - 1 as a set with the same arrays; without the hand's arrays if
  /// they have no contact.
  [[nodiscard]] virtual GraspSet read(std::int64_t first, std::int64_t count) const = 0;

 protected:
  SetSource() = default;
};

/// Called from time to time with the number of grasps decided. An exception from it ends the
/// ranking.
using SetProgress = std::function<void(std::int64_t)>;

/// Ranks all grasps of a set.
/// @param set grasps in SI units, object axes.
/// @param study uncertain inputs, number of samples and seed.
/// @param progress called from time to time; may be empty.
/// @return probability, interval, margins and rank per grasp. A grasp that cannot be ranked has a
///         GraspStatus.
/// @throws Error kInvalidFile for sizes (with array and row), kUsage for options or a set without
///         any load, kNoDevice if the device cannot run.
[[nodiscard]] Ranking rank(const GraspSet& set, const SetStudy& study, const Device& device = {},
                           const SetProgress& progress = {});

/// Same for a set larger than memory. The ranking takes some 350 bytes per grasp and 2 bits per
/// sample. Above 2 million ranked grasps `garra run` sorts on disk instead, with 48 bytes per grasp
/// (docs/theory/grasp-sets.md).
[[nodiscard]] Ranking rank(const SetSource& set, const SetStudy& study, const Device& device = {},
                           const SetProgress& progress = {});

/// One sample of one grasp in full. Forces are (n, t, o) of each contact in the sample's own frames
/// [N].
struct SetReplay {
  Hand hand = Hand::kIdeal;
  std::int64_t load_case = 0, load_cases = 1;  ///< the case that is shown, of so many
  Outcome outcome = Outcome::kUnsolved;
  std::vector<std::pair<std::string, double>>
      inputs;                         ///< drawn values: "mass", "contact 2 friction" (names count from 0)
  double mass = 0;                    ///< [kg]
  Vec3<double> com{}, gravity{};      ///< [m], [m/s^2]
  Vec<double, 6> wrench{};            ///< to be balanced, with the weight (force; moment) [N, N m]
  std::vector<double> point, normal;  ///< [k][3]
  std::vector<double> friction;       ///< [k]
  std::vector<double> force;          ///< [k][3] contact forces; ideal hand: forces that balance the wrench; NaN: none
  /// [k] radius of soft contacts [m] and moment about the normal [N m] (NaN: none); empty without
  /// soft contacts.
  std::vector<double> torsion_radius, torsion;
  std::vector<double> command;  ///< [k][3] commanded forces [N]; empty: ideal hand
  std::vector<int> state;       ///< [k] ContactState; empty: ideal hand
  Vec<double, 6> against{};     ///< ideal hand, not held: separating unit wrench (moment over length)
  Vec<double, 6> least_push{};  ///< ideal hand, held: added wrench of about the radius at which the balance
                                ///< fails (force; moment) [N, N m]; zero: none
  double residual = 0;          ///< of the contact problem; ideal hand: unbalanced part, relative to |w|
  double margin = 0, required_friction = 0, resisted_force_radius = 0, imbalance = 0;  ///< NaN where there is none
};

/// The options as JSON, as a ranking file has them: distributions as text, such as "normal(0.5, 0.1)".
[[nodiscard]] std::string describe_study(const SetStudy& study);

/// Recomputes one sample of one grasp with the draws of rank(). Of a grasp with load cases (its row of case 0) the case
/// that decides: one that is not held, else the one that needs the most friction; the other way where any case is
/// enough. Another row shows its own case.
/// @param grasp number of the grasp, from 0.
/// @param sample number of the sample, from 0.
/// @throws Error as rank(), and kUsage for a grasp or sample that does not exist or a grasp without
///         kRanked.
[[nodiscard]] SetReplay replay(const GraspSet& set, const SetStudy& study, std::int64_t grasp, std::int64_t sample);
[[nodiscard]] SetReplay replay(const SetSource& set, const SetStudy& study, std::int64_t grasp, std::int64_t sample);

/// Numbers of a row of samples(), and those of each contact that follow them.
inline constexpr int kSampleNumbers = 13, kSampleContactNumbers = 8;

/// Computes every sample of a set of one grasp and a hand with a command, with the draws of rank(),
/// on the CPU.
/// @return one row per sample: outcome, mass [kg], residual of the contact problem, sticks (every
///         contact does), resisted, imbalance, non_unique, drawn disturbance (force; moment about com)
///         [6]; then of each contact friction, ContactState, and (n, t, o) in the sample's own frames
///         of the force on the object [N] and of the acceleration of its point minus the hand's
///         [m/s^2]. NaN: undefined. Forces of redundant contacts are not unique; these leave every
///         contact at rest if some forces do.
/// @throws Error as rank(), and kUsage for an ideal hand or a grasp without kRanked.
[[nodiscard]] std::vector<double> samples(const GraspSet& set, const SetStudy& study);

// Names, labels, colors and descriptions for summary.json and reports.

/// Words per outcome, in the order of Outcome: name in files, label, color of the report, meaning,
/// and the evidence of the sample: against if none is named.
inline constexpr std::array<study::OutcomeWords, kOutcomes> kOutcomeWords = {{
    {"held", "held", "held",
     "forces leave the contacts at rest, can balance the wrench, and the given command carries it",
     study::Evidence::kFor},
    {"not_resisted", "not resisted", "accent", "no forces inside the friction cones can balance the wrench"},
    {"command_insufficient", "command insufficient", "ink",
     "forces could balance the wrench; those of the command do not, or one is above its limit"},
    {"slipping", "slipping", "slip", "some contact slips, none opens, and no forces leave the contacts at rest"},
    {"separating", "separating", "break", "some contact opens"},
    {"no_solution", "no solution", "muted", "proved: no contact forces satisfy the laws of rigid bodies and friction"},
    {"non_unique", "non-unique", "muted",
     "two different motions were found, both certified, and no forces leave the contacts at rest"},
    {"unreachable", "unreachable", "muted", "a finger cannot reach its contact"},
    {"unsolved", "unsolved", "muted", "the solver did not converge; may be any of the above",
     study::Evidence::kUnsolved},
}};

/// Words per status of a candidate grasp, in the order of GraspStatus.
inline constexpr int kGraspStatuses = static_cast<int>(names_of(GraspStatus{}).size());
inline constexpr std::array<study::OutcomeWords, kGraspStatuses> kGraspStatusWords = {{
    {"ranked", "ranked", "held", "has a place in the ranking"},
    {"no_contact", "no contact", "muted", "the grasp has no contact"},
    {"too_many_contacts", "too many contacts", "muted", "more than 32"},
    {"not_finite", "not finite", "muted", "a number of it is NaN or infinite"},
    {"bad_normal", "bad normal", "muted", "a normal is zero, or a tangent is parallel to its normal"},
    {"bad_friction", "bad friction", "muted", "a friction coefficient or a force limit is negative"},
    {"bad_mass", "bad mass", "muted", "the mass is negative, or the inertia is one that no body has"},
    {"outward_normals", "outward normals", "muted",
     "every normal points away from the center of mass, and nothing says that this is meant: they are to point into "
     "the object"},
    {"millimeters", "millimeters?", "muted", "a contact is more than 10 m away: lengths are in meters"},
    {"bad_hand", "bad hand", "muted", "its mobility or mass matrix is not symmetric and positive definite"},
    {"load_case", "load case", "muted", "counts for the grasp of load case 0"},
}};
static_assert(
    [] {
      bool same = true;
      for (std::size_t k = 0; k < kGraspStatusWords.size(); ++k)
        same = same && std::string_view(kGraspStatusWords[k].name) == names_of(GraspStatus{})[k];
      return same;
    }(),
    "the names of GraspStatus stand beside it");

/// Study, plan and set file of a run with job = "grasp_set". C++ programs call rank().
struct SetScenario {
  std::string title;
  std::string file;      ///< file of the set
  std::string checksum;  ///< "crc32:..." that the file must have; empty: not checked. The run stores it for resumption
  SetStudy study;
  study::Plan plan;  ///< counts grasps; chunk 0: as many as take a few seconds
};

}  // namespace garra::grasp
