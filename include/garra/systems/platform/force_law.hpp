// Forces of the actuators: commanded forces over time, minus friction
// (docs/theory/platform-dynamics.md, "Simulation").
#pragma once

#include <type_traits>

#include "garra/core/elementary.hpp"
#include "garra/core/mat.hpp"

namespace garra::platform {

/// tanh(x) = (1 - e) / (1 + e), e = exp(-2 |x|), with x's sign: bounded by 1, odd to the bit, absolute error of some
/// 1e-16.
template <class S>
GARRA_HD S smooth_sign(const S& x) {
  const S e = exp(S(-2) * abs(x));
  return elementary::flip_sign((S(1) - e) / (S(1) + e), elementary::sign_bits(x));
}

/// Friction of an actuator at a rate of its length [m/s]: viscous * rate + coulomb * tanh(rate /
/// speed) [N]. The force on the leg is the commanded one minus this; the actuator's force is the
/// force on the leg plus this.
template <class S>
GARRA_HD S actuator_friction(const S& rate, const std::type_identity_t<S>& viscous,
                             const std::type_identity_t<S>& coulomb, const std::type_identity_t<S>& speed) {
  return fma(viscous, rate, coulomb * smooth_sign<S>(rate / speed));
}

/// Friction parameters of all actuators.
template <class T>
struct FrictionOf {
  T viscous;  ///< [N s/m]
  T coulomb;  ///< [N]
  T speed;    ///< smoothing speed [m/s]
};
using Friction = FrictionOf<double>;

/// Commanded forces between two given times: linear in `share`, 0 .. 1.
template <class S>
struct ForceSpan {
  Vec<S, 6> from, change;  ///< [N]
};
template <class S>
GARRA_HD Vec<S, 6> force_at(const ForceSpan<S>& span, double share) {
  return axpy(S(share), span.change, span.from);
}

}  // namespace garra::platform
