// Objects in contact with fingers, one another and fixtures: a group (docs/theory/grasp-groups.md). Sizes are known at
// run time; one sample is evaluated at a time. SI units, palm frame P.
#pragma once

#include <memory>
#include <vector>

#include "garra/grasp_analysis.hpp"
#include "grasp/group/dense.hpp"
#include "grasp/sample/grasp_model.hpp"

namespace garra::grasp {

/// Data of one object that all samples share.
struct GroupObject {
  Pose<double> pose;       ///< nominal
  Vec3<double> gyration2;  ///< [m^2]
  Vec3<double> v, omega;   ///< [m/s, rad/s]
  int slot;                ///< of its first input
};

/// Data of one contact that all samples share.
struct GroupContact {
  SurfacePoint surface;  ///< in the frame of its object
  double angle_sign;
  bool common_friction;
  int grip_force_slot;
  int object;
  Partner partner;
  int body[2], bodies;  ///< its objects in their order, and how many
  ContactLaw law;
  bool slides;
  Vec<double, 2> slip;    ///< given direction; 0: from the motion
  bool slips_by_motion;   ///< it slides, in a direction that is not given
  double torsion_radius;  ///< of a soft contact [m]; else 0
  double force_limit;     ///< [N]; infinity: none
  Vec3<double> push;      ///< commanded direction of the squeeze, P axes
  Vec3<double> balance;   ///< commanded force beside it [N], P axes
  Vec3<double> twist;     ///< commanded moment of a soft contact [N m], P axes
};

/// Two contacts, which may be one, that share objects or a finger: a block of A that is not zero.
struct Coupling {
  int first, second;    ///< first >= second
  int object[2], many;  ///< objects that they share, in their order, and how many
  int finger;           ///< -1: none
};

/// Numbers of contacts: one list for each finger or object.
template <template <class> class List>
struct IndexLists {
  List<int> first;  ///< in `all`; one more: its size
  List<int> all;
  [[nodiscard]] GARRA_HD std::span<const int> operator[](std::size_t k) const {
    return {all.data() + first[k], static_cast<std::size_t>(first[k + 1] - first[k])};
  }
};

/// What a step of a group reads: lists of its own, or shown ones, which a GPU gets by plain copy.
template <template <class> class List>
struct GroupParts {
  List<GroupObject> objects;
  List<FingerModel> fingers;
  List<FingerChain<chain::kAnyJoints>> chains;  ///< of the fingers; on the host
  List<int> first_joint;                        ///< column of each finger's first joint; one more: the number of joints
  IndexLists<List> of_finger, of_object;
  List<Coupling> couplings;
  List<GroupContact> contacts;
  int numbers;         ///< of a contact's force: 3, or 4 if a contact is soft: (n, t, o, moment / radius)
  List<double> rates;  ///< of the joints, NaN: not given [rad/s or m/s]
  List<Draw> draws;
  List<double> constant;  ///< values of all inputs that are not drawn
  Vec3<double> gravity;
  Vec<double, 6> wrench;  ///< constant external one on object 0
  bool moving;
  bool slides;  ///< some contact slides
  std::uint64_t seed;

