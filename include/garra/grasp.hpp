// Estimates the probability that a hand of serial-chain fingers holds an object under uncertain
// inputs (`garra run`).
// Takes: a Scenario: fingers, contacts, object, distributions and plan; with `time` samples are
// trajectories.
// Gives: Robustness: P(held) with its 95 % interval, counts of each Outcome, and the text of
// summary.json.
// Units and frames: SI. Palm frame P, object frame at the center of mass, contact axes (n, t, o), n
// inward; contacts count from 0, also in input names.
// Bad input: an impossible nominal grasp or wrong input throws Error. A sample that fails is
// counted as an outcome.
// Not for: collisions, joint limits at one instant; many candidate grasps (grasp_set.hpp); more than
// kMaxContacts (8) contacts, of groups of objects kMaxGroupContacts (32).
// Docs: docs/theory/grasp-model.md, docs/theory/grasp-groups.md, docs/theory/monte-carlo.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/chain.hpp"
#include "garra/core/names.hpp"
#include "garra/grasp_time.hpp"
#include "garra/study/distribution.hpp"
#include "garra/study/study.hpp"

namespace garra::grasp {

using study::Distribution;

inline constexpr int kMaxContacts = 8;
inline constexpr int kMaxGroupContacts = 32;  ///< of a group (is_group())

/// Acceleration tolerance of the decision "at rest": 0.01 g, or 5 cm in the first second.
inline constexpr double kHeldAcceleration = 0.0981;  ///< [m/s^2]

enum class Shape { kSphere, kBox, kCylinder, kPoints };
[[nodiscard]] constexpr auto names_of(Shape) { return names("sphere", "box", "cylinder", "points"); }

/// Object with its frame at the center of mass. Lengths in m, mass in kg.
struct Object {
  std::string name;  ///< by which contacts refer to it, if there are several
  Shape shape = Shape::kSphere;
  double radius = 0.1;                    ///< sphere, cylinder
  double height = 0.2;                    ///< cylinder (axis z)
  Vec3<double> size = {{0.1, 0.1, 0.1}};  ///< box, full edge lengths
  Vec3<double> gyration2 = {{0, 0, 0}};   ///< points: principal moments of inertia per mass [m^2]
  Distribution mass = Distribution::constant(1.0);
  Distribution scale = Distribution::constant(1.0);  ///< factor on all lengths of the object
  Vec3<double> position = {{0, 0, 0.3}};             ///< nominal center of mass in the palm frame P [m]
  Vec3<double> rpy = {{0, 0, 0}};                    ///< nominal orientation in P [rad]
  Distribution shift[3];                             ///< deviation of the position [m], palm axes
  Distribution turn[3];                              ///< deviation of the orientation, rotation vector [rad], palm axes
};

/// Friction law of a contact.
enum class ContactLaw {
  kHard,          ///< point contact with friction
  kFrictionless,  ///< normal force only
  kSoft,          ///< point contact with friction that also bears a moment about its normal
};
[[nodiscard]] constexpr auto names_of(ContactLaw) { return names("hard", "frictionless", "soft"); }

/// What touches an object at a contact.
struct Partner {
  enum class Kind {
    kFinger,   ///< a link of a finger
    kObject,   ///< another object
    kFixture,  ///< the palm, a table: stands still in the palm frame
  };
  Kind kind = Kind::kFinger;
  int number = -1;                          ///< of the finger or object; -1: the finger with the contact's number
  int link = -1;                            ///< of a finger, from 0; -1: the last one, with the fingertip
  double curvature_t = 0, curvature_o = 0;  ///< of an object or fixture there, along the contact's t and o [1/m]
  [[nodiscard]] bool operator==(const Partner&) const = default;
};

/// Contact of an object with a finger, another object or a fixture, in the object's frame: a point and a frame with
/// columns x = t, y = o, z = n (inward normal).
struct Contact {
  int object = 0;  ///< Scenario::object is 0, Scenario::others follow
  Partner partner;
  ContactLaw law = ContactLaw::kHard;
  double torsion_radius = 0;  ///< r of a soft contact [m]: |(c_t, c_o, moment / r)| <= mu c_n
  bool slides = false;        ///< of a hard one: it slips at the instant, and friction opposes the slip
  /// Direction (t, o) of the slip of the object relative to its partner; 0: from the object's motion and Finger::rates.
  Vec<double, 2> slip = {{0, 0}};
  Vec3<double> point = {{0, 0, 0}};
  Mat3<double> frame = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
  double curvature_t = 0, curvature_o = 0;  ///< of the surface along t and o [1/m]
  double angle_sign = 0;                    ///< Scenario::angle moves the contact along o by this factor, -1 ... 1
  Distribution friction = Distribution::constant(0.5);
  bool common_friction = false;   ///< `friction` is a factor on Scenario::common_friction instead of the coefficient
  Distribution slide_t, slide_o;  ///< deviation of the contact point along the surface [m]
  Distribution tilt = Distribution::constant(0);              ///< angle between the true and the modeled normal [rad]
  Distribution grip_force_error = Distribution::constant(0);  ///< added to the commanded normal force [N]
  /// Largest normal force of the finger or the object [N], for the wrench balance check; infinity:
  /// no limit.
  double force_limit = std::numeric_limits<double>::infinity();
  std::optional<Distribution> grip_force;  ///< commanded normal force [N] instead of Scenario::grip_force
  /// Complete command (n, t, o) [N] in nominal contact axes; the controller adds nothing to balance
  /// a load.
  std::optional<Vec3<double>> force;
};

enum class Ik { kPuma, kNumeric };
[[nodiscard]] constexpr auto names_of(Ik) { return names("puma", "numeric"); }

/// Robot file that a finger was read from, as the scenario gives it.
struct FingerFile {
  std::string name;            ///< as the scenario has it
  std::string path;            ///< the file that was read
  std::string root_link, tip;  ///< URDF: first and last link of the finger
};

/// Finger: a serial chain on a base. kPuma: the tip is at the contact with z along the inward
/// normal. kNumeric: only the tip position is at the contact, by damped least squares from `start`.
struct Finger {
  std::vector<chain::DhJoint> joints;  ///< from the base to the tip; empty if `robot` is given
  bool modified = false;               ///< rows in Craig's (modified) form instead of the standard one
  /// Fingertip frame in the last link's frame, or in the tool frame of `robot`.
  Pose<double> tool = Pose<double>::identity();
  /// Radius of a ball about the fingertip, whose surface touches [m]; 0: point fingertip.
  double tip_radius = 0;
  Pose<double> base = Pose<double>::identity();  ///< base frame (of a robot: its world) in P
  Ik ik = Ik::kPuma;
  int arm = -1, elbow = 1, wrist = 1;      ///< kPuma branch: arm r/l = +1/-1, elbow u/d, wrist n/f = +1/-1
  double start[chain::kMaxJoints] = {};    ///< kNumeric: initial guess [rad or m]
  std::optional<chain::Robot> robot = {};  ///< any chain, with its own tool and base, instead of rows
  FingerFile file = {};                    ///< source of `robot`

