// A finger in a sample of a group: its inertia, its torques at rest and the Jacobians of its contacts. Host only.
#pragma once

#include "garra/systems/chain/kernels_inertia.hpp"
#include "garra/systems/chain/kernels_kinematics.hpp"
#include "grasp/group/model.hpp"

namespace garra::grasp {

/// Finger `number`, with the gravity on it.
struct FingerOfGroup {
  std::size_t number;
  Vec3<double> gravity;
  bool moving;  ///< else Coriolis and velocity terms are skipped
};

/// Fills what belongs to a finger, from its q and qd: gravity, hold = gravity + Coriolis torque, pushed = J_v^T told,
/// M, J and the motion of its contact points. touch(j, frames) is called before contact j is used: it may set its
/// place.
template <chain::Joints K, int J, class TouchContact>
void fill_finger(const GroupModel& m, const FingerOfGroup& of, const TouchContact& touch, GroupSample& s) {
  const FingerChain<J>& finger = finger_chain<J>(m.fingers[of.number]);
  const int first = m.first_joint[of.number];
  Vec<double, J> q = Vec<double, J>::zero(), qd = q;
  std::copy_n(s.q.begin() + first, finger.joints, q.m);
  std::copy_n(s.qd.begin() + first, finger.joints, qd.m);
  const auto angles = chain::angles<K>(finger.model, q);
  const auto frames = chain::frames<K>(finger.model, angles);
  auto rest = chain::inertia_and_gravity<K>(finger.model, angles, of.gravity);
  Vec<double, J> hold = rest.g, pushed = Vec<double, J>::zero();
  if (of.moving) hold = hold + chain::coriolis_torque<K>(finger.model, angles, qd);
  chain::lead_inertia(finger.followers, rest.H);
  chain::lead_torques(finger.followers, rest.g);
  chain::lead_torques(finger.followers, hold);
  for (const int j : m.of_finger[of.number]) {
    const auto at = static_cast<std::size_t>(j);
    touch(j, frames);
    const int link = m.contacts[at].partner.link;
    auto jac = chain::jacobian<K>(finger.model, frames, s.place[at].p, link < 0 ? last_joint<K>(finger) : link);
    if (of.moving) {
      const auto motion = chain::point_motion(jac, qd);
      s.side[at] = {motion.velocity, Vec3<double>::zero(), motion.acceleration};
    }
    chain::lead_columns(finger.followers, jac);
    for (int i = 0; i < finger.joints; ++i) {
      const Vec3<double> v = vec3(jac(0, i), jac(1, i), jac(2, i)), turn = vec3(jac(3, i), jac(4, i), jac(5, i));
      const Vec3<double> along = transpose_times(s.place[at].E, v);
      const int row = m.numbers * j;
      for (int k = 0; k < 3; ++k) s.J(row + k, first + i) = along[k];
      if (m.numbers > 3) s.J(row + 3, first + i) = m.contacts[at].torsion_radius * dot(turn, column(s.place[at].E, 0));
      pushed[i] += dot(v, s.told[at]) + dot(turn, m.contacts[at].twist);
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
