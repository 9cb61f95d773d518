// Motions of the joints with the end effector at rest, by products of exponentials: whether they lead out of a
// singularity is what the analysis' quadratic form says.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "garra/core/factor.hpp"
#include "garra/math/screw_algebra.hpp"
#include "garra/singularity.hpp"
#include "singularity_cases.hpp"

namespace garra::singularity {
namespace {

using namespace reference;
using Rates = std::vector<double>;

/// Motion of the end effector when the joints move by dq from where the screws are given.
Pose<double> tip_motion(const ScrewSet& set, const Rates& dq) {
  Pose<double> X = Pose<double>::identity();
  for (std::size_t j = 0; j < dq.size(); ++j) X = X * exp(dq[j] * set.screw[j]);
  return X;
}

/// The screw of a small motion, to second order in it: what is antisymmetric in R, and p.
Screw<double> twist_of(const Pose<double>& X) {
  const Mat3<double>& R = X.R;
  return {0.5 * vec3<double>(R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1)), X.p};
}

Rates combination(const Analysis& a, double x, double y) {
  Rates dq(a.null_space[0]);
  for (std::size_t j = 0; j < dq.size(); ++j)
    dq[j] = x * a.null_space[0][j] + (a.null_space.size() > 1 ? y * a.null_space[1][j] : 0);
  return dq;
}

/// What the lost wrench sees of a motion t v of the joints without effect at first order, over t^2, for v = x v1 + y
/// v2.
double seen(const ScrewSet& set, const Analysis& a, double x, double y) {
  constexpr double kStep = 1e-3;
  double sum = 0;
  for (const double t : {kStep, -kStep})  // both, so that the third order drops out
    sum += dot(a.lost_wrenches[0], twist_of(tip_motion(set, combination(a, t * x, t * y))));
  return sum / (kStep * kStep) / a.scaling.length;  // wrenches of the analysis are of unit length in scaled form
}

TEST(SelfMotion, TheFormIsTheSecondOrderOfTheTipsTrueMotion) {
  constexpr double kSecondOrder = 1e-5;  // step^2 = 1e-6 times coefficients of size one
  int checked = 0, definite = 0;
  for (const Json& c : cases()) {
    SCOPED_TRACE(c["id"].get<std::string>());
    const ScrewSet set = screws_in(c["screws"]);
    const Analysis a = analyze(set);
    if (a.self_motion == SelfMotion::kNotChecked) continue;
    ASSERT_LE(a.null_space.size(), 2u);
    const double xx = seen(set, a, 1, 0), both = seen(set, a, 1, 1);
    if (a.null_space.size() == 1) {
      EXPECT_NEAR(a.self_motion_form[0], xx, kSecondOrder);
    } else {
      const double yy = seen(set, a, 0, 1), xy = 0.5 * (both - xx - yy);
      const double mean = 0.5 * (xx + yy), radius = std::hypot(0.5 * (xx - yy), xy);
      EXPECT_NEAR(a.self_motion_form[0], mean + radius, kSecondOrder);
      EXPECT_NEAR(a.self_motion_form[1], mean - radius, kSecondOrder);
    }
    ++checked;
    definite += a.self_motion == SelfMotion::kNone;
  }
  EXPECT_GE(checked, 8);
  EXPECT_GE(definite, 2);  // examples 1 and 3 at least
}

/// Newton's iteration onto joint motions that leave the tip where it was, nearest first; returns what is left of it.
double hold_tip(const ScrewSet& set, Rates& dq) {
  constexpr double kRidge = 1e-16;  // the Jacobian is singular at the start of the path, regular on it
  Screw<double> error{};
  for (int iteration = 0; iteration < 50; ++iteration) {
    error = twist_of(tip_motion(set, dq));
    const ScrewSet now = displaced(set, dq);
    Mat<double, 6, 6> gram = Mat<double, 6, 6>::zero();
    const auto entry = [](const Screw<double>& s, int i) { return i < 3 ? s.w[i] : s.v[i - 3]; };
    for (const Screw<double>& s : now.screw)
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) gram(i, j) += entry(s, i) * entry(s, j);
    Vec<double, 6> right;
    for (int i = 0; i < 6; ++i) {
      gram(i, i) += kRidge;
      right[i] = entry(error, i);
    }
    const Vec<double, 6> y = solve(factor_ldlt(gram), right);
    for (std::size_t j = 0; j < dq.size(); ++j) {
      double step = 0;
      for (int i = 0; i < 6; ++i) step += entry(now.screw[j], i) * y[i];
      dq[j] -= step;
    }
  }
  return std::sqrt(dot(error, error));
}

TEST(SelfMotion, LeadsOutOfTheWristOfSevenJointsWithTheTipHeld) {
  const ScrewSet set = screws_in(case_of("srs_wrist")["screws"]);
  const Analysis a = analyze(set);
  ASSERT_EQ(a.self_motion, SelfMotion::kEscapes);
  // A direction that the form does not see, found by bisection between one that it sees with either sign.
  double plus = 0, minus = 0;
  for (int k = 0; k < 180; ++k) {
    const double angle = k * M_PI / 180, value = seen(set, a, std::cos(angle), std::sin(angle));
    if (value > 1e-3) plus = angle;
    if (value < -1e-3) minus = angle;
  }
  for (int k = 0; k < 50; ++k) {
    const double middle = 0.5 * (plus + minus);
    (seen(set, a, std::cos(middle), std::sin(middle)) > 0 ? plus : minus) = middle;
  }
  Rates dq = combination(a, 0.4 * std::cos(plus), 0.4 * std::sin(plus));
  EXPECT_LT(hold_tip(set, dq), 1e-12);
  EXPECT_GT(sigma_after(set, a, dq), 0.05);  // the reference's search found 0.11
}

}  // namespace
}  // namespace garra::singularity