  [[nodiscard]] std::size_t joint_count() const { return robot ? robot->joint.size() : joints.size(); }
  [[nodiscard]] bool prismatic(std::size_t i) const {
    return robot ? robot->joint[i].prismatic : joints[i].link.joint.prismatic;
  }
  std::vector<double> tau = {};      ///< commanded torque per joint [N m or N], instead of forces; empty: the grasp
                                     ///< controller
  bool gravity_compensation = true;  ///< false: this finger's Scenario::compensation is 0
  std::vector<double> rates = {};    ///< of the joints [rad/s or m/s], if its contacts slide; empty: the fingertip
                                     ///< follows the surface along the normal only
  /// Limit of |torque| of each joint [N m or N]; infinity or empty: no limit. Commanded torques are
  /// clipped to it, and forces that balance a wrench must respect it. In time it acts as
  /// InTime::torque_limit.
  std::vector<double> torque_limit = {};
};

/// Compliant arm that carries the palm. Its motors balance the weight of arm and hand and the
/// commanded finger forces; it has no brakes. Only at one instant, without torques of its own.
struct Arm {
  std::string root_link;              ///< URDF: fixed first link
  std::vector<double> q;              ///< joint values [rad or m]
  chain::Robot carrier;               ///< the arm with the whole hand as a rigid part of it; its tool is the palm
  std::vector<chain::Robot> fingers;  ///< from its root to each fingertip, arm joints first; the other fingers are
                                      ///< rigid, as in `carrier`
};
inline constexpr std::size_t kMaxArmJoints = 8;

/// Scenario of a grasp study.
struct Scenario {
  std::string title;
  std::vector<Finger> fingers;
  std::optional<Arm> arm;  ///< arm that carries the palm; unset: the palm is fixed
  std::vector<Contact> contacts;
  Object object;               ///< external wrenches act on it
  std::vector<Object> others;  ///< further objects of a group
  Vec3<double> gravity = {{0, 0, -9.81}};
  Distribution angle = Distribution::constant(0);            ///< common contact angle, about the object's z [rad]
  Distribution grip_force = Distribution::constant(15);      ///< commanded normal force per contact [N]
  Distribution common_friction = Distribution::constant(1);  ///< one draw for all contacts that have common_friction
  Distribution compensation = Distribution::constant(1);  ///< factor on the fingers' gravity and Coriolis compensation
  Vec3<double> force = {{0, 0, 0}};                       ///< constant part of the external wrench [N]
  Vec3<double> torque = {{0, 0, 0}};                      ///< [N m], about the center of mass
  Distribution force_magnitude = Distribution::constant(0);   ///< random part, uniform direction [N]
  Distribution torque_magnitude = Distribution::constant(0);  ///< [N m]
  double nominal_mass = 0;              ///< mass that the controller balances [kg]; 0: the nominal of object.mass
  Vec3<double> velocity = {{0, 0, 0}};  ///< of the center of mass [m/s]; the fingers follow (rolling)
  Vec3<double> angular_velocity = {{0, 0, 0}};  ///< [rad/s]
  std::string method = "auto";                  ///< contact solver: a name of contact::Method, but for lemke
  double tolerance = 1e-9;                      ///< of its certificate
  int max_iterations = 1000;       ///< of one contact problem, over all stages; 0: the own limit of the method
  std::string effort = "bounded";  ///< or "full": every solver to its own limit (docs/theory/contact-solver.md, Effort)
  bool check_uniqueness = true;    ///< solve again from another initial guess and report a second solution
  double held_imbalance = 0.5;     ///< carried: unbalanced part <= this fraction of (weight + external wrench)
  double held_acceleration = kHeldAcceleration;  ///< contact at rest: |a| <= this; contact opens: a_n > this [m/s^2]
  std::optional<InTime> time;                    ///< trajectories instead of one instant
  study::Plan plan;
  std::vector<std::string> warnings;  ///< possible mistakes in the scenario file
};

/// Object k of a scenario, from 0.
[[nodiscard]] inline const Object& nth_object(const Scenario& s, int k) {
  return k == 0 ? s.object : s.others[static_cast<std::size_t>(k - 1)];
}
/// Finger of contact j; -1: none.
[[nodiscard]] inline int contact_finger(const Scenario& s, std::size_t j) {
  const Partner& p = s.contacts[j].partner;
  if (p.kind != Partner::Kind::kFinger) return -1;
  return p.number < 0 ? static_cast<int>(j) : p.number;
}
/// Whether a scenario is a group: several objects, contacts without a finger, with links or several on a finger, or
/// contacts that are not hard (docs/theory/grasp-groups.md).
[[nodiscard]] bool is_group(const Scenario& scenario);
/// Whether contacts of a scenario slide at the instant (docs/theory/grasp-sliding.md).
[[nodiscard]] bool any_slides(const Scenario& scenario);

/// Scalar uncertain input of a scenario.
struct Input {
  std::string name;  ///< as in the report: "mass", "contact 2 friction"
  std::string unit;
  Distribution distribution;
};
/// Uncertain inputs in the order in which uniforms are drawn.
[[nodiscard]] std::vector<Input> uncertain_inputs(const Scenario& scenario);

/// Median of the friction coefficient of contact j (from 0).
[[nodiscard]] double nominal_friction(const Scenario& scenario, std::size_t j);

/// Inconsistent parts of a command and their place in the scenario.
struct CommandProblem {
  enum class Table { kContact, kFinger, kDrive, kHand, kObject };
  Table table;
  int index;  ///< of the contact, finger or object, from 0; -1: none
  std::string key, problem, remedy;
};
/// First inconsistency of the objects and contacts of a group: unknown or repeated names, interpenetration, what
/// touches nothing; unset: none, or no group.
[[nodiscard]] std::optional<CommandProblem> group_problem(const Scenario& scenario);
/// First inconsistency of the commands of a scenario; unset: none.
[[nodiscard]] std::optional<CommandProblem> command_problem(const Scenario& scenario);

/// Outcome of a sample. docs/theory/monte-carlo.md defines the priority if several apply.
enum class Outcome : int {
  kHeld = 0,             ///< forces leave the contacts at rest, the wrench can be balanced, and the command carries it
  kNotResisted,          ///< certified: no forces within the friction cones and limits balance the wrench
  kCommandInsufficient,  ///< they exist, but the command leaves more than `held_imbalance`, or forces exceed limits
  kSlipping,             ///< some contact slips, none separates
  kSeparating,           ///< some contact opens
  kNoSolution,           ///< proved: the contact problem has no solution
  kSeveral,              ///< two certified solutions with different motions; no forces leave the contacts at rest
  kUnreachable,          ///< a finger cannot reach its contact
  kUnsolved,             ///< the solver did not converge, or the balance check is undecided: may be any outcome
                         ///< above
};
inline constexpr int kOutcomes = 9;
[[nodiscard]] const char* to_string(Outcome outcome);

/// Contact state after the instant, as in the papers.
enum class ContactState : int { kStick = 0, kSlip = 1, kBreak = 2 };

/// Result of a grasp study, at one instant or in time.
struct Robustness {
  std::int64_t samples = 0;
  /// P(held) among the decided samples; with `time`: in the hand until its end. NaN without a
  /// decided sample.
  double probability = 0;
  study::Interval interval;  ///< 95 %; unsolved samples widen it
  double no_slip = 0;        ///< P(every contact sticks), even if the object moves; NaN with `time`
  double resisted = 0;       ///< P(forces within the cones and limits can balance the wrench); NaN with `time`
  /// Samples of each Outcome; with `time`: of each MotionEnd, at all levels.
  std::array<std::int64_t, kOutcomes> outcomes{};
  /// All counts: the bytes of summary.json (docs/reference/run-folder.md).
  std::string summary_json;
};

/// Runs a grasp study in memory until a stopping rule of `scenario.plan` holds. Results depend on
/// the seed, not on the number of threads.
/// @param scenario hand, object, uncertain inputs and plan; with `time`, samples are trajectories.
/// @return probability of holding with its interval and all counts. A sample that fails is counted.
/// @throws Error for an impossible nominal grasp, and kNoDevice if the device cannot run.
[[nodiscard]] Robustness robustness(const Scenario& scenario, const Device& device = {});

/// Same study for study::run (study/engine.hpp), with progress, cancellation and stored chunks.
/// @throws Error as above.
[[nodiscard]] std::unique_ptr<study::Study> make_study(const Scenario& scenario);

}  // namespace garra::grasp
