// The grasp study: a hand of serial-chain fingers holding an object, with uncertain inputs, and how likely it holds.
// The entry for C++ users and for `garra run`. docs/theory/grasp-model.md, docs/theory/monte-carlo.md.
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

/// 0.01 g: a numerical tolerance. It would be 5 cm in a second if it lasted.
inline constexpr double kHeldAcceleration = 0.0981;  ///< [m/s^2]

enum class Shape { kSphere, kBox, kCylinder, kPoints };
[[nodiscard]] constexpr auto names_of(Shape) { return names("sphere", "box", "cylinder", "points"); }

/// The object; its frame sits at the centre of mass. Lengths m, mass kg.
struct Object {
  Shape shape = Shape::kSphere;
  double radius = 0.1;                    ///< sphere, cylinder
  double height = 0.2;                    ///< cylinder (axis z)
  Vec3<double> size = {{0.1, 0.1, 0.1}};  ///< box, full edge lengths
  Vec3<double> gyration2 = {{0, 0, 0}};   ///< points: principal moments of inertia per mass [m^2]
  Distribution mass = Distribution::constant(1.0);
  Distribution scale = Distribution::constant(1.0);  ///< factor on all lengths of the object
  Vec3<double> position = {{0, 0, 0.3}};             ///< nominal centre of mass in the palm frame P
  Vec3<double> rpy = {{0, 0, 0}};                    ///< nominal orientation in P
  Distribution shift[3];                             ///< deviation of the position [m], palm axes
  Distribution turn[3];                              ///< deviation of the orientation, rotation vector [rad], palm axes
};

/// Where a finger touches, in the object frame: given by place on the shape, resolved to a point and a frame.
/// Frame columns: x = t, y = o, z = n, the inward normal.
struct Contact {
  Vec3<double> point = {{0, 0, 0}};
  Mat3<double> frame = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
  double curvature_t = 0, curvature_o = 0;  ///< of the surface along t and o [1/m]
  double angle_sign = 0;                    ///< how the hand's common contact angle moves it along o: -1, 0, +1
  Distribution friction = Distribution::constant(0.5);
  bool common_friction = false;   ///< `friction` is a factor on Scenario::common_friction instead of the coefficient
  Distribution slide_t, slide_o;  ///< deviation of the contact point along the surface [m]
  Distribution tilt = Distribution::constant(0);           ///< angle between the true and the modelled normal [rad]
  Distribution squeeze_error = Distribution::constant(0);  ///< added to the commanded normal force [N]
  /// Largest normal force of the finger or the object [N], for whether a wrench can be balanced; infinity: none.
  double force_limit = std::numeric_limits<double>::infinity();
  std::optional<Distribution> squeeze;  ///< commanded normal force [N] instead of Scenario::squeeze
  std::optional<Vec3<double>> force;    ///< the whole command (n, t, o) [N], nominal contact axes; nothing is added to
                                        ///< balance a load
};

enum class Ik { kPuma, kNumeric };
[[nodiscard]] constexpr auto names_of(Ik) { return names("puma", "numeric"); }

/// A robot file that a finger was read from, and how: what a scenario says of it.
struct FingerFile {
  std::string name;            ///< as the scenario has it
  std::string path;            ///< the file that was read
  std::string root_link, tip;  ///< URDF: links that the finger is between
};

/// One finger: a chain on a base; its tip is at the contact with z along the inward normal (kPuma), or only its tip
/// position is at the contact (kNumeric, damped least squares from `start`).
struct Finger {
  std::vector<chain::DhJoint> joints;  ///< from the base to the tip; empty where `robot` is given
  bool modified = false;               ///< rows in Craig's (modified) form instead of the standard one
  /// Fingertip in the last link's frame, or in the tool frame of `robot`.
  Pose<double> tool = Pose<double>::identity();
  /// Of a ball about the fingertip, which touches with its surface; 0: the fingertip itself [m].
  double tip_radius = 0;
  Pose<double> base = Pose<double>::identity();  ///< base frame (of a robot: its world) in P
  Ik ik = Ik::kPuma;
  int arm = -1, elbow = 1, wrist = 1;      ///< kPuma branch: arm r/l = +1/-1, elbow u/d, wrist n/f = +1/-1
  double start[chain::kMaxJoints] = {};    ///< kNumeric: first guess [rad]
  std::optional<chain::Robot> robot = {};  ///< any chain, with its own tool and base, instead of rows
  FingerFile file = {};                    ///< where `robot` comes from

  [[nodiscard]] std::size_t joint_count() const { return robot ? robot->joint.size() : joints.size(); }
  [[nodiscard]] bool prismatic(std::size_t i) const {
    return robot ? robot->joint[i].prismatic : joints[i].link.joint.prismatic;
  }
  std::vector<double> tau = {};  ///< the command: a torque per joint [N m or N], instead of any force; empty: the grasp
                                 ///< controller's
  bool gravity_compensation = true;  ///< false: this finger's Scenario::compensation is 0
  /// Of |torque| of each joint [N m or N], infinity: none; empty: no limits. Commanded torques are cut off there, and
  /// forces that balance a wrench must not need more. In time what InTime::torque_limit is.
  std::vector<double> torque_limit = {};
};

/// An arm that carries the palm and gives way: its motors hold it and the hand against gravity, and for what the
/// fingers are commanded to press with, but it is not braked. At one instant only, without torques of its own.
struct Arm {
  std::string root_link;              ///< URDF: where it begins, which stands still
  std::vector<double> q;              ///< where its joints stand [rad or m]
  chain::Robot carrier;               ///< the arm with the whole hand as a rigid part of it; its tool is the palm
  std::vector<chain::Robot> fingers;  ///< from its root to each fingertip, its own joints first; the other fingers
                                      ///< stand as `carrier` has them
};
inline constexpr std::size_t kMaxArmJoints = 8;

