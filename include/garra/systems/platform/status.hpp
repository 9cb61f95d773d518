// Status of a row; nvcc compiles it, too. Rows of invalid input are NaN; other failures hold the last pose.
#pragma once

#include <cstdint>
#include <limits>

#include "garra/systems/platform/pose.hpp"

namespace garra::platform {

/// Result of a pose search, or the reason for its failure.
enum class PoseStatus : int {
  kConverged = 0,  ///< residual of the given lengths <= tolerance; of forward kinematics in six coordinates also: it is
                   ///< the guess's pose, found within ForwardOptions::plain_iterations or at the end of a proven path
  kCertified,      ///< and proven to be the guess's: the only one within a radius about the guess (Kantorovich's test),
                   ///< or with certify_mode the end of a path without singularities
  kModeSuspect,    ///< residual <= tolerance, but det J has another sign than at the guess, or no proven path leads
                   ///< there: it may be another assembly mode
  kNearSingular,   ///< converged, but the scaled smallest singular value is below its limit: the pose is ill determined
  kStalled,        ///< the iteration stagnates at other lengths; holds the best pose. Another guess may lead to a pose
                   ///< that has them
  kIterationLimit,  ///< neither converged nor stalled
  kInvalidInput,    ///< a number is not finite, a length not positive, or a quaternion is zero
};
inline constexpr int kPoseStatuses = 7;

/// Bits of a limit mask.
enum LimitBit : std::uint32_t {
  kTooShort = 1,  ///< << leg
  kTooLong = 1 << 6,
  kUniversalCone = 1 << 12,
  kSphericalCone = 1 << 18,
  kCollision = 1 << 24,  ///< << leg: both legs of a pair closer than allowed
};

/// The status as a kernel's number.
template <class S>
GARRA_HD S to_number(PoseStatus status) {
  return S(static_cast<int>(status));
}

/// 1 if all numbers of a struct of S are finite, else 0.
template <class S, class In>
GARRA_HD S all_finite(const In& in) {
  constexpr int fields = static_cast<int>(sizeof(In) / sizeof(S));
  const S* number = reinterpret_cast<const S*>(&in);
  S nothing(0);
  // 0 x finite = 0, while 0 x infinity and 0 x NaN are NaN: one comparison for all fields, without
  // the overflow of a sum of squares.
  for (int k = 0; k < fields; ++k) nothing = fma(number[k], S(0), nothing);
  return select(nothing == S(0), S(1), S(0));
}

/// Finite, with a quaternion that can be normalized in double precision.
template <class S>
GARRA_HD MaskOf<S> usable(const Place<S>& place) {
  const S squares = dot(place.p, place.p);
  return all_finite<S>(place) == S(1) && squares >= S(std::numeric_limits<double>::min()) &&
         squares <= S(std::numeric_limits<double>::max());
}

/// Sets every number of a struct of S to NaN if there is no answer.
template <class S, class Answer>
GARRA_HD void blank_unless(const MaskOf<S>& answered, Answer& answer) {
  S* number = reinterpret_cast<S*>(&answer);
  for_each_index<static_cast<int>(sizeof(Answer) / sizeof(S))>(
      [&](int k) { number[k] = select(answered, number[k], S(__builtin_nan(""))); });
}

}  // namespace garra::platform
