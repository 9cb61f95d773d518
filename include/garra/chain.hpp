// Describes serial chains and builds their kernel form from DH, modified DH, GRyMA, screws or
// general joints.
// Takes: one description per joint (constants, limits, body) and RobotData. TOML and URDF files:
// garra/io.
// Gives: a Robot: kernel form, link frames, bodies, notes and warnings.
// Units and frames: SI, rad. X_W0 is the base in the world; gravity in world axes; bodies in link
// frames. Joints count from 0, also in error texts and names.
// Bad input: impossible descriptions throw Error(kUsage) that names the joint. Doubtful ones are
// built and listed in Robot::notes or ::warnings.
// Not for: closed loops, flexible joints, more than kMaxJoints (16) joints.
// Docs: docs/reference/robots.md, docs/theory/chain.md.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "garra/core/error.hpp"
#include "garra/systems/chain/model.hpp"

namespace garra::chain {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Joint: name, kind and limits. A continuous joint is revolute without position limits.
struct Joint {
  std::string name;
  bool prismatic = false;
  double lower = -kNoLimit, upper = kNoLimit;  ///< of q [rad or m]
  double velocity_limit = kNoLimit;            ///< of |qd| [rad/s or m/s]
  double effort_limit = kNoLimit;              ///< of |tau| [N m or N]
};

/// Rigid body in the axes of a described link frame.
struct Body {
  double mass = 0;                              ///< [kg]
  Vec3<double> com = Vec3<double>::zero();      ///< center of mass [m]
  Mat3<double> inertia = Mat3<double>::zero();  ///< about the center of mass [kg m^2]; entries of the tensor
};
/// Largest moment_ratio() of a link in a URDF file; above it reading throws. The builders below
/// only note ratios above 1, which no rigid body has but tables of real robots do (Allegro's
/// fingertips 1.3, Romeo's arms 4.9).
inline constexpr double kWorstMoment = 10;

/// Union of two bodies in the axes of `a`; X_ab is the pose of b's frame in a's frame.
[[nodiscard]] Body merge(const Body& a, const Body& b, const Pose<double>& X_ab);
/// True if the tensor is symmetric and no principal moment is negative. With `rigid` also: no
/// moment exceeds the sum of the other two (to 1e-4).
[[nodiscard]] bool is_inertia(const Mat3<double>& inertia, bool rigid);
/// Largest principal moment over the sum of the other two: at most 1 for a rigid body; infinite for
/// a needle's axis.
[[nodiscard]] double moment_ratio(const Mat3<double>& inertia);

/// Named frame fixed to the link that joint `joint` (from 0) moves: X_W,frame = X_W,joint * offset.
struct Frame {
  std::string name;
  int joint = -1;  ///< -1: fixed to the base; offset is then the pose in the world
  Pose<double> offset = Pose<double>::identity();
};

/// Joint of the description that the chain keeps fixed. The bodies distal to it count to the link
/// of the chain that carries them.
struct LockedJoint {
  std::string name;
  bool prismatic = false;
  double q = 0;     ///< fixed value [rad or m]
  double mass = 0;  ///< of a side branch: all bodies distal to the joint; on the chain itself: 0 [kg]
};

struct Followers;

/// Coupled joint, which follows another one of its chain: q = ratio * (q of the leader) + offset.
struct Coupling {
  int joint = 0, leader = 0;  ///< from 0; the leader follows no other joint
  double ratio = 1;           ///< [1, or rad/m and m/rad]
  double offset = 0;          ///< [rad or m]
};

/// Serial chain: kernel form and its relation to the description. Vectors per joint have `joints`
/// items.
struct Robot {
  std::string name;
  std::string source;  ///< source of its numbers
  int joints = 0;
  std::vector<Joint> joint;
  std::vector<JointForm<double>> form;           ///< kernel form of joints and links (model.hpp)
  Pose<double> base = Pose<double>::identity();  ///< X_W0 of kernel frame 0
  Pose<double> tool = Pose<double>::identity();  ///< tool in the last kernel frame
  std::vector<Frame> link;                       ///< the link frames as described, 1..n
  std::vector<Body> body;                        ///< the links as described, in the link frames
  Vec3<double> gravity = {{0, 0, -9.81}};        ///< world axes [m/s^2]
  Body payload = {};                             ///< URDF: payload of the tip link, in its frame; included in `body`
  std::vector<LockedJoint> locked;    ///< URDF: joints of side branches on moving links, and locked joints of the chain
  std::vector<Coupling> coupled;      ///< coupled joints, ascending; most functions accept none
  std::vector<std::string> notes;     ///< remarks on the description
  std::vector<std::string> warnings;  ///< possible mistakes: keys not read, an ambiguous order
};

/// Joints that follow no other joint, ascending, from 0. Their values are the coordinates of the
/// chain.
[[nodiscard]] std::vector<int> coordinates(const Robot& robot);
/// Limits of a coordinate: the joint's own limits, narrowed by those of the joints that follow it.
[[nodiscard]] Joint coordinate_limits(const Robot& robot, int joint);
/// Couplings in kernel form.
[[nodiscard]] Followers find_followers(const Robot& robot);
/// Rejects chains with coupled joints for the function named `what`. @throws Error kUsage if a
/// joint is coupled.
void require_uncoupled(const Robot& robot, const std::string& what);

/// Kernel form of a robot with J joints. @throws Error kUsage for another number of joints.
template <int J>
[[nodiscard]] Model<double, J> make_model(const Robot& robot) {
  if (robot.joints != J) {
    throw Error(ExitCode::kUsage, "the robot \"" + robot.name + "\" has " + std::to_string(robot.joints) +
                                      " joints, not " + std::to_string(J));
  }
  Model<double, J> model{};
  for (int i = 0; i < J; ++i) {
    model.joint[i] = robot.form[static_cast<std::size_t>(i)];
    model.prismatic[i] = robot.joint[static_cast<std::size_t>(i)].prismatic;
  }
  model.base = robot.base;
  model.tool = robot.tool;
  model.gravity = robot.gravity;
  return model;
}

// Descriptions. All builders throw Error(kUsage) for no joint or more than kMaxJoints, a zero axis,
// a number that is not finite, or an impossible body. Angles within 2.2e-13 rad of a multiple of 90
// degrees are exact.

/// Data of one joint and its link, common to all descriptions.
struct LinkData {
  std::string frame = {};  ///< the link frame's name; "" becomes "link i"
  Joint joint = {};        ///< GRyMA and screw descriptions set `prismatic` themselves
  Body body = {};          ///< in the described link frame
  double armature = 0;     ///< rotor inertia seen at the joint [kg m^2 or kg]
  double damping = 0;      ///< viscous [N m s/rad or N s/m]
};

/// Data of the whole chain, common to all descriptions.
struct RobotData {
  std::string name = {}, source = {};
  Pose<double> base = Pose<double>::identity();  ///< of the description's base frame in the world
  Pose<double> tool = Pose<double>::identity();  ///< of the tool in the last described link frame
  Vec3<double> gravity = {{0, 0, -9.81}};
};

/// Row of Denavit-Hartenberg constants [m, rad]. q is added to theta of a revolute joint and to d
/// of a prismatic joint.
struct DhJoint {
  double a = 0, d = 0, alpha = 0, theta = 0;
  LinkData link = {};
};
/// Standard Denavit-Hartenberg form, T_i = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i). @throws Error
/// kUsage.
[[nodiscard]] Robot from_dh(const RobotData& data, const std::vector<DhJoint>& joints);
/// Modified (Craig's) form, T_i = Rx(alpha_i) Tx(a_i) Rz(theta_i) Tz(d_i). The row of joint i holds
/// Craig's a_{i-1} and alpha_{i-1}. @throws Error kUsage.
[[nodiscard]] Robot from_modified_dh(const RobotData& data, const std::vector<DhJoint>& joints);
/// Corke's PUMA 560 in standard form (Corke and Armstrong-Helouvry, ICRA 1994), without pedestal (d
/// of joint 1 is 0) and tool. `armature`: with the rotor inertias G^2 Jm.
[[nodiscard]] std::vector<DhJoint> puma560(bool armature = true);

/// Row of the GRyMA convention: translation d in the parent frame, then the joint. All frames are
/// parallel at q = 0. Theta codes: 0 fixed, 1 2 3 prismatic along x y z, 4 5 6 revolute about x y
/// z, 7 prismatic and 8 revolute along (cos alpha sin beta, sin alpha sin beta, cos beta).
struct GrymaJoint {
  int theta = 0;
  Vec3<double> d = Vec3<double>::zero();  ///< origin in the parent frame at q = 0 [m]
  double alpha = 0, beta = 0;             ///< azimuth, and polar angle from z [rad]
  LinkData link = {};
};
/// GRyMA form. Rows with code 0 are merged into the previous link; rows behind the last joint move
/// the tool.
/// @throws Error kUsage.
[[nodiscard]] Robot from_gryma(const RobotData& data, const std::vector<GrymaJoint>& joints);

/// Screw of a joint at q = 0, in base axes about the base origin. A zero direction is a prismatic
/// joint along `moment`.
struct ScrewJoint {
  Vec3<double> direction = Vec3<double>::zero(), moment = Vec3<double>::zero();
  Pose<double> frame = Pose<double>::identity();  ///< of the link frame in the base at q = 0
  LinkData link = {};
};
/// Product of exponentials. `data.tool` is the tool's pose in the base at q = 0 (home pose).
/// @throws Error kUsage.
[[nodiscard]] Robot from_screws(const RobotData& data, const std::vector<ScrewJoint>& joints);

/// General joint: T_i(q) = placement * (rotation about, or shift along, axis by q) * after.
struct GeneralJoint {
  Pose<double> placement = Pose<double>::identity();  ///< joint frame in the parent link's frame
  Vec3<double> axis = {{0, 0, 1}};                    ///< in the joint frame; any length but zero
  Pose<double> after = Pose<double>::identity();      ///< link frame in the joint frame
  LinkData link = {};
};
/// Chain of general joints. @throws Error kUsage.
[[nodiscard]] Robot from_joints(const RobotData& data, const std::vector<GeneralJoint>& joints);

/// Row of the kernel form with its described link frame, as printed by `garra check --format toml`:
/// T_i = Rx(alpha) T(a, b, 0) Rz(theta) Tz(d) in m and rad; q adds to theta or d. It restores a
/// robot of any description to the last bit.
struct KernelJoint {
  double a = 0, b = 0, d = 0, cos_alpha = 1, sin_alpha = 0, theta = 0;
  Pose<double> frame = Pose<double>::identity();  ///< of the link frame in the kernel frame
  LinkData link = {};
};
/// Kernel form. `data.base` and `data.tool` refer to the kernel frames. @throws Error kUsage.
[[nodiscard]] Robot from_kernel_form(const RobotData& data, const std::vector<KernelJoint>& joints);

}  // namespace garra::chain
