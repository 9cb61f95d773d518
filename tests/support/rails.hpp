// Fingers that are point masses on rails: grasps whose motion has closed forms.
#pragma once

#include <cmath>
#include <vector>

#include "garra/grasp.hpp"
#include "garra/math/pose.hpp"

namespace garra::test {

using namespace grasp;  // NOLINT: the tests' own vocabulary

inline constexpr double kFar = 1e3;  // a drop [m], and a turn [rad], that never count

/// A finger that is a point of this mass, moved by three rails, without weight: tip = (q3, -q2, q1).
[[nodiscard]] inline Finger point_mass(double mass, const Vec3<double>& tip) {
  Finger f;
  f.ik = Ik::kNumeric;
  f.joints.resize(3);
  f.joints[0].alpha = f.joints[1].alpha = f.joints[1].theta = M_PI / 2;
  for (chain::DhJoint& j : f.joints) {
    j.link.joint.prismatic = true;
    j.link.armature = mass;
  }
  f.start[0] = tip[2];
  f.start[1] = -tip[1];
  f.start[2] = tip[0];
  return f;
}

struct Touching {
  Vec3<double> point, inward;
  double curvature, finger_mass;
};

/// A body held by point masses that push with `squeeze`; no gravity, and nothing that a controller would balance.
[[nodiscard]] inline Scenario body_held_by(const std::vector<Touching>& fingers, double mass) {
  Scenario s;
  s.object.shape = Shape::kPoints;
  s.object.gyration2 = {{0.004, 0.004, 0.004}};
  s.object.mass = study::Distribution::constant(mass);
  s.object.position = {{0, 0, 0}};
  s.gravity = {{0, 0, 0}};
  s.grip_force = study::Distribution::constant(0);
  s.nominal_mass = 1e-12;
  for (const Touching& at : fingers) {
    Contact c;
    c.point = at.point;
    const Vec3<double> side = std::abs(at.inward[2]) > 0.5 ? Vec3<double>{{1, 0, 0}} : Vec3<double>{{0, 0, 1}};
    const Vec3<double> o = cross(at.inward, side);
    for (int i = 0; i < 3; ++i) {
      c.frame(i, 0) = side[i];
      c.frame(i, 1) = o[i];
      c.frame(i, 2) = at.inward[i];
    }
    c.curvature_t = c.curvature_o = at.curvature;
    s.contacts.push_back(c);
    s.fingers.push_back(point_mass(at.finger_mass, at.point));
  }
  s.time.emplace();
  s.time->drop = s.time->drop_turn = kFar;
  return s;
}
inline void set_friction(Scenario& s, double mu) {
  for (Contact& c : s.contacts) c.friction = study::Distribution::constant(mu);
}

}  // namespace garra::test
