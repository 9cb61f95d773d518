// Rotation matrices from angles and their inverse. Host only: it calls the C library.
#pragma once

#include <cmath>

#include "garra/math/pose.hpp"

namespace garra {

/// cos and sin of an angle [rad], exact (0, +-1) within 2.2e-13 rad of multiples of 90 degrees, so
/// that zeros of a model stay zeros. The common 3.14159265359 is within this distance of pi.
inline void exact_cos_sin(double angle, double& c, double& s) {
  const double quarter = angle / (M_PI / 2);
  const double nearest = std::round(quarter);
  if (std::abs(quarter - nearest) > 1.4e-13) {
    c = std::cos(angle);
    s = std::sin(angle);
    return;
  }
  const int k = static_cast<int>(nearest - 4 * std::floor(nearest / 4));
  c = k == 0 ? 1 : k == 2 ? -1 : 0;
  s = k == 1 ? 1 : k == 3 ? -1 : 0;
}

/// Roll, pitch, yaw [rad] about the fixed axes x, then y, then z, as in URDF: R = Rz(yaw) Ry(pitch)
/// Rx(roll).
inline Mat3<double> rotation_from_rpy(const Vec3<double>& rpy) {
  double c[3], s[3];
  for (int i = 0; i < 3; ++i) exact_cos_sin(rpy[i], c[i], s[i]);
  return {{c[2] * c[1], c[2] * s[1] * s[0] - s[2] * c[0], c[2] * s[1] * c[0] + s[2] * s[0],  //
           s[2] * c[1], s[2] * s[1] * s[0] + c[2] * c[0], s[2] * s[1] * c[0] - c[2] * s[0],  //
           -s[1], c[1] * s[0], c[1] * c[0]}};
}

/// The inverse of rotation_from_rpy; roll is 0 if pitch is +-90 degrees.
inline Vec3<double> rpy_from_rotation(const Mat3<double>& R) {
  const double pitch = std::atan2(-R(2, 0), std::hypot(R(0, 0), R(1, 0)));
  if (std::abs(R(2, 0)) > 1 - 1e-15) return {{0, pitch, std::atan2(-R(0, 1), R(1, 1))}};
  return {{std::atan2(R(2, 1), R(2, 2)), pitch, std::atan2(R(1, 0), R(0, 0))}};
}

}  // namespace garra
