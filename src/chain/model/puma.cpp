// The PUMA 560, and which chains are built like it.
#include <cmath>

#include "garra/chain.hpp"
#include "garra/systems/chain/inverse_kinematics.hpp"

namespace garra::chain {

namespace {

struct Motor {
  double inertia, gear;  ///< [kg m^2], turns of the motor per turn of the joint
};

DhJoint dh_row(double a, double d, double quarter_turns) {
  DhJoint out;
  out.a = a;
  out.d = d;
  out.alpha = quarter_turns * M_PI / 2;
  return out;
}

Body body(double mass, const Vec3<double>& com, const Vec3<double>& principal) {
  Body out{.mass = mass, .com = com};
  for (int i = 0; i < 3; ++i) out.inertia(i, i) = principal[i];
  return out;
}

bool alphas_are_the_pumas(const Model<double, 6>& m) {
  const double sine[6] = {0, 1, 0, -1, 1, -1};
  // Exact comparisons: is_puma_like() is about numbers that went through exact_cos_sin().
  for (int i = 0; i < 6; ++i)
    if (m.joint[i].sin_alpha != sine[i] || m.joint[i].cos_alpha != 1 - std::abs(sine[i])) return false;
  return true;
}

}  // namespace

bool is_puma_like(const Model<double, 6>& m) {
  for (int i = 0; i < 6; ++i) {
    const bool may_have_a = i == 2 || i == 3;
    if (m.prismatic[i] || m.joint[i].theta != 0 || m.joint[i].b != 0 || (!may_have_a && m.joint[i].a != 0))
      return false;
  }
  // Without a2, or with neither a3 nor d4, the elbow has no triangle to solve.
  return alphas_are_the_pumas(m) && m.joint[4].d == 0 && m.joint[2].a != 0 && (m.joint[3].d != 0 || m.joint[3].a != 0);
}

std::vector<DhJoint> puma560(bool armature) {
  std::vector<DhJoint> rows = {dh_row(0, 0, 1),      dh_row(0.4318, 0, 0), dh_row(0.0203, 0.15005, -1),
                               dh_row(0, 0.4318, 1), dh_row(0, 0, -1),     dh_row(0, 0, 0)};
  const Body bodies[6] = {body(0, {{0, 0, 0}}, {{0, 0.35, 0}}),
                          body(17.4, {{-0.3638, 0.006, 0.2275}}, {{0.13, 0.524, 0.539}}),
                          body(4.8, {{-0.0203, -0.0141, 0.070}}, {{0.066, 0.086, 0.0125}}),
                          body(0.82, {{0, 0.019, 0}}, {{1.8e-3, 1.3e-3, 1.8e-3}}),
                          body(0.34, {{0, 0, 0}}, {{0.3e-3, 0.4e-3, 0.3e-3}}),
                          body(0.09, {{0, 0, 0.032}}, {{0.15e-3, 0.15e-3, 0.04e-3}})};
  const Motor motors[6] = {{200e-6, -62.6111}, {200e-6, 107.815}, {200e-6, -53.7063},
                           {33e-6, 76.0364},   {33e-6, 71.923},   {33e-6, 76.686}};
  for (std::size_t i = 0; i < 6; ++i) {
    rows[i].link.body = bodies[i];
    if (armature) rows[i].link.armature = motors[i].gear * motors[i].gear * motors[i].inertia;
  }
  return rows;
}

}  // namespace garra::chain
