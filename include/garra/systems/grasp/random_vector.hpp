// A random vector from three scalar inputs. Host and device.
#pragma once

#include "garra/core/elementary.hpp"
#include "garra/core/mat.hpp"

namespace garra::grasp {

/// Vector of random direction: size, cosine of the polar angle, azimuth.
template <class S>
GARRA_HD Vec3<S> ball_vector(const S& size, const S& cosine, const S& azimuth) {
  // max: rounding may take the square of the cosine past 1.
  const S sine = sqrt(max(fma(-cosine, cosine, S(1)), S(0)));
  const auto a = sincos(azimuth);
  return vec3<S>(size * (sine * a.cos), size * (sine * a.sin), size * cosine);
}

}  // namespace garra::grasp
