// The equations in 91 coordinates against the reference's residuals, Jacobian, gamma, accelerations and multipliers.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "garra/systems/platform/full_dynamics.hpp"
#include "platform_reference.hpp"

namespace garra::platform {
namespace {

using test::platform_reference;
using test::reference_platform;

constexpr double kRounding = 1e-13;       ///< of sums of a few numbers near 1
constexpr double kForceRounding = 1e-11;  ///< of multipliers of some 100 N

/// In the reference's order: the platform, then lower and upper link of each leg.
std::vector<double> flat(const FullPlace<double>& q) {
  std::vector<double> x;
  const auto put = [&](const Place<double>& b) {
    x.insert(x.end(), b.r.m, b.r.m + 3);
    x.insert(x.end(), b.p.m, b.p.m + 4);
  };
  put(q.platform);
  for (int i = 0; i < kLegs; ++i) put(q.lower[i]), put(q.upper[i]);
  return x;
}

FullPlace<double> place_from(const nlohmann::json& x) {
  const auto body = [&](std::size_t b) {
    Place<double> p;
    for (std::size_t k = 0; k < 3; ++k) p.r[static_cast<int>(k)] = x.at(7 * b + k).get<double>();
    for (std::size_t k = 0; k < 4; ++k) p.p[static_cast<int>(k)] = x.at(7 * b + 3 + k).get<double>();
    return p;
  };
  FullPlace<double> q;
  q.platform = body(0);
  for (std::size_t i = 0; i < 6; ++i) q.lower[i] = body(1 + 2 * i), q.upper[i] = body(2 + 2 * i);
  return q;
}

void expect_near(const std::vector<double>& got, const nlohmann::json& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], want.at(k).get<double>(), tolerance) << k;
}

TEST(PlatformFullMatrix, ItsNewtonStepSolvesTheReferencesNinetyOneLinearEquations) {
  const nlohmann::json document = platform_reference("assembly91_trepa_like");
  const Model<double> m = make_model(reference_platform("trepa_like"));
  const FullPlace<double> q = place_from(document.at("q_perturbed"));
  const std::vector<double> from = flat(q),
                            to = flat(full_newton_step(m, q, test::to_vector<6>(document.at("lengths"))));
  std::vector<double> left = document.at("phi").get<std::vector<double>>();
  const nlohmann::json& entries = document.at("jacobian_triplets");
  for (std::size_t k = 0; k < entries.at(0).size(); ++k) {
    const auto row = entries.at(0).at(k).get<std::size_t>(), column = entries.at(1).at(k).get<std::size_t>();
    left.at(row) += entries.at(2).at(k).get<double>() * (to.at(column) - from.at(column));
  }
  for (std::size_t k = 0; k < left.size(); ++k) EXPECT_NEAR(left[k], 0, kRounding) << k;
}

TEST(PlatformFullMatrix, GivesTheReferencesRatesAccelerationsAndMultipliers) {
  const nlohmann::json document = platform_reference("assembly91_trepa_like");
  const Model<double> m = make_model(reference_platform("trepa_like"));
  FullMotion<double> q;
  q.at = place_from(document.at("q"));
  q.rate = full_rate(m, q.at, {test::to_vector<3>(document.at("v")), test::to_vector<3>(document.at("w"))});
  expect_near(flat(q.rate), document.at("qd"), kRounding);
  Multipliers<double> lambda;
  const Wrench6<double> none{Vec3<double>::zero(), Vec3<double>::zero()};
  const FullPlace<double> a =
      full_acceleration(m, q, test::to_vector<6>(document.at("actuator_forces")), none, Baumgarte{0}, &lambda);
  expect_near(flat(a), document.at("qdd91"), kRounding);
  std::vector<double> passive(lambda.m, lambda.m + kFullCoordinates);
  passive.erase(passive.begin() + 72, passive.begin() + 78);
  expect_near(passive, document.at("lambda85"), kForceRounding);
}

}  // namespace
}  // namespace garra::platform
