#include "garra/study/distribution.hpp"

#include <algorithm>
#include <cmath>

namespace garra::study {

namespace {

/// Distribution function of a constant, 1 from `at` on.
double step(double x, double at) { return x < at ? 0.0 : 1.0; }

/// part / whole within [0, 1]; of a ball or cone without extent a step at 0.
double count_share(double part, double whole, double x) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : step(x, 0);
}

}  // namespace

double Distribution::probability_below(double x) const {
  switch (kind) {
    case Kind::kConstant:
      return step(x, a);
    case Kind::kUniform:
      return b > a ? std::clamp((x - a) / (b - a), 0.0, 1.0) : step(x, a);
    case Kind::kNormal:
      return b > 0 ? normal_cdf((x - a) / b) : step(x, a);
    case Kind::kLognormal:
      if (x <= 0) return 0;
      return b > 0 ? normal_cdf(std::log(x / a) / b) : step(x, a);
    case Kind::kBallRadius: {
      const double r = std::max(x, 0.0);
      return count_share(r * r * r, a * a * a, x);
    }
    case Kind::kConeAngle: {
      // 1 - cos x without its cancellation at small angles.
      const double s = std::sin(std::clamp(x, 0.0, M_PI) / 2);
      return count_share(2 * s * s, b, x);
    }
  }
  return step(x, a);
}

Distribution Distribution::truncated(double min, double max) const {
  Distribution d = *this;
  // Stored as probabilities: a draw maps a uniform number into [low, high] and takes the quantile, without rejection.
  d.low = std::max(low, probability_below(min));
  d.high = std::min(high, probability_below(max));
  return d;
}

double Distribution::nominal() const { return quantile(*this, 0.5); }

}  // namespace garra::study
