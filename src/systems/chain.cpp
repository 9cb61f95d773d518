#include "garra/systems/chain/chain.hpp"

#include "garra/math/rotation.hpp"
#include "garra/systems/chain/inverse_kinematics.hpp"

#include <cmath>

namespace garra::chain {

namespace {

Link dh(double a, double d, double quarter_turns) {
  Link l;
  l.a = a;
  l.d = d;
  l.alpha = quarter_turns * M_PI / 2;
  return l;
}

void give_body(Link& l, double mass, Vec3<double> com, Vec3<double> principal) {
  l.mass = mass;
  l.com = com;
  for (int i = 0; i < 3; ++i) l.inertia(i, i) = principal[i];
}

void give_motor(Link& l, double rotor, double gear) { l.armature = gear * gear * rotor; }

}  // namespace

void Chain::finish() {
  for (int i = 0; i < joints; ++i) exact_cos_sin(link[i].alpha, link[i].cos_alpha, link[i].sin_alpha);
}

bool is_puma_like(const Chain& c) {
  if (c.joints != 6 || c.modified) return false;
  const double sine[6] = {1, 0, -1, 1, -1, 0};
  for (int i = 0; i < 6; ++i) {
    const Link& l = c.link[i];
    if (l.prismatic || l.offset != 0 || l.sin_alpha != sine[i] || (sine[i] == 0 && l.cos_alpha != 1)) return false;
    if ((i == 0 || i > 2) && l.a != 0) return false;
  }
  return c.link[4].d == 0 && (c.link[1].a != 0) && (c.link[3].d != 0 || c.link[2].a != 0);
}

Chain puma560(double tool, bool armature) {
  Chain c;
  c.joints = 6;
  c.link[0] = dh(0, 0, 1);
  c.link[1] = dh(0.4318, 0, 0);
  c.link[2] = dh(0.0203, 0.15005, -1);
  c.link[3] = dh(0, 0.4318, 1);
  c.link[4] = dh(0, 0, -1);
  c.link[5] = dh(0, 0, 0);
  give_body(c.link[0], 0, {{0, 0, 0}}, {{0, 0.35, 0}});
  give_body(c.link[1], 17.4, {{-0.3638, 0.006, 0.2275}}, {{0.13, 0.524, 0.539}});
  give_body(c.link[2], 4.8, {{-0.0203, -0.0141, 0.070}}, {{0.066, 0.086, 0.0125}});
  give_body(c.link[3], 0.82, {{0, 0.019, 0}}, {{1.8e-3, 1.3e-3, 1.8e-3}});
  give_body(c.link[4], 0.34, {{0, 0, 0}}, {{0.3e-3, 0.4e-3, 0.3e-3}});
  give_body(c.link[5], 0.09, {{0, 0, 0.032}}, {{0.15e-3, 0.15e-3, 0.04e-3}});
  if (armature) {
    const double gear[6] = {-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686};
    for (int i = 0; i < 6; ++i) give_motor(c.link[i], i < 3 ? 200e-6 : 33e-6, gear[i]);
  }
  c.tool.p[2] = tool;
  c.finish();
  return c;
}

}  // namespace garra::chain
