// Model shared by the samples of a grasp study, and their first step: from uniform numbers to the object, its load and
// the task of each finger. Later steps are in fingers.hpp, problem.hpp, the contact solver and check.hpp. All
// steps are bodies that every executor runs, host and device; docs/theory/monte-carlo.md names them. SI units, palm
// frame P.
#pragma once

#include <span>

#include "garra/batch/tiles.hpp"
#include "garra/core/philox.hpp"
#include "garra/grasp.hpp"
#include "garra/study/distribution.hpp"
#include "garra/systems/chain/inverse_kinematics.hpp"
#include "garra/systems/grasp/finger.hpp"
#include "garra/systems/grasp/random_vector.hpp"

namespace garra::grasp {

inline constexpr int kLimitContacts = kMaxContacts;  ///< capacity of the model [contacts]

/// Scalar inputs of a sample. The first are the grasp's, then one group per contact.
enum Slot : int {
  kMass,    ///< [kg]
  kScale,   ///< factor on the object's lengths
  kShiftX,  ///< of the object in P [m], as Y and Z
  kShiftY,
  kShiftZ,
  kTurnX,  ///< of the object, rotation vector [rad], as Y and Z
  kTurnY,
  kTurnZ,
  kAngle,         ///< common contact angle [rad]
  kGripForce,     ///< common one [N]
  kCompensation,  ///< factor on gravity and Coriolis compensation
  kForceSize,     ///< random external force: size [N], direction by ball_vector()
  kForceCosine,
  kForceAzimuth,
  kTorqueSize,  ///< random external torque: size [N m], direction likewise
  kTorqueCosine,
  kTorqueAzimuth,
  kCommonFriction,  ///< factor on the friction of contacts that share it
  kFirstContactSlot
};
/// Scalar inputs of one contact.
enum ContactSlot : int {
  kFriction,  ///< coefficient, or factor on the common one
  kSlideT,    ///< along the surface [m], as O
  kSlideO,
  kTilt,            ///< of the true normal [rad]
  kTiltDirection,   ///< azimuth of the tilt in the tangent plane [rad]
  kGripForceError,  ///< added to the squeeze [N]
  kOwnGripForce,    ///< in place of the common one [N]
  kContactSlots
};
inline constexpr int kSlots = kFirstContactSlot + kLimitContacts * kContactSlots;
/// Index of a contact's input among all inputs.
GARRA_HD constexpr int contact_slot(int contact, int which) {
  return kFirstContactSlot + contact * kContactSlots + which;
}
/// The first kObjectSlots inputs are those of object 0; those of further objects follow the contacts.
inline constexpr int kObjectSlots = kAngle;
constexpr int object_slot(int object, int contacts) {
  return object == 0 ? 0 : contact_slot(contacts, 0) + (object - 1) * kObjectSlots;
}

/// An uncertain input, with the slot of its value.
struct Draw {
  int slot;
  study::Distribution distribution;
};

/// Compiled sizes of fingers. A finger takes the smallest size that fits; kSix is for exactly six revolute joints, the
/// only size with a closed form.
enum class FingerSize : int { kFour, kSix, kEight, kSixteen };

/// Model of a finger, shared by all samples. Trivially copyable, as GraspModel is.
struct FingerModel {
  FingerSize size;
  union {  ///< the one that `size` names; P is its world
    FingerChain<4> four;
    FingerChain<6> six;
    FingerChain<8> eight;
    FingerChain<16> sixteen;
  };
  bool closed_form;  ///< puma_ik on `branch`, else numeric_ik
  chain::Branch branch;
  chain::NumericIk numeric;
  double tip_radius;              ///< of a ball about the tool point [m]
  bool torque_given;              ///< `tau` is the command, whatever the force
  double tau[chain::kMaxJoints];  ///< [N m or N]
  double compensates;             ///< factor on the sample's gravity compensation: 0 or 1
  bool torque_limited;
  double torque_limit[chain::kMaxJoints];  ///< of |tau|; infinity: none [N m or N]
};
static_assert(chain::kMaxJoints == 16);

/// The chain in the size that the caller got from with_finger_size().
template <int J>
GARRA_HD const FingerChain<J>& finger_chain(const FingerModel& f) {
  if constexpr (J == 4)
    return f.four;
  else if constexpr (J == 6)
    return f.six;
  else if constexpr (J == 8)
    return f.eight;
  else
    return f.sixteen;
}

/// Joints of an arm that carries the palm.
inline constexpr int kArmJoints = static_cast<int>(kMaxArmJoints);
inline constexpr int kArmPacked = kArmJoints * (kArmJoints + 1) / 2;
/// Index of entry (r, c), c <= r, of a packed symmetric matrix.
GARRA_HD constexpr int packed(int r, int c) { return r * (r + 1) / 2 + c; }

/// Model of a compliant arm, shared by all samples: its configuration and what it carries.
struct ArmModel {
  int joints;                                              ///< 0: the palm stands still
  double q[kArmJoints];                                    ///< [rad or m]
  FingerChain<chain::kMaxJoints> chain[kLimitContacts];    ///< from its root to each fingertip; P is their world
  double torque_limit[kLimitContacts][chain::kMaxJoints];  ///< of these joints; the arm's have none
  double inertia[kArmPacked];  ///< joint-space inertia with the whole hand as all these chains have it, less their own
  double gravity[kArmJoints];  ///< its holding torque then [N m or N]
};

/// Units of the hold metrics of a sample.
struct HoldUnits {
  Vec<double, 6> probe;  ///< wrench whose multiple the load factor is
  double length;         ///< makes torques comparable to forces in the resisted force radius [m]
  bool any_grip_force;   ///< the common squeeze acts somewhere
  bool limited;          ///< some contact or joint has a limit
};

/// Criteria of "held" (docs/theory/grasp-model.md, section 7).
struct HeldRule {
  double imbalance;     ///< carried: imbalance <= this
  double acceleration;  ///< at rest: |a| of a contact <= this [m/s^2]; it opens: a_n above
  bool limited;         ///< normal forces have limits
};

/// Factor on HeldRule::acceleration for contacts at `points` near one line: their least root mean square distance from
/// a line over a quarter of the radius of gyration, 0.001 to 1. An object that turns about that line moves its contacts
/// by less than itself. 1 for up to two contacts: they do not resist the turn at all.
[[nodiscard]] double rest_factor(std::span<const Vec3<double>> points, double gyration);

/// Data shared by all samples of a study. Trivially copyable: a GPU gets it by plain copy.
struct GraspModel {
  int contacts;
  FingerModel finger[kLimitContacts];
  SurfacePoint surface[kLimitContacts];   ///< nominal, object frame
  double angle_sign[kLimitContacts];      ///< -1 to 1: how the common angle moves it along o
  bool common_friction[kLimitContacts];   ///< the contact's friction is a factor on the common one
  int grip_force_slot[kLimitContacts];    ///< input that the contact is squeezed with: the common or its own
  Vec3<double> push[kLimitContacts];      ///< commanded direction of the squeeze: the nominal normal, P axes
  Vec3<double> squeezed[kLimitContacts];  ///< the same if the common squeeze acts, else 0
  Vec3<double> balance[kLimitContacts];   ///< commanded force beside the squeeze [N], P axes: what balances the nominal
                                          ///< weight, or the tangential part of a force that is given
  Mat<double, 3, 6> share[kLimitContacts];  ///< of a wrench on the object: least forces that give it, nominal grasp
  Pose<double> object;                      ///< nominal pose in P
  Vec3<double> gyration2;                   ///< principal moments of inertia per mass, object axes [m^2]
  Vec3<double> gravity;                     ///< [m/s^2], P axes
  Vec<double, 6> wrench;                    ///< constant external wrench (force; torque about the center of mass)
  double force_limit[kLimitContacts];       ///< of the normal force [N]; infinity: none
  bool torque_limited;                      ///< some joint has one
  int most_joints;                          ///< of a finger
  HeldRule held;
  HoldUnits hold;
  ArmModel arm;
  Vec3<double> v, omega;  ///< of the object [m/s, rad/s], P axes
  bool moving;            ///< v or omega is not zero
  std::uint64_t seed;
  int draws;  ///< how many of `draw` there are
  Draw draw[kSlots];
  double constant[kSlots];  ///< values of the inputs that are not drawn
};

/// Inputs of one sample (lane-wise).
template <class S>
struct Inputs {
  S x[kSlots];
};

/// Draws the inputs of sample `index`. Draw k uses half of Philox block k / 2. `quantile_bin` (one per draw, stride
/// batch::kTile) takes the uniform number itself, whose bin counts the influence of the input. Writes into `in`,
/// because a GPU thread would copy all of a returned result.
template <class S>
GARRA_HD_CALL void draw_inputs(const GraspModel& m, const SampleIndex<S>& index, double* quantile_bin, Inputs<S>& in) {
  const int there = contact_slot(m.contacts, 0);  // inputs of contacts beyond are not needed
  for (int k = 0; k < there; ++k) in.x[k] = S(m.constant[k]);
  for (int k = 0; k < m.draws; k += 2) {
    S u[2];
    uniform_pair<S>(m.seed, index, static_cast<std::uint32_t>(k / 2), u[0], u[1]);
    for (int h = 0; h < 2 && k + h < m.draws; ++h) {
      const Draw& d = m.draw[k + h];
      in.x[d.slot] = study::quantile(d.distribution, u[h]);
      if (quantile_bin != nullptr) batch::store<S>(quantile_bin + (k + h) * batch::kTile, 0, u[h]);
    }
  }
}

/// Rotation by |v| about v: R = 1 + sin|v| / |v| [v]x + (1 - cos|v|) / |v|^2 [v]x^2.
template <class S>
GARRA_HD Mat3<S> rotation_by(const Vec3<S>& v) {
  const S half = S(0.5) * norm(v);
  const auto turn = sincos(half);
  const auto turns = half > S(0);
  const S ratio = select(turns, turn.sin / select(turns, half, S(1)), S(1));
  const S first = ratio * turn.cos, second = S(0.5) * (ratio * ratio);
  Mat3<S> R = Mat3<S>::identity();
  const S hat[3][3] = {{S(0), -v[2], v[1]}, {v[2], S(0), -v[0]}, {-v[1], v[0], S(0)}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      S square = S(0);
      for (int k = 0; k < 3; ++k) square = fma(hat[i][k], hat[k][j], square);
      R(i, j) = fma(second, square, fma(first, hat[i][j], R(i, j)));
    }
  return R;
}

/// Pose of an object of the sample in P, with its kObjectSlots inputs: deviations turn and shift the nominal pose, in
/// palm axes.
template <class S>
GARRA_HD Pose<S> pose_of_object(const Pose<double>& nominal, const S* x) {
  const Vec3<S> shift = vec3<S>(x[kShiftX], x[kShiftY], x[kShiftZ]);
  const Vec3<S> turn = vec3<S>(x[kTurnX], x[kTurnY], x[kTurnZ]);
  return {rotation_by(turn) * cast<S>(nominal.R), cast<S>(nominal.p) + shift};
}
/// Pose of the sample's object.
template <class S>
GARRA_HD Pose<S> object_pose(const GraspModel& m, const Inputs<S>& in) {
  return pose_of_object(m.object, in.x);
}

/// Mass and inertia about the center of mass of an object of the sample, P axes, with its inputs; at rest.
template <class S>
GARRA_HD Body<S> body_of_object(const Vec3<double>& gyration2, const S* x, const Pose<S>& pose) {
  Body<S> body;
  body.mass = x[kMass];
  // The mass is independent of the scale; lengths count squared.
  const S mass_size = body.mass * (x[kScale] * x[kScale]);
  Mat3<S> I = Mat3<S>::zero(), inverse = Mat3<S>::zero();
  for (int i = 0; i < 3; ++i) {
    I(i, i) = mass_size * S(gyration2[i]);
    // Both are diagonal in object axes, so no matrix is inverted.
    inverse(i, i) = S(1) / I(i, i);
  }
  body.inertia = rotate_symmetric(pose.R, I);
  body.inverse_inertia = rotate_symmetric(pose.R, inverse);
  body.p_cm = pose.p;
  body.v = body.omega = Vec3<S>::zero();
  return body;
}
/// The same of the sample's object, with its motion.
template <class S>
GARRA_HD Body<S> object_body(const GraspModel& m, const Inputs<S>& in, const Pose<S>& pose) {
  Body<S> body = body_of_object(m.gyration2, in.x, pose);
  body.v = cast<S>(m.v);
  body.omega = cast<S>(m.omega);
  return body;
}

/// Position and frame of a contact on an object in the frame of the object, with the contact's inputs, the object's
/// scale and the contact's part of the common angle.
template <class S>
GARRA_HD ContactPlace<S> place_of_contact(const SurfacePoint& surface, const S* x, const S& scale, const S& angle) {
  ContactDeviation<S> d;
  d.slide_t = x[kSlideT];
  // The common contact angle turns the point about the object's z axis: a slide of r tan(angle) along o on a sphere.
  const double curvature = surface.curvature_o;
  const auto turn = sincos(angle);
  d.slide_o = x[kSlideO] + (curvature > 0 ? scale * S(1 / curvature) * (turn.sin / turn.cos) : S(0));
  d.tilt = x[kTilt];
  d.tilt_direction = x[kTiltDirection];
  d.scale = scale;
  return place_on_surface(surface, d);
}
/// Position and frame of contact j of the sample, in P.
template <class S>
GARRA_HD ContactPlace<S> contact_place(const GraspModel& m, const Inputs<S>& in, const Pose<S>& object, int j) {
  return object *
         place_of_contact(m.surface[j], in.x + contact_slot(j, 0), in.x[kScale], in.x[kAngle] * S(m.angle_sign[j]));
}

/// Commanded contact force in P axes: squeeze along the modeled normal, plus the balance of the nominal weight.
template <class S>
GARRA_HD Vec3<S> commanded_force(const GraspModel& m, const Inputs<S>& in, int j) {
  const S push = in.x[m.grip_force_slot[j]] + in.x[contact_slot(j, kGripForceError)];
  return axpy(push, cast<S>(m.push[j]), cast<S>(m.balance[j]));
}

/// Task of the finger at one contact of a sample.
template <class S>
struct FingerTask {
  ContactPlace<S> place;
  Vec3<S> force;     ///< commanded [N], P axes
  S compensation;    ///< factor on the finger's gravity and Coriolis compensation
  S friction;        ///< coefficient
  Vec3<S> velocity;  ///< of the object's surface there [m/s], P axes: the contact rolls
};

/// Task of finger j in a sample with this object pose.
template <class S>
GARRA_HD FingerTask<S> finger_task(const GraspModel& m, const Inputs<S>& in, const Pose<S>& object, int j) {
  FingerTask<S> task;
  task.place = contact_place(m, in, object, j);
  task.velocity = cast<S>(m.v) + cross(cast<S>(m.omega), task.place.p - object.p);
  task.force = commanded_force(m, in, j);
  task.compensation = in.x[kCompensation] * S(m.finger[j].compensates);
  task.friction = in.x[contact_slot(j, kFriction)];
  if (m.common_friction[j]) task.friction = task.friction * in.x[kCommonFriction];
  return task;
}

/// The object of a sample, and the loads on it besides the fingers.
template <class S>
struct ObjectLoad {
  Vec<S, 6> wrench;  ///< external (force; torque about the center of mass)
  S grip_force;      ///< commanded normal force [N]
  Body<S> body;
};

/// Body and external wrench of a sample; the weight is added once gravity is known.
template <class S>
GARRA_HD ObjectLoad<S> object_load(const GraspModel& m, const Inputs<S>& in, const Pose<S>& object) {
  const Vec3<S> force = ball_vector(in.x[kForceSize], in.x[kForceCosine], in.x[kForceAzimuth]);
  const Vec3<S> torque = ball_vector(in.x[kTorqueSize], in.x[kTorqueCosine], in.x[kTorqueAzimuth]);
  ObjectLoad<S> load;
  load.body = object_body(m, in, object);
  for (int i = 0; i < 3; ++i) {
    load.wrench[i] = S(m.wrench[i]) + force[i];
    load.wrench[i + 3] = S(m.wrench[i + 3]) + torque[i];
  }
  load.grip_force = in.x[kGripForce];
  return load;
}

/// Contribution of a finger to the assembly (docs/theory/grasp-model.md, section 3).
template <class S>
struct FingerShare {
  Mat3<S> A;         ///< J M^-1 J^T
  Vec3<S> drift;     ///< J M^-1 (g + h - tau)
  S reached;         ///< 0 if the finger cannot touch its contact, else 1
  Vec3<S> bias;      ///< Jdot qd of the contact point
  Vec3<S> velocity;  ///< of the contact point
};

/// Count of trailing numbers that describe motion. While the object is at rest they are all zero, and are neither
/// stored nor loaded, because memory access limits these steps.
template <class T>
inline constexpr int kOfMotion = 0;
template <class S>
inline constexpr int kOfMotion<FingerTask<S>> = 3;
template <class S>
inline constexpr int kOfMotion<FingerShare<S>> = 6;
template <class S>
inline constexpr int kOfMotion<ObjectLoad<S>> = 6;

template <class S, class T>
GARRA_HD void store_part(double* tiles, std::int64_t i, const T& part, bool moving) {
  constexpr int at_rest = batch::kFields<S, T> - kOfMotion<T>;
  const S* fields = reinterpret_cast<const S*>(&part);
  double* p = const_cast<double*>(batch::tile_at<S, T>(tiles, i));
  for (int f = 0; f < at_rest; ++f) batch::store<S>(p + f * batch::kTile, 0, fields[f]);
  if (!moving) return;
  for (int f = at_rest; f < at_rest + kOfMotion<T>; ++f) batch::store<S>(p + f * batch::kTile, 0, fields[f]);
}
template <class S, class T>
GARRA_HD T load_part(const double* tiles, std::int64_t i, bool moving) {
  constexpr int at_rest = batch::kFields<S, T> - kOfMotion<T>;
  T part;
  S* fields = reinterpret_cast<S*>(&part);
  const double* p = batch::tile_at<S, T>(tiles, i);
  for (int f = 0; f < at_rest; ++f) fields[f] = batch::load<S, S>(p + f * batch::kTile, 0);
  for (int f = at_rest; f < at_rest + kOfMotion<T>; ++f)
    fields[f] = moving ? batch::load<S, S>(p + f * batch::kTile, 0) : S(0);
  return part;
}

/// Use of a finger's torque limits: its joints' torques divided by their limits, at rest on its contact. Entries of
/// missing joints, and of joints without a limit, are 0.
template <class S>
struct FingerHold {
  Vec3<S> gain[chain::kMaxJoints];  ///< of a contact force (n, t, o) on the object [1/N]
  S own[chain::kMaxJoints];         ///< of the finger's own weight (and motion)
  S asked;                          ///< largest commanded torque over its limit: above 1 it is cut off
};

/// Contribution of a finger to its arm, with its own joints eliminated (docs/theory/grasp-model.md, section 3).
template <class S>
struct ArmShare {
  Vec3<S> gain[kArmJoints];  ///< velocity of the contact point (n, t, o) per rate of the arm's joints
  S inertia[kArmPacked];     ///< of the arm's joints
  S load[kArmJoints];        ///< g + h - tau of them
  S pushed[kArmJoints];      ///< of finger 0: how the drift of all moves the arm (arm.hpp)
};

/// Configuration and joint rates of a finger.
template <class S, int J>
struct FingerStance {
  Vec<S, J> q, qd;  ///< of padded joints: at rest
};

/// Tiles of the intermediate data from samples to friction problems.
struct SampleParts {
  double* loads;              ///< ObjectLoad
  double* tasks;              ///< FingerTask: those of contact 0, then of contact 1, ...
  double* shares;             ///< FingerShare, likewise
  double* uniforms;           ///< [tile][draw][lane]
  std::int64_t padded;        ///< capacity in samples, whole tiles
  double* stances = nullptr;  ///< FingerStance of kMaxJoints joints, likewise; null: not wanted
  double* holds = nullptr;    ///< FingerHold, likewise; null: not wanted
  double* arm = nullptr;      ///< ArmShare, likewise; null: the palm stands still

