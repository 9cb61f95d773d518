// Link parameters that act only in combination, put together: fewer numbers, many of them zero, the same torques,
// inertia and energy (M. Gautier, W. Khalil, IEEE Trans. Robotics and Automation 6(3), 1990;
// docs/howto/chain-generated.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "garra/math/rotation.hpp"
#include "garra/systems/chain/kernels_inertia.hpp"

namespace garra::chain {

/// a + b, 0 where they cancel to rounding.
inline double sum_or_zero(double a, double b) {
  // 8 units of rounding: canceling numbers come from a few products (docs/howto/chain-generated.md, 3).
  constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
  return std::abs(a + b) <= kRounding * std::max(std::abs(a), std::abs(b)) ? 0 : a + b;
}

/// Adds a body to a link; what cancels to rounding becomes 0.
inline void add_body(JointForm<double>& j, double mass, const kernel::Composite<double>& body) {
  j.mass = sum_or_zero(j.mass, mass);
  for (int k = 0; k < 3; ++k) j.first[k] = sum_or_zero(j.first[k], body.s[k]);
  j.xx = sum_or_zero(j.xx, body.I.xx);
  j.yy = sum_or_zero(j.yy, body.I.yy);
  j.zz = sum_or_zero(j.zz, body.I.zz);
  j.xy = sum_or_zero(j.xy, body.I.xy);
  j.xz = sum_or_zero(j.xz, body.I.xz);
  j.yz = sum_or_zero(j.yz, body.I.yz);
}

/// The part of link i that does not notice the motion of joint i: of a revolute joint a line of mass along its axis,
/// with mass, first_z and yy of the link; of a prismatic one the second moment, which only turning feels.
inline kernel::Composite<double> indifferent_part(const JointForm<double>& j, bool prismatic) {
  if (prismatic) return {Vec3<double>::zero(), {j.xx, j.yy, j.zz, j.xy, j.xz, j.yz}};
  // xx of a line of mass along z equals its yy, and zz is 0.
  return {{{0, 0, j.first[2]}}, {j.yy, j.yy, 0, 0, 0, 0}};
}

/// Hands those parts to the link before, from the tip to link 1, which keeps its own.
template <int J>
void regroup(Model<double, J>& m) {
  // From the tip, since what a link hands over may be handed on by the next.
  for (int i = extent<J>() - 1; i > 0; --i) {
    JointForm<double>& j = m.joint[i];
    const bool slides = m.prismatic[i];
    const kernel::Composite<double> part = indifferent_part(j, slides);
    const double mass = slides ? 0 : j.mass;
    Angles<double, J> x;  // any angle of a revolute joint will do, and any way of a prismatic one
    exact_cos_sin(slides ? j.theta : 0, x.cos[i], x.sin[i]);
    x.slide[i] = 0;
    add_body(m.joint[i - 1], mass, kernel::carry_out<Joints::kMixed>(m, x, i, mass, part));
    // What is handed over is gone here: zeros are what makes the code short.
    add_body(j, -mass, {-part.s, {-part.I.xx, -part.I.yy, -part.I.zz, -part.I.xy, -part.I.xz, -part.I.yz}});
  }
}

/// Of a regrouped model: the last link turns like a rotor, so that its angle acts on nothing.
template <int J>
bool is_last_symmetric(const Model<double, J>& m) {
  const JointForm<double>& j = m.joint[extent<J>() - 1];
  const bool balanced = j.first[0] == 0 && j.first[1] == 0 && j.first[2] == 0;
  return !m.prismatic[extent<J>() - 1] && j.mass == 0 && balanced && j.xx == 0 && j.yy == 0 && j.xy == 0 && j.xz == 0 &&
         j.yz == 0;
}

}  // namespace garra::chain
