// A finger in a sample of a group: its inertia, its torques at rest and the Jacobians of its contacts. On the host one
// instance serves fingers of any number of joints. Host and device.
#pragma once

#include "garra/systems/chain/kernels_inertia.hpp"
#include "garra/systems/chain/kernels_kinematics.hpp"
#include "grasp/group/model.hpp"

namespace garra::grasp {

/// Finger `number`, with the gravity on it.
template <class S>
struct FingerOfGroup {
  std::size_t number;
  Vec3<S> gravity;
  bool moving;  ///< else Coriolis and velocity terms are skipped
  bool bias;    ///< else J dot qd is 0
};

/// The chain of a finger in code for J joints.
template <int J>
GARRA_HD const FingerChain<J>& chain_in_group(const auto& m, std::size_t finger) {
  if constexpr (J < 0)
    return m.chains[finger];
  else
    return finger_chain<J>(m.fingers[finger]);
}

/// Fills what belongs to a finger, from its q and qd: gravity, hold = gravity + Coriolis torque, pushed = J_v^T told,
/// M, J and the motion of its contact points. touch(j, frames) is called before contact j is used: it may set its
/// place. The thread has set the number of joints (JointsInUse) for kAnyJoints.
template <int J, class S, template <class> class List, class TouchContact>
GARRA_HD void fill_finger(const auto& m, const FingerOfGroup<S>& of, const TouchContact& touch,
                          GroupInstant<S, List>& s) {
  const FingerChain<J>& finger = chain_in_group<J>(m, of.number);
  const int first = m.first_joint[of.number];
  auto q = Vec<S, J>::zero(), qd = q;
  for (int i = 0; i < finger.joints; ++i) {
    q[i] = s.q[static_cast<std::size_t>(first + i)];
    qd[i] = s.qd[static_cast<std::size_t>(first + i)];
  }
  const auto angles = chain::angles(finger.model, q);
  const auto frames = chain::frames(finger.model, angles);
  auto rest = chain::inertia_and_gravity(finger.model, angles, of.gravity);
  Vec<S, J> hold = rest.g, pushed = Vec<S, J>::zero();
  if (of.moving) hold = hold + chain::coriolis_torque(finger.model, angles, qd);
  chain::lead_inertia(finger.followers, rest.H);
  chain::lead_torques(finger.followers, rest.g);
  chain::lead_torques(finger.followers, hold);
  for (const int j : m.of_finger[of.number]) {
    const auto at = static_cast<std::size_t>(j);
    touch(at, frames);
    const GroupContact& contact = m.contacts[at];
    const int link = contact.partner.link;
    auto jac = chain::jacobian(finger.model, frames, s.place[at].p, link < 0 ? finger.joints - 1 : link);
    if (of.moving) {
      const auto motion = chain::point_motion(jac, qd);
      s.side[at] = {motion.velocity, Vec3<S>::zero(), of.bias ? motion.acceleration : Vec3<S>::zero()};
    }
    chain::lead_columns(finger.followers, jac);
    const Mat3<S>& E = s.place[at].E;
    const Vec3<S> twist = cast<S>(contact.twist);
    for (int i = 0; i < finger.joints; ++i) {
      const Vec3<S> v = vec3(jac(0, i), jac(1, i), jac(2, i)), turn = vec3(jac(3, i), jac(4, i), jac(5, i));
      const Vec3<S> along = transpose_times(E, v);
      const int row = m.numbers * j;
      for (int k = 0; k < 3; ++k) s.J(row + k, first + i) = along[k];
      if (m.numbers > 3) s.J(row + 3, first + i) = S(contact.torsion_radius) * dot(turn, column(E, 0));
      pushed[i] += dot(v, s.told[at]) + dot(turn, twist);
    }
  }
  for (int i = 0; i < finger.joints; ++i) {
    const auto at = static_cast<std::size_t>(first + i);
    s.gravity[at] = rest.g[i];
    s.hold[at] = hold[i];
    s.pushed[at] = pushed[i];
    for (int k = 0; k < finger.joints; ++k) s.M_man(first + i, first + k) = rest.H(i, k);
  }
}

}  // namespace garra::grasp