  /// FingerTask of the finger at a contact.
  [[nodiscard]] GARRA_HD double* task_tile(int contact) const {
    return tasks + contact * padded * batch::kFields<double, FingerTask<double>>;
  }
  /// FingerShare likewise.
  [[nodiscard]] GARRA_HD double* share_tile(int contact) const {
    return shares + contact * padded * batch::kFields<double, FingerShare<double>>;
  }
  /// FingerHold likewise.
  [[nodiscard]] GARRA_HD double* hold_tile(int contact) const {
    return holds + contact * padded * batch::kFields<double, FingerHold<double>>;
  }
  /// ArmShare likewise.
  [[nodiscard]] GARRA_HD double* arm_tile(int contact) const {
    return arm + contact * padded * batch::kFields<double, ArmShare<double>>;
  }
  /// FingerStance likewise, each with room for kMaxJoints joints.
  [[nodiscard]] GARRA_HD double* stance_tile(int contact) const {
    return stances + contact * padded * batch::kFields<double, FingerStance<double, chain::kMaxJoints>>;
  }
};

/// Step 1: draws samples first + i and places their objects and contacts.
struct DrawKernel {
  const GraspModel* model;
  std::int64_t first;
  SampleParts parts;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const GraspModel& m = *model;
    const auto index = SampleIndex<S>::consecutive(static_cast<std::uint64_t>(first + i));
    // Position of sample i in its tile; its draws are batch::kTile apart.
    double* u = parts.uniforms + (i / batch::kTile) * m.draws * batch::kTile + i % batch::kTile;
    Inputs<S> in;
    draw_inputs<S>(m, index, u, in);
    const Pose<S> object = object_pose(m, in);
    store_part<S>(parts.loads, i, object_load(m, in, object), m.moving);
    for (int j = 0; j < m.contacts; ++j) store_part<S>(parts.task_tile(j), i, finger_task(m, in, object, j), m.moving);
  }
};

}  // namespace garra::grasp
