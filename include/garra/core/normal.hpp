// The standard normal distribution: its quantile over S, its distribution function on the host.
#pragma once

#include "garra/core/elementary.hpp"

namespace garra {

// The three rational functions of M. J. Wichura, "Algorithm AS 241: the percentage points of the
// normal distribution", Applied Statistics 37 (1988) 477-484, routine PPND16, relative error about
// 1e-16.
namespace normal {

/// Numerator and denominator of a rational function: one division then serves all branches.
template <class S>
struct Ratio {
  S top, bottom;
};

/// |p - 1/2| <= 0.425, r = 0.425^2 - (p - 1/2)^2; multiplies p - 1/2.
template <class S>
GARRA_HD Ratio<S> central(const S& r) {
  using R = RealOf<S>;
  using elementary::polynomial;
  return {polynomial<S>(r, R(3.3871328727963666080e0), R(1.3314166789178437745e2), R(1.9715909503065514427e3),
                        R(1.3731693765509461125e4), R(4.5921953931549871457e4), R(6.7265770927008700853e4),
                        R(3.3430575583588128105e4), R(2.5090809287301226727e3)),
          polynomial<S>(r, R(1.0), R(4.2313330701600911252e1), R(6.8718700749205790830e2), R(5.3941960214247511077e3),
                        R(2.1213794301586595867e4), R(3.9307895800092710610e4), R(2.8729085735721942674e4),
                        R(5.2264952788528545610e3))};
}

/// Tails, r = sqrt(-log(min(p, 1 - p))) - 1.6 with r + 1.6 <= 5.
template <class S>
GARRA_HD Ratio<S> tail(const S& r) {
  using R = RealOf<S>;
  using elementary::polynomial;
  return {polynomial<S>(r, R(1.42343711074968357734e0), R(4.63033784615654529590e0), R(5.76949722146069140550e0),
                        R(3.64784832476320460504e0), R(1.27045825245236838258e0), R(2.41780725177450611770e-1),
                        R(2.27238449892691845833e-2), R(7.74545014278341407640e-4)),
          polynomial<S>(r, R(1.0), R(2.05319162663775882187e0), R(1.67638483018380384940e0),
                        R(6.89767334985100004550e-1), R(1.48103976427480074590e-1), R(1.51986665636164571966e-2),
                        R(5.47593808499534494600e-4), R(1.05075007164441684324e-9))};
}

/// Far tails, r = sqrt(-log(min(p, 1 - p))) - 5.
template <class S>
GARRA_HD Ratio<S> far_tail(const S& r) {
  using R = RealOf<S>;
  using elementary::polynomial;
  return {polynomial<S>(r, R(6.65790464350110377720e0), R(5.46378491116411436990e0), R(1.78482653991729133580e0),
                        R(2.96560571828504891230e-1), R(2.65321895265761230930e-2), R(1.24266094738807843860e-3),
                        R(2.71155556874348757815e-5), R(2.01033439929228813265e-7)),
          polynomial<S>(r, R(1.0), R(5.99832206555887937690e-1), R(1.36929880922735805310e-1),
                        R(1.48753612908506148525e-2), R(7.86869131145613259100e-4), R(1.84631831751005468180e-5),
                        R(1.42151175831644588870e-7), R(2.04426310338993978564e-15))};
}

}  // namespace normal

/// x with P(X <= x) = p for a standard normal X, relative error about 1e-15 (double). -infinity for
/// p = 0, +infinity for p = 1, NaN outside [0, 1]. The tails are skipped if no lane needs them,
/// which changes no bit.
template <class S>
[[nodiscard]] GARRA_HD S normal_quantile(const S& p) {
  using R = RealOf<S>;
  const S q = p - S(R(0.5));
  const MaskOf<S> in_center = abs(q) <= S(R(0.425));
  normal::Ratio<S> ratio = normal::central<S>(fma(-q, q, S(R(0.180625))));
  S factor = q;
  if (!all(in_center)) {
    const S mass = min(p, S(R(1)) - p);
    const S r = sqrt(-log(mass));
    const MaskOf<S> far = r > S(R(5));
    normal::Ratio<S> outer = normal::tail<S>(r - S(R(1.6)));
    if (any(far)) {
      const normal::Ratio<S> beyond = normal::far_tail<S>(r - S(R(5)));
      outer.top = select(far, beyond.top, outer.top);
      outer.bottom = select(far, beyond.bottom, outer.bottom);
    }
    // p = 0 or 1 makes r infinite and the ratio inf/inf.
    const MaskOf<S> certain = mass == S(R(0));
    outer.top = select(certain, r, outer.top);
    outer.bottom = select(certain, S(R(1)), outer.bottom);
    const S side = select(q < S(R(0)), S(R(-1)), S(R(1)));
    factor = select(in_center, factor, side);
    ratio.top = select(in_center, ratio.top, outer.top);
    ratio.bottom = select(in_center, ratio.bottom, outer.bottom);
  }
  return factor * ratio.top / ratio.bottom;
}

#if !defined(__CUDACC__)
/// P(X <= x) for a standard normal X. Host only, for reports and tests: it calls the C library.
[[nodiscard]] inline double normal_cdf(double x) { return 0.5 * std::erfc(-x * 0.70710678118654752440); }
#endif

}  // namespace garra
