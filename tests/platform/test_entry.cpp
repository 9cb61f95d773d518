// Platforms as users describe them: what is refused, and what reaches the kernels (garra/platform.hpp).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "garra/platform.hpp"
#include "garra/systems/platform/legs.hpp"
#include "garra/systems/platform/limits.hpp"
#include "platform_reference.hpp"

namespace garra::platform {
namespace {

constexpr double kRounding = 1e-15;

/// The message with which the platform is refused after `spoil`, or "accepted".
std::string refusal(const std::function<void(Platform&)>& spoil) {
  Platform p = test::reference_platform("trepa_like");
  spoil(p);
  try {
    (void)checked(p);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    return error.what();
  }
  return "accepted";
}

void expect_refused(const std::function<void(Platform&)>& spoil, const std::string& because) {
  EXPECT_NE(refusal(spoil).find(because), std::string::npos) << refusal(spoil);
}

TEST(PlatformModel, LeavesTheNumbersOfAFileAsTheyAre) {
  for (const char* name : {"trepa_like", "irregular"}) {
    const nlohmann::json from = test::platform_reference("params_" + std::string(name));
    const Platform p = test::reference_platform(name);
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        EXPECT_EQ(p.leg[i].axis[static_cast<int>(j)], from.at("universal_ground_axes").at(i).at(j).get<double>());
  }
}

TEST(PlatformModel, LegsMayShareAJointCenter) {
  Platform p = test::reference_platform("trepa_like");
  EXPECT_TRUE(p.notes.empty());
  p.leg[1].base = p.leg[0].base;
  p.leg[5].anchor = p.leg[0].anchor + Vec3<double>{{1e-14, 0, 0}};  // the same but for rounding
  const Platform shared = checked(p);
  const std::vector<std::string> want = {
      "legs 0 and 1 share a joint center at the base; collisions of these pairs are not looked at",
      "legs 0 and 5 share a joint center at the platform; collisions of these pairs are not looked at"};
  EXPECT_EQ(shared.notes, want);
  EXPECT_EQ(shared.leg[5].anchor[0], shared.leg[0].anchor[0]);
  EXPECT_EQ(checked(shared).notes, want);
  // Legs that meet in a joint do not collide there.
  EXPECT_GT(limit_margins<double>(make_limits(shared), make_model(shared), home_place(shared)).clearance, 0);
}

TEST(PlatformModel, NamesTheLegAndWhatIsWrongWithIt) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_refused([](Platform&) {}, "accepted");
  expect_refused([&](Platform& p) { p.leg[2].base[1] = nan; }, "leg 2: the anchor at the base is not finite");
  expect_refused([&](Platform& p) { p.leg[0].anchor[1] = nan; }, "leg 0: the anchor at the platform is not finite");
  expect_refused([](Platform& p) { p.leg[1].base = p.leg[0].base, p.leg[1].anchor = p.leg[0].anchor; },
                 "legs 0 and 1 have the same anchors at both ends: they are one leg");
  expect_refused(
      [](Platform& p) {
        for (int i = 0; i < 6; ++i) p.leg[static_cast<std::size_t>(i)].base = {{0.1 * i, 0, 0}};
      },
      "all anchors at the base lie on one line");
  expect_refused([](Platform& p) { p.leg[3].axis = Vec3<double>::zero(); }, "leg 3: the axis of the universal joint");
  expect_refused(
      [](Platform& p) {
        p.leg[4].axis = leg_vector<double>(make_model(p).leg[4], p.home, rotation_matrix(p.home_turn)).d;
      },
      "leg 4: the axis of its universal joint is parallel to the leg at home");
  expect_refused([](Platform& p) { p.leg[1].lower.mass = 0; }, "leg 1: tube: the mass is not positive");
  expect_refused([](Platform& p) { p.leg[1].upper.inertia = {{0.1, 0.1, 0.3}}; }, "leg 1: rod: no body has this");
  expect_refused([](Platform& p) { p.leg[1].upper.inertia = {{0.1, 0.1, -0.1}}; }, "leg 1: rod: no body has this");
  expect_refused([](Platform& p) { p.leg[5].length_max = 1; }, "leg 5: the stroke is empty");
  expect_refused([](Platform& p) { p.leg[5].length_min = 1.2; }, "leg 5: its length at home is 1.148");
  expect_refused([](Platform& p) { p.leg[0].universal_cone = 0; }, "leg 0: a cone of the joints");
  expect_refused([](Platform& p) { p.mass = 0; }, "the mass is not positive");
  expect_refused([](Platform& p) { p.inertia(2, 2) = 9; }, "no body has this inertia");
  expect_refused([](Platform& p) { p.inertia(0, 1) = 0.1; }, "no body has this inertia");
  expect_refused([&](Platform& p) { p.gravity[0] = nan; }, "gravity is not finite");
  expect_refused([](Platform& p) { p.home_turn = Quaternion<double>::zero(); }, "the quaternion of the home pose");
  expect_refused([](Platform& p) { p.leg_radius = -1; }, "the radius of the legs");
}

TEST(PlatformModel, RefusesAHomePoseTurnedByNinetyDegreesAsSingular) {
  expect_refused(
      [](Platform& p) {
        p.home_turn = {{1, 0, 0, 1}};
        for (Leg& leg : p.leg) leg.length_min = 0.1;
      },
      "the home pose is singular");
}

TEST(PlatformModel, MakesAxesAndQuaternionUnit) {
  Platform p = test::reference_platform("irregular");
  p.leg[2].axis = 5.0 * p.leg[2].axis;
  p.home_turn = {{3, 0, 0, 0}};
  const Platform unit = checked(p);
  EXPECT_NEAR(norm(unit.leg[2].axis), 1, kRounding);
  EXPECT_EQ(unit.home_turn[0], 1);
}

TEST(PlatformModel, CarriesAPayloadAsOneBodyWithThePlatform) {
  const Platform p = test::reference_platform("irregular");
  const Vec3<double> at = {{0.1, -0.2, 0.3}};
  const Platform loaded = with_payload(p, 5, at, 0.05 * Mat3<double>::identity());
  const Vec3<double> shift = (5.0 / 30) * at;
  EXPECT_DOUBLE_EQ(loaded.mass, 30);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(loaded.home[k], p.home[k] + shift[k], kRounding);
    EXPECT_NEAR(loaded.leg[3].anchor[k], p.leg[3].anchor[k] - shift[k], kRounding);
  }
  // Two bodies about their common center of mass: reduced mass times the square of the distance from the axis.
  const double reduced = 25.0 * 5 / 30;
  EXPECT_NEAR(loaded.inertia(0, 0), p.inertia(0, 0) + 0.05 + reduced * (0.04 + 0.09), 1e-14);
  EXPECT_NEAR(loaded.inertia(0, 1), p.inertia(0, 1) + reduced * 0.1 * 0.2, 1e-14);
  EXPECT_THROW((void)with_payload(p, -1, at, Mat3<double>::zero()), Error);
}

TEST(PlatformModel, CentersTheConesOnTheLegsAtHome) {
  const Platform p = test::reference_platform("irregular");
  const Limits<double> limits = make_limits(p);
  for (int i = 0; i < kLegs; ++i) {
    const Leg& leg = p.leg[static_cast<std::size_t>(i)];
    const Vec3<double> d = p.home + leg.anchor - leg.base;
    EXPECT_NEAR(dot(d, limits.universal_axis[i]), norm(d), kRounding * 4);
    EXPECT_NEAR(limits.universal_cos[i], 0.5, kRounding);
    EXPECT_EQ(limits.length_max[i], 1.85);
  }
  EXPECT_EQ(limits.clearance, 0.09);
  Platform free = p;
  free.leg[0].universal_cone = 3.2;
  EXPECT_EQ(make_limits(free).universal_cos[0], -1);
}

}  // namespace
}  // namespace garra::platform