  [[nodiscard]] GARRA_HD int rows() const { return numbers * static_cast<int>(contacts.size()); }
  [[nodiscard]] GARRA_HD const GroupContact& of_row(int r) const {
    return contacts[static_cast<std::size_t>(r / numbers)];
  }
  /// Whether the contact of a row bears the row's force.
  [[nodiscard]] GARRA_HD bool bears(int r) const {
    const int k = r % numbers;
    const ContactLaw law = of_row(r).law;
    return k == 0 || law == ContactLaw::kSoft || (k < 3 && law == ContactLaw::kHard);
  }
  [[nodiscard]] GARRA_HD int joints() const { return first_joint[fingers.size()]; }
};

/// Data shared by all samples of a scenario.
struct GroupModel : GroupParts<Owned> {};

/// The same data, with lists that show(list) returns.
template <template <class> class List, class Show>
GroupParts<Shown> show_parts(const GroupParts<List>& m, const Show& show) {
  const auto lists = [&](const IndexLists<List>& all) { return IndexLists<Shown>{show(all.first), show(all.all)}; };
  return {show(m.objects),
          show(m.fingers),
          show(m.chains),
          show(m.first_joint),
          lists(m.of_finger),
          lists(m.of_object),
          show(m.couplings),
          show(m.contacts),
          m.numbers,
          show(m.rates),
          show(m.draws),
          show(m.constant),
          m.gravity,
          m.wrench,
          m.moving,
          m.slides,
          m.seed};
}
/// The same in the host's memory.
[[nodiscard]] inline GroupParts<Shown> show_parts(const GroupModel& m) {
  return show_parts<Owned>(m, [](const auto& list) { return std::span(list); });
}

/// Motion of the finger's side of a contact: velocity of the point that touches, turn, and J dot qd.
template <class S>
struct ContactSide {
  Vec3<S> velocity, omega, bias;
};

/// A group at one configuration, and the matrices of its contact problem. Rows of contacts are (n, t, o) or (n, t, o,
/// moment / radius), those of objects (force; moment about the center of mass) or (v; omega), one object after another.
template <class S, template <class> class List>
struct GroupInstant {
  List<Pose<S>> pose;
  List<Body<S>> body;
  List<Vec<S, 6>> load;  ///< weight, external and gyroscopic wrench of each object
  List<ContactPlace<S>> place;
  List<Vec3<S>> told;  ///< commanded force of each contact's finger, P axes; 0 without a finger
  List<S> mu;
  DenseOf<S, List> W;      ///< [6 objects, rows of contacts]
  DenseOf<S, List> J;      ///< [rows of contacts, joints]: relative velocities are W^T V - J qd
  DenseOf<S, List> M_man;  ///< [joints, joints]
  List<S> q, qd;
  List<S> gravity, hold;  ///< torques g and g + h of each joint [N m or N]
  List<S> pushed;         ///< J_v^T of the commanded forces
  List<S> tau, effort;    ///< torques, and g + h - tau
  List<ContactSide<S>> side;
  List<S> velocity_part;                            ///< of b: (13) of docs/theory/grasp-model.md
  DenseOf<S, List> A_obj, A_man;                    ///< W^T M_obj^-1 W and J M_man^-1 J^T; A is their sum
  List<S> b_obj, b_man;                             ///< W^T M_obj^-1 w and J M_man^-1 (g + h - tau)
  DenseOf<S, List> inverse_mass_W, inverse_mass_J;  ///< M_obj^-1 W; M_man^-1 (J^T | g + h - tau)
  DenseOf<S, List> factor;                          ///< lower Cholesky factors of each finger's M_man

  [[nodiscard]] GARRA_HD S A(int r, int c) const { return A_obj(r, c) + A_man(r, c); }
  [[nodiscard]] GARRA_HD S b(int r) const {
    const auto at = static_cast<std::size_t>(r);
    return b_obj[at] + b_man[at] + velocity_part[at];
  }
};

/// One sample of a group, in memory of a block of samples.
struct GroupSampleView : GroupInstant<double, View> {
  View<double> inputs;   ///< by slots
  View<double> reached;  ///< by each finger: 1, else 0

  [[nodiscard]] GARRA_HD bool reaches() const {
    bool all = true;
    for (const double one : reached) all = all && one > 0;
    return all;
  }
};
/// With memory of its own.
struct GroupSample : GroupSampleView {
  Column memory;

  GroupSample() = default;
  GroupSample(GroupSample&&) = default;
  GroupSample& operator=(GroupSample&&) = default;
};

/// Resolves the scenario: nominal poses, commands. Throws Error if the nominal grasp is impossible.
[[nodiscard]] std::unique_ptr<GroupModel> make_group(const Scenario& scenario);
/// The inputs of sample `index`; `uniforms`, if not null, takes the uniform number of each draw, `stride` apart.
[[nodiscard]] Column draw_group(const GroupModel& m, std::int64_t index, double* uniforms, std::int64_t stride);
/// Nominal inputs: medians, no random wrench, no tilt.
[[nodiscard]] Column nominal_group(const GroupModel& m);
/// Places objects and contacts, without fingers; matrices are zero.
[[nodiscard]] GroupSample place_group(const GroupModel& m, const Column& inputs);
/// The load on object k without weight and gyroscopic part.
[[nodiscard]] Vec<double, 6> external_wrench(const GroupModel& m, const GroupSample& s, std::size_t k);
/// Solves the nominal instant for grasp::analyze(). Throws Error if states are given.
[[nodiscard]] Analysis analyze_group(const Scenario& scenario, const GraspStates& states, const Device& device);
/// Every finger at its task.
void stand_fingers(const GroupParts<Shown>& m, GroupSampleView& s);
/// Objects, contacts and fingers of a sample at its start, without matrices of contacts.
[[nodiscard]] GroupSample stand_group(const GroupModel& m, const Column& inputs);
/// Evaluates a sample.
[[nodiscard]] GroupSample evaluate_group(const GroupModel& m, const Column& inputs);

}  // namespace garra::grasp