/// Everything a grasp study is made of. One finger per contact.
struct Scenario {
  std::string title;
  std::vector<Finger> fingers;
  std::optional<Arm> arm;  ///< what the fingers' palm is carried by; none: it stands still
  std::vector<Contact> contacts;
  Object object;
  Vec3<double> gravity = {{0, 0, -9.81}};
  Distribution angle = Distribution::constant(0);            ///< deviation of the common contact angle sigma [rad]
  Distribution squeeze = Distribution::constant(15);         ///< commanded normal force per contact [N]
  Distribution common_friction = Distribution::constant(1);  ///< one draw for all contacts that have common_friction
  Distribution compensation = Distribution::constant(1);  ///< factor on the fingers' gravity and Coriolis compensation
  Vec3<double> force = {{0, 0, 0}};                       ///< constant part of the external wrench [N]
  Vec3<double> torque = {{0, 0, 0}};                      ///< [N m], about the centre of mass
  Distribution force_magnitude = Distribution::constant(0);   ///< random part, uniform direction [N]
  Distribution torque_magnitude = Distribution::constant(0);  ///< [N m]
  double nominal_mass = 0;              ///< mass that the controller balances [kg]; 0: the nominal of object.mass
  Vec3<double> velocity = {{0, 0, 0}};  ///< of the centre of mass [m/s]; the fingers follow (rolling)
  Vec3<double> angular_velocity = {{0, 0, 0}};  ///< [rad/s]
  double tol = 1e-9;                            ///< contact solver
  int max_iterations = 1000;                    ///< of one contact problem, over all stages
  std::string effort = "bounded";  ///< or "full": every solver to its own limit (docs/theory/contact-solver.md, Effort)
  bool check_uniqueness = true;    ///< solve again from another start and report a second solution
  double held_imbalance = 0.5;     ///< carried: what the command leaves unbalanced <= this (weight + external wrench)
  double held_acceleration = kHeldAcceleration;  ///< at rest: |a| of a contact <= this; it opens: a_n above [m/s^2]
  std::optional<InTime> time;                    ///< trajectories instead of one instant
  study::Plan plan;
  std::vector<std::string> warnings;  ///< what may not be as meant in the file that it was read from
};

/// One scalar uncertain input of a scenario, in the order in which uniforms are drawn.
struct Input {
  std::string name;  ///< as in the report: "mass", "contact 2 friction"
  std::string unit;
  Distribution distribution;
};
[[nodiscard]] std::vector<Input> uncertain_inputs(const Scenario& scenario);

/// Median of the friction coefficient of contact j (from 0).
[[nodiscard]] double nominal_friction(const Scenario& scenario, std::size_t j);

/// Parts of a command that do not go together, and where they are written.
struct CommandProblem {
  enum class Table { kContact, kFinger, kDrive, kHand };
  Table table;
  int index;  ///< of the contact or finger, from 0; -1: none
  std::string key, problem, remedy;
};
[[nodiscard]] std::optional<CommandProblem> command_problem(const Scenario& scenario);

/// Outcome of a sample; which one counts where several apply: docs/theory/monte-carlo.md.
enum class Outcome : int {
  kHeld = 0,     ///< forces leave the contacts at rest, the wrench can be balanced, and the command carries it
  kNotResisted,  ///< no forces within the friction cones and limits can balance the wrench: certified
  kNotCarried,   ///< they could, but the command leaves more than `held_imbalance` of it unbalanced
  kSlipping,     ///< some contact slips, none separates
  kSeparating,   ///< some contact opens
  kNoSolution,   ///< proved to have none
  kSeveral,      ///< two different solutions were found and certified, and no forces leave the contacts at rest
  kUnreachable,  ///< a finger cannot reach its contact
  kUnsolved,  ///< the solver did not converge, or whether the wrench can be balanced is not decided: may be any of the
              ///< above
};
inline constexpr int kOutcomes = 9;
[[nodiscard]] const char* to_string(Outcome outcome);

/// How a contact ends: the papers' contact states.
enum class ContactState : int { kStick = 0, kSlip = 1, kBreak = 2 };

/// How likely the grasp holds: the answer of a study, at one instant or in time.
struct Robustness {
  std::int64_t samples = 0;
  /// P(held) among the decided samples, with `time`: in the hand until its end; NaN where none is.
  double probability = 0;
  study::Interval interval;  ///< 95 %; unsolved samples widen it
  double no_slip = 0;        ///< P(every contact sticks), whether or not the object stays in place; NaN with `time`
  double can_be_held = 0;    ///< P(forces within the cones and limits can balance the wrench); NaN with `time`
  /// Samples of each Outcome; with `time` of each MotionEnd, at all levels.
  std::array<std::int64_t, kOutcomes> outcomes{};
  /// Everything that was counted: summary.json of docs/reference/run-folder.md, the same bytes.
  std::string summary_json;
};

/// Draws and solves the samples of `scenario.plan`, as trajectories where it has `time`, until a rule says stop;
/// nothing is written to disk. The same seed gives the same answer for any number of threads. Throws Error where the
/// nominal grasp is impossible or the device cannot run; a sample that fails is counted, never an exception.
[[nodiscard]] Robustness robustness(const Scenario& scenario, const Device& device = {});

/// The same study for study::run (study/engine.hpp): with progress, cancelling, and chunks that are kept. Throws as
/// above.
[[nodiscard]] std::unique_ptr<study::Study> make_study(const Scenario& scenario);

}  // namespace garra::grasp
