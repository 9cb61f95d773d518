// Loads that change with time (docs/theory/grasp-time.md): their values in one step, shared by all
// samples, and the shaking of one sample's palm.
#pragma once

#include "garra/core/elementary.hpp"
#include "garra/core/mat.hpp"
#include "garra/core/philox.hpp"

namespace garra::grasp {

inline constexpr int kShakeTones = 16;  ///< of a shake, along each axis

/// The loads of one step. Trivially copyable: a kernel gets it by value.
struct Instant {
  double t;                    ///< middle of the step [s]
  Vec<double, 6> wrench;       ///< on the object: mean over the step (force [N]; torque about the center of mass [N m])
  Vec3<double> known_gravity;  ///< with its tilt, without shaking [m/s^2]
  double shake_cos[kShakeTones], shake_sin[kShakeTones];  ///< of 2 pi f_k t, faded in and out; 0 without shaking
  Vec3<double> carried;  ///< prescribed acceleration of the palm [m/s^2], P axes; 0 if there is none
};

/// The shake of one sample: along axis i the palm accelerates by sum_k a_ik cos(2 pi f_k t) + b_ik sin(2 pi f_k t).
template <class S>
struct ShakePhases {
  S a[3][kShakeTones], b[3][kShakeTones];  ///< [m/s^2]
};

/// Philox block of the first pair of phases, far beyond those of the inputs.
inline constexpr std::uint32_t kShakeBlock = 4096;

/// Tones A cos(2 pi f_k t + phi_ik) of equal size and uniform phase, A = rms sqrt(2 / tones): a stationary random
/// process with a given rms [m/s^2] along each axis (M. Shinozuka, C.-M. Jan, J. Sound Vib. 25(1), 1972).
template <class S>
GARRA_HD_CALL ShakePhases<S> draw_shake(std::uint64_t seed, const SampleIndex<S>& index, const Vec3<double>& rms) {
  static_assert(kShakeTones == 16, "the amplitude has its square root");
  ShakePhases<S> out;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < kShakeTones; k += 2) {
      S u[2];
      uniform_pair<S>(seed, index, kShakeBlock + static_cast<std::uint32_t>((i * kShakeTones + k) / 2), u[0], u[1]);
      for (int h = 0; h < 2; ++h) {
        const auto phase = sincos(S(6.283185307179586476925) * u[h]);
        const S size = S(rms[i] * 0.35355339059327376220);  // sqrt(2 / 16)
        out.a[i][k + h] = size * phase.cos;
        out.b[i][k + h] = -(size * phase.sin);
      }
    }
  return out;
}

/// Acceleration of the palm by its shake [m/s^2], P axes. In the palm's frame it is subtracted from
/// gravity.
template <class S>
GARRA_HD Vec3<S> palm_acceleration(const Instant& now, const ShakePhases<S>& shake) {
  Vec3<S> sum = Vec3<S>::zero();
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < kShakeTones; ++k)
      sum[i] = fma(shake.a[i][k], S(now.shake_cos[k]), fma(shake.b[i][k], S(now.shake_sin[k]), sum[i]));
  return sum;
}

}  // namespace garra::grasp
