// Forces on the tool and dry friction of the joints of a simulated chain (docs/theory/chain-simulation.md, "Forces on
// the tool", "Friction").
#pragma once

#include "garra/systems/chain/simulate_torque.hpp"

namespace garra::chain {

enum class ToolForceKind : int {
  kNone,
  kConstant,  ///< `force` and `moment`
  kSampled,   ///< polygon through given wrenches, held after the last one
  kWall,      ///< frictionless half space: k depth + c (speed inwards), never pulling
  kSpring,    ///< a body held around `place` with a play: k (distance - play) towards it, less c v
};

/// The force on the tool point, world axes, shared by all samples.
struct ToolForceLaw {
  ToolForceKind kind;
  int joints;                  ///< of the chain; joints that pad it carry nothing of the force
  Vec3<double> force, moment;  ///< constant [N], about the tool point [N m]
  const double* points;        ///< [points_count, 6]
  int points_count;
  double interval;                  ///< between two points [s]
  Vec3<double> place, normal;       ///< a point of the wall and its unit normal, out of it; the spring's anchor [m]
  double stiffness, damping, play;  ///< [N/m], [N s/m], [m]
};

template <class S>
struct ToolWrench {
  Vec3<S> force, moment;
};

/// The wrench on a tool with this motion.
template <class S, class C>
GARRA_HD ToolWrench<S> tool_wrench(const ToolForceLaw& law, const C& t, const ToolMotion<S>& tool) {
  ToolWrench<S> out = {Vec3<S>::zero(), Vec3<S>::zero()};
  const S k = S(law.stiffness), c = S(law.damping);
  if (law.kind == ToolForceKind::kConstant) {
    out = {cast<S>(law.force), cast<S>(law.moment)};
  } else if (law.kind == ToolForceKind::kSampled) {
    for (int i = 0; i < 3; ++i) {
      out.force[i] = S(polygon_at(law.points, {law.points_count, 6, law.interval}, i, t));
      out.moment[i] = S(polygon_at(law.points, {law.points_count, 6, law.interval}, i + 3, t));
    }
  } else if (law.kind == ToolForceKind::kWall) {
    const Vec3<S> n = cast<S>(law.normal);
    const S depth = dot(n, cast<S>(law.place) - tool.p), inwards = -dot(n, tool.v);
    const S push = max(S(0), fma(k, depth, c * inwards));
    out.force = select(depth > S(0), push, S(0)) * n;
  } else if (law.kind == ToolForceKind::kSpring) {
    const Vec3<S> away = cast<S>(law.place) - tool.p;
    const S distance = sqrt(dot(away, away)), stretch = distance - S(law.play);
    const auto held = stretch > S(0);
    const S pull = select(held, k * stretch / select(held, distance, S(1)), S(0));
    out.force = axpy(-select(held, c, S(0)), tool.v, pull * away);
  }
  return out;
}

template <class S, int J>
struct Motion {
  Vec<S, J> q, qd;
};

/// J' f of the force on the tool; one function, compiled once.
template <Joints K, class S, class C, class M, int J>
GARRA_HD_CALL void call_tool_load(const M& m, const ToolForceLaw& law, const C& t, const Motion<S, J>& at,
                                  Vec<S, J>& tau) {
  const Angles<S, J> x = angles<K>(m, at.q);
  const ToolWrench<S> w = tool_wrench<S>(law, t, tool_motion<K>(m, x, at.qd));
  tau = tool_torque<K>(m, x, w.force, w.moment);
  for (int i = law.joints; i < extent<J>(); ++i) tau[i] = S(0);
}

/// Dry friction per joint beside viscous damping: the torque -level(qd) qd / sqrt(qd^2 + smooth^2), where the level
/// falls from `breakaway` to `coulomb` as exp(-(qd / stribeck)^2).
template <int J>
struct FrictionLaw {
  bool dry;
  Vec<double, J> coulomb, breakaway;  ///< [N m or N]
  Vec<double, J> stribeck, smooth;    ///< [rad/s or m/s]
};

/// D(qd) / qd of each joint, dry friction included.
template <class S, int J>
GARRA_HD Vec<S, J> braking(const FrictionLaw<J>& law, const Vec<S, J>& viscous, const Vec<S, J>& qd) {
  Vec<S, J> out = viscous;
  if (!law.dry) return out;
  for (int i = 0; i < extent<J>(); ++i) {
    const S square = qd[i] * qd[i], ratio = square / S(law.stribeck[i] * law.stribeck[i]);
    const S level = fma(S(law.breakaway[i] - law.coulomb[i]), exp(-min(ratio, S(700))), S(law.coulomb[i]));
    out[i] = out[i] + level / sqrt(square + S(law.smooth[i] * law.smooth[i]));
  }
  return out;
}

}  // namespace garra::chain
