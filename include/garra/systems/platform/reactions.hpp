// Reaction forces of the joints (docs/theory/platform-dynamics.md).
#pragma once

#include "garra/systems/platform/dynamics.hpp"

namespace garra::platform {

/// Forces and moment of the joints on a leg, base axes.
template <class S>
struct LegReactions {
  Vec3<S> spherical;  ///< force of the platform [N]
  Vec3<S> universal;  ///< force of the base [N]
  S moment;           ///< of the base about (k x x) / |k x x|, the only axis about which the joint resists [N m]
};

/// Reactions (6) of a leg whose actuator pushes with `force`.
template <class S>
GARRA_HD LegReactions<S> leg_reactions(const LegMotion<S>& m, const LegEffort<S>& needs, const S& force) {
  const Vec3<S> joint = vec3<S>(needs.joint[0], needs.joint[1], needs.joint[2] - force);
  // k x x = (0, k.z, -k.y) in the leg's frame, and no force has a lever about z
  return {to_base(m.frame, joint), to_base(m.frame, needs.total - joint), -(needs.moment[2] / m.frame.ky)};
}

}  // namespace garra::platform
