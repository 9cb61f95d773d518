// A scalar uncertain input: a value, or a distribution given by its quantile function (docs/theory/monte-carlo.md).
//
// Every input is driven by exactly one uniform number u in (0, 1): value = quantile(u). Truncation
// thus needs no rejection, and the bin of u is the quantile bin of the input. Designs with the same
// uncertain inputs share the numbers of the samples with the same (seed, i).
#pragma once

#include <cmath>

#include "garra/core/elementary.hpp"
#include "garra/core/normal.hpp"

namespace garra::study {

struct Distribution {
  enum class Kind : int {
    kConstant,    ///< a
    kUniform,     ///< between a and b
    kNormal,      ///< mean a, standard deviation b
    kLognormal,   ///< median a, standard deviation b of the logarithm
    kBallRadius,  ///< distance from the center of a point uniform in a ball of radius a
    kConeAngle,   ///< angle from the axis of a direction uniform in a cone of half angle a [rad]; b = 1 - cos(a)
  };
  Kind kind = Kind::kConstant;
  double a = 0, b = 0;
  double low = 0, high = 1;  ///< probabilities that min and max cut off: u is mapped to [low, high]

  [[nodiscard]] static Distribution constant(double value) { return {Kind::kConstant, value, 0, 0, 1}; }
  [[nodiscard]] static Distribution uniform(double from, double to) { return {Kind::kUniform, from, to, 0, 1}; }
  [[nodiscard]] static Distribution normal(double mean, double sd) { return {Kind::kNormal, mean, sd, 0, 1}; }
  /// Distance from the center of a point uniform in a ball; nothing is drawn for a radius of 0.
  [[nodiscard]] static Distribution ball(double radius) {
    return radius > 0 ? Distribution{Kind::kBallRadius, radius, 0, 0, 1} : constant(0);
  }
  /// Angle from the axis of a direction uniform in a cone [rad]; nothing is drawn for a half angle of 0.
  [[nodiscard]] static Distribution cone(double half_angle) {
    // 1 - cos(a) = 2 sin^2(a/2), which keeps its digits for small angles.
    const double s = std::sin(half_angle / 2);
    return half_angle > 0 ? Distribution{Kind::kConeAngle, half_angle, 2 * s * s, 0, 1} : constant(0);
  }
  /// Restricts to [min, max] and renormalizes (a truncated distribution, not a clamped one).
  [[nodiscard]] Distribution truncated(double min, double max) const;
  [[nodiscard]] GARRA_HD bool is_constant() const { return kind == Kind::kConstant; }
  /// Cumulative probability of the untruncated distribution (host).
  [[nodiscard]] double probability_below(double x) const;
  /// Median: the nominal value for callers that need one number.
  [[nodiscard]] double nominal() const;
};

template <class S>
GARRA_HD S quantile(const Distribution& d, const S& u01) {
  const S u = fma(u01, S(d.high - d.low), S(d.low));
  switch (d.kind) {
    case Distribution::Kind::kConstant:
      return S(d.a);
    case Distribution::Kind::kUniform:
      return fma(u, S(d.b - d.a), S(d.a));
    case Distribution::Kind::kNormal:
      return fma(normal_quantile(u), S(d.b), S(d.a));
    case Distribution::Kind::kLognormal:
      return S(d.a) * exp(normal_quantile(u) * S(d.b));
    case Distribution::Kind::kBallRadius:
      return S(d.a) * exp(log(u) * S(1.0 / 3.0));
    // Half-angle form of cos(angle) = 1 - u b, b = 1 - cos(a): rises with u, exact near 0.
    case Distribution::Kind::kConeAngle:
      return S(2) * asin(sqrt(u * S(0.5 * d.b)));
  }
  return S(d.a);
}

}  // namespace garra::study
