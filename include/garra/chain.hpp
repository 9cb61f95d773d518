// Serial chains: every description comes in here and leaves as one kernel form (docs/reference/robots.md,
// docs/theory/chain.md).
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "garra/core/error.hpp"
#include "garra/systems/chain/model.hpp"

namespace garra::chain {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// A joint's name, kind and limits. A continuous joint is revolute without position limits.
struct Joint {
  std::string name;
  bool prismatic = false;
  double lower = -kNoLimit, upper = kNoLimit;  ///< of q [rad or m]
  double velocity_limit = kNoLimit;            ///< of |qd| [rad/s or m/s]
  double effort_limit = kNoLimit;              ///< of |tau| [N m or N]
};

/// A rigid body in the axes of a described link frame.
struct Body {
  double mass = 0;                              ///< [kg]
  Vec3<double> com = Vec3<double>::zero();      ///< center of mass [m]
  Mat3<double> inertia = Mat3<double>::zero();  ///< about the center of mass [kg m^2]; entries of the tensor
};
/// A principal moment above the sum of the other two belongs to no mass distribution, but tables of real robots have it
/// (Allegro's fingertips 1.3 times the sum, Romeo's arms 4.9 times): up to this factor a warning, beyond it an error.
inline constexpr double kWorstMoment = 10;

/// Both bodies as one, in the axes of a; X_ab is the pose of b's frame in a's.
[[nodiscard]] Body merge(const Body& a, const Body& b, const Pose<double>& X_ab);
/// No negative principal moment; `rigid`: and none above the sum of the other two (to 1e-4), which no mass distribution
/// has.
[[nodiscard]] bool is_inertia(const Mat3<double>& inertia, bool rigid);
/// Largest principal moment over the sum of the other two: at most 1 for a rigid body; infinite for a needle's axis.
[[nodiscard]] double moment_ratio(const Mat3<double>& inertia);

/// A frame that the user knows, fixed to what joint number `joint` (from 0) moves: X_W,frame = X_W,joint * offset.
struct Frame {
  std::string name;
  int joint = -1;  ///< -1: fixed to the base, offset is then its pose in the world
  Pose<double> offset = Pose<double>::identity();
};

/// A joint that the description has and the chain does not: it stands still, what it carries is part of the chain's
/// link.
struct LockedJoint {
  std::string name;
  bool prismatic = false;
  double q = 0;     ///< where it stands [rad or m]
  double mass = 0;  ///< of all that hangs behind it and is no part of the chain [kg]
};

struct Followers;

/// A joint that follows another one of its chain: q = ratio * (q of the leader) + offset.
struct Coupling {
  int joint = 0, leader = 0;  ///< from 0; the leader follows no other joint
  double ratio = 1;           ///< [1, or rad/m and m/rad]
  double offset = 0;          ///< [rad or m]
};

/// A serial chain: kernel form, and what ties it to its description. All vectors have `joints` items.
struct Robot {
  std::string name;
  std::string source;  ///< where its numbers come from
  int joints = 0;
  std::vector<Joint> joint;
  std::vector<JointForm<double>> form;           ///< kernel form of joints and links (model.hpp)
  Pose<double> base = Pose<double>::identity();  ///< X_W0 of kernel frame 0
  Pose<double> tool = Pose<double>::identity();  ///< tool in the last kernel frame
  std::vector<Frame> link;                       ///< the link frames as described, 1..n
  std::vector<Body> body;                        ///< the links as described, in these frames
  Vec3<double> gravity = {{0, 0, -9.81}};        ///< world axes [m/s^2]
  Body payload = {};                             ///< URDF: what the tip link carries, in its frame; in `body` already
  std::vector<LockedJoint> locked;               ///< URDF: side branches on moving links, and joints locked on the way
  std::vector<Coupling> coupled;                 ///< joints that follow others, ascending; most functions take none
  std::vector<std::string> notes;                ///< what a reader of the description should know
  std::vector<std::string> warnings;             ///< what may not be as meant: keys not read, an ambiguous order
};

/// Joints that follow no other one, ascending, from 0: their values are the coordinates of the chain.
[[nodiscard]] std::vector<int> coordinates(const Robot& robot);
/// Limits of a coordinate: the joint's own, and within those of the joints that follow it.
[[nodiscard]] Joint coordinate_limits(const Robot& robot, int joint);
/// The couplings as kernels have them.
[[nodiscard]] Followers followers_of(const Robot& robot);
/// Throws Error(kUsage) where a joint follows another: `what` does not take such chains.
void require_uncoupled(const Robot& robot, const std::string& what);

/// Kernel form of a robot with J joints. Throws Error(kUsage) for another number.
template <int J>
[[nodiscard]] Model<double, J> model_of(const Robot& robot) {
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

// Descriptions. All builders throw Error(kUsage) for what is no chain: no joint or more than kMaxJoints, a zero axis, a
// number that is not finite, a body that cannot exist. Angles within 2.2e-13 rad of a multiple of 90 degrees are exact.

/// What every description says about one joint and the link that it moves.
struct LinkData {
  std::string frame = {};  ///< the link frame's name; "" becomes "link i"
  Joint joint = {};        ///< `prismatic` is filled in by the descriptions that say it themselves (GRyMA, screws)
  Body body = {};          ///< in the described link frame
  double armature = 0;     ///< rotor inertia seen at the joint [kg m^2 or kg]
  double damping = 0;      ///< viscous [N m s/rad or N s/m]
};

/// What every description says about the whole.
struct RobotData {
  std::string name = {}, source = {};
  Pose<double> base = Pose<double>::identity();  ///< of the description's base frame in the world
  Pose<double> tool = Pose<double>::identity();  ///< of the tool in the last described link frame
  Vec3<double> gravity = {{0, 0, -9.81}};
};

/// A row of Denavit-Hartenberg constants; of a revolute joint `theta` is added to q, of a prismatic joint `d`.
struct DhJoint {
  double a = 0, d = 0, alpha = 0, theta = 0;
  LinkData link = {};
};
/// T_i = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i)
[[nodiscard]] Robot from_dh(const RobotData& data, const std::vector<DhJoint>& joints);
/// T_i = Rx(alpha_i) Tx(a_i) Rz(theta_i) Tz(d_i): the row of joint i holds what Craig calls a_{i-1}, alpha_{i-1}.
[[nodiscard]] Robot from_modified_dh(const RobotData& data, const std::vector<DhJoint>& joints);
/// Corke's PUMA 560 in standard form (Corke and Armstrong-Helouvry, ICRA 1994), without pedestal (d of joint 1 is 0)
/// and tool. `armature`: with the rotor inertias G^2 Jm.
[[nodiscard]] std::vector<DhJoint> puma560(bool armature = true);

/// A row of the GRyMA convention: all frames are parallel at q = 0. Theta codes: 0 fixed, 1 2 3 prismatic along x y z,
/// 4 5 6 revolute about x y z, 7 prismatic and 8 revolute along (cos alpha sin beta, sin alpha sin beta, cos beta).
struct GrymaJoint {
  int theta = 0;
  Vec3<double> d = Vec3<double>::zero();  ///< origin in the parent frame at q = 0 [m]
  double alpha = 0, beta = 0;             ///< azimuth, and polar angle from z [rad]
  LinkData link = {};
};
/// Rows with code 0 are merged: their bodies go to the link before, rows behind the last joint move the tool.
[[nodiscard]] Robot from_gryma(const RobotData& data, const std::vector<GrymaJoint>& joints);

/// A joint's screw at q = 0 in base axes about the base origin; direction zero: prismatic along `moment`.
struct ScrewJoint {
  Vec3<double> direction = Vec3<double>::zero(), moment = Vec3<double>::zero();
  Pose<double> frame = Pose<double>::identity();  ///< of the link frame in the base at q = 0
  LinkData link = {};
};
/// Product of exponentials. `data.tool` is the tool's pose in the base at q = 0 (the home pose).
[[nodiscard]] Robot from_screws(const RobotData& data, const std::vector<ScrewJoint>& joints);

/// Any joint: T_i(q) = placement * (rotation about, or shift along, axis by q) * after.
struct GeneralJoint {
  Pose<double> placement = Pose<double>::identity();  ///< joint frame in the parent link's frame
  Vec3<double> axis = {{0, 0, 1}};                    ///< in the joint frame; any length but zero
  Pose<double> after = Pose<double>::identity();      ///< link frame in the joint frame
  LinkData link = {};
};
[[nodiscard]] Robot from_joints(const RobotData& data, const std::vector<GeneralJoint>& joints);

/// A row of the kernel form itself, with the described link frame in it: what `garra check --format toml` prints, so
/// that a robot of any description is read again to the last bit.
struct KernelJoint {
  double a = 0, b = 0, d = 0, cos_alpha = 1, sin_alpha = 0, theta = 0;
  Pose<double> frame = Pose<double>::identity();  ///< of the link frame in the kernel frame
  LinkData link = {};
};
/// `data.base` and `data.tool` are those of the kernel frames.
[[nodiscard]] Robot from_kernel_form(const RobotData& data, const std::vector<KernelJoint>& joints);

}  // namespace garra::chain
