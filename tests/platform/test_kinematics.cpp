// Kinematics of platforms against reference poses and lengths.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "answers.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/systems/platform/angles.hpp"
#include "platform_reference.hpp"
#include "same_bits.hpp"

namespace garra::platform {
namespace {

using test::same_bits;

using test::platform_reference;
using test::reference_platform;

constexpr double kLengthTolerance = 1e-14;  ///< relative: a few roundings of a sum of squares
constexpr double kPoseTolerance = 1e-12;    ///< of Newton's method at tolerance = 1e-12, well conditioned poses

void append(std::vector<double>& to, const nlohmann::json& numbers) {
  for (const auto& x : numbers) to.push_back(x.get<double>());
}

/// The 200 reference poses.
struct Reference {
  Poses pose, guess;
  std::vector<double> lengths, determinant, condition;
};

Reference reference() {
  Reference r;
  const nlohmann::json document = platform_reference("ik_fk_trepa_like");
  for (const auto& pose : document.at("poses")) {
    append(r.pose.position, pose.at("r"));
    append(r.pose.quaternion, pose.at("p"));
    append(r.guess.position, pose.at("guess_r"));
    append(r.guess.quaternion, pose.at("guess_p"));
    append(r.lengths, pose.at("lengths"));
    r.determinant.push_back(pose.at("det").get<double>());
    r.condition.push_back(pose.at("cond").get<double>());
  }
  return r;
}

Poses first_row(const Poses& all, std::size_t n) {
  return {{all.position.begin(), all.position.begin() + static_cast<std::ptrdiff_t>(3 * n)},
          {all.quaternion.begin(), all.quaternion.begin() + static_cast<std::ptrdiff_t>(4 * n)}};
}

TEST(PlatformInverseKinematics, GivesTheReferenceLengthsAndConditioning) {
  const Reference r = reference();
  InverseOptions options;
  options.conditioning = true;
  options.characteristic_length = 1;  // that of the reference's condition number: none
  const InverseKinematics got = inverse_kinematics({reference_platform("trepa_like")}, r.pose, {}, options);
  for (std::size_t i = 0; i < r.lengths.size(); ++i)
    EXPECT_NEAR(got.lengths[i], r.lengths[i], kLengthTolerance * r.lengths[i]);
  for (std::size_t i = 0; i < r.determinant.size(); ++i) {
    EXPECT_NEAR(got.determinant[i], r.determinant[i], 1e-12 * std::abs(r.determinant[i]));
    EXPECT_NEAR(got.condition[i], r.condition[i], 1e-11 * r.condition[i]);
  }
}

TEST(PlatformInverseKinematics, GivesTheReferenceFramesOfTheLegs) {
  const nlohmann::json document = platform_reference("ik_fk_trepa_like");
  const Reference r = reference();
  InverseOptions options;
  options.frames = true;
  const InverseKinematics got = inverse_kinematics({reference_platform("trepa_like")}, r.pose, {}, options);
  std::size_t leg = 0;
  for (const auto& pose : document.at("poses")) {
    for (std::size_t i = 0; i < 6; ++i, ++leg) {
      const auto d = test::to_vector<3>(pose.at("leg_vectors").at(i));
      auto p = test::to_vector<4>(pose.at("leg_frame_p").at(i));
      if (p[0] < 0) p = -1.0 * p;
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(got.leg_vector[3 * leg + static_cast<std::size_t>(k)], d[k], 1e-14);
      for (int k = 0; k < 4; ++k) EXPECT_NEAR(got.leg_quaternion[4 * leg + static_cast<std::size_t>(k)], p[k], 1e-13);
    }
  }
}

Mat3<double> about(int axis, double angle) {
  Quaternion<double> p{{std::cos(angle / 2), 0, 0, 0}};
  p[1 + axis] = std::sin(angle / 2);
  return rotation_matrix(p);
}

double largest_difference(const Mat3<double>& a, const Mat3<double>& b) {
  double most = 0;
  for (int k = 0; k < 9; ++k) most = std::max(most, std::abs(a[k] - b[k]));
  return most;
}

TEST(PlatformInverseKinematics, GivesEulerAnglesAndUniversalTurnsThatRebuildTheFrameOfALeg) {
  const Reference r = reference();
  const Platform p = reference_platform("trepa_like");
  InverseOptions options;
  options.frames = true;
  const InverseKinematics got = inverse_kinematics({p}, r.pose, {}, options);
  const Vec3<double> up = vec3(0.0, 0.0, 1.0);
  for (std::size_t leg = 0; leg < got.lengths.size(); ++leg) {
    const double* q = &got.leg_quaternion[4 * leg];
    const Mat3<double> frame = rotation_matrix<double>({{q[0], q[1], q[2], q[3]}});
    const double* e = &got.leg_euler313[3 * leg];
    EXPECT_LE(largest_difference(about(2, e[0]) * about(0, e[1]) * about(2, e[2]), frame), 1e-14);
    // From home: the leg in the plane at right angles to k, then about k, then about its own x axis.
    const std::size_t i = leg % 6;
    const Vec3<double> k = p.leg[i].axis, b = p.leg[i].base;
    const Vec3<double> home = p.home + p.leg[i].anchor - b;
    Vec3<double> x = cross(home, k);
    x = (1 / std::sqrt(dot(x, x))) * x;
    const double turn = got.universal_angles[2 * leg], rise = got.universal_angles[2 * leg + 1];
    const Vec3<double> turned = std::cos(turn) * x + std::sin(turn) * cross(k, x);
    const Vec3<double> z = std::cos(rise) * cross(k, turned) + std::sin(rise) * k;
    for (int j = 0; j < 3; ++j) {
      EXPECT_NEAR(frame(j, 0), turned[j], 1e-14);
      EXPECT_NEAR((frame * up)[j], z[j], 1e-14);
    }
  }
}

TEST(PlatformEulerAngles, AreThoseOfTheReferencePosesAndPutAllTurnIntoPsiWhereTheLegStandsUpright) {
  const nlohmann::json document = platform_reference("ik_fk_trepa_like");
  const auto angles = [](const Mat3<double>& A) { return euler313<double>(column(A, 0), column(A, 1), column(A, 2)); };
  for (const auto& pose : document.at("poses")) {
    Mat3<double> A;
    for (int k = 0; k < 9; ++k)
      A[k] = pose.at("rotation").at(static_cast<std::size_t>(k / 3)).at(static_cast<std::size_t>(k % 3));
    const Vec3<double> want = test::to_vector<3>(pose.at("euler313")), got = angles(A);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(got[k], want[k], 1e-13);
  }
  const Vec3<double> upright = angles(about(2, 0.7)), down = angles(about(2, 0.7) * about(0, std::numbers::pi));
  EXPECT_NEAR(upright[0], 0.7, 1e-15);
  EXPECT_EQ(upright[1], 0);
  EXPECT_EQ(upright[2], 0);
  const Vec3<double> almost = angles(about(2, 0.7) * about(0, 1e-14) * about(2, 0.4));
  EXPECT_NEAR(almost[0], 1.1, 1e-15);
  EXPECT_EQ(almost[2], 0);
  EXPECT_NEAR(down[0], 0.7, 1e-15);
  EXPECT_NEAR(down[1], std::numbers::pi, 1e-15);
  EXPECT_EQ(down[2], 0);
}

TEST(PlatformInverseKinematics, MarksBothLegsOfAPairThatComesTooNearAndNoOther) {
  Platform p = reference_platform("trepa_like");
  const double gap = 0.02;  // of the center lines of the legs 3 and 4, which are mirror images in y
  p.leg[2].base[1] = gap / 2, p.leg[3].base[1] = -gap / 2;
  InverseOptions options;
  options.limits = true;
  const Poses home{{p.home[0], p.home[1], p.home[2]}, {1, 0, 0, 0}};
  p.leg_radius = 0.009;
  const InverseKinematics clear = inverse_kinematics({p}, home, {}, options);
  EXPECT_EQ(clear.mask[0], 0u);
  EXPECT_NEAR(clear.clearance[0], gap - 0.018, 1e-15);
  p.leg_radius = 0.011;
  const InverseKinematics touching = inverse_kinematics({p}, home, {}, options);
  EXPECT_EQ(touching.mask[0], (kCollision << 2) | (kCollision << 3));
  EXPECT_NEAR(touching.clearance[0], gap - 0.022, 1e-15);
  p.leg_radius = 0;
  EXPECT_TRUE(std::isinf(inverse_kinematics({p}, home, {}, options).clearance[0]));
}

double angle(const Vec3<double>& a, const Vec3<double>& b) {
  return std::acos(dot(a, b) / std::sqrt(dot(a, a) * dot(b, b)));
}

TEST(PlatformInverseKinematics, NamesTheJointWhoseConeIsLeftAndByHowMuch) {
  Platform p = reference_platform("trepa_like");
  const nlohmann::json pose = platform_reference("ik_fk_trepa_like").at("poses").at(0);
  Poses at;
  append(at.position, pose.at("r"));
  append(at.quaternion, pose.at("p"));
  Mat3<double> A;
  for (int k = 0; k < 9; ++k)
    A[k] = pose.at("rotation").at(static_cast<std::size_t>(k / 3)).at(static_cast<std::size_t>(k % 3));
  double universal[6], spherical[6];
  for (std::size_t i = 0; i < 6; ++i) {
    const Vec3<double> home = p.home + p.leg[i].anchor - p.leg[i].base;
    const auto d = test::to_vector<3>(pose.at("leg_vectors").at(i));
    universal[i] = angle(home, d);
    spherical[i] = angle(home, transpose_times(A, d));
  }
  p.leg[1].universal_cone = universal[1] - 0.01;
  p.leg[5].spherical_cone = spherical[5] - 0.02;
  InverseOptions options;
  options.limits = true;
  const InverseKinematics got = inverse_kinematics({p}, at, {}, options);
  EXPECT_EQ(got.mask[0], (kUniversalCone << 1) | (kSphericalCone << 5));
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(got.universal_margin[i], p.leg[i].universal_cone - universal[i], 1e-12);
    EXPECT_NEAR(got.spherical_margin[i], p.leg[i].spherical_cone - spherical[i], 1e-12);
  }
}

TEST(PlatformInverseKinematics, GivesTheSameBitsOnEveryExecutorForAllSizes) {
  const Reference r = reference();
  const Platforms platforms = {reference_platform("irregular")};
  const InverseOptions all{true, true, true, 0.4};
  for (const std::size_t n : {0u, 1u, 7u, 8u, 9u}) {
    const Poses poses = first_row(r.pose, n);
    const Motion motion{std::vector<double>(6 * n, 0.3), std::vector<double>(6 * n, -0.2)};
    SCOPED_TRACE(n);
    test::expect_same_on_every_executor([&](const Device& device) {
      return test::make_answer(inverse_kinematics(platforms, poses, motion, all, device));
    });
  }
}

TEST(PlatformInverseKinematics, GivesNanForARowThatIsNoPoseAndSaysSo) {
  const Platform p = reference_platform("trepa_like");
  const Poses poses{{0, 0, 1.15, 0, 0, 1.15, 0, 0, std::numeric_limits<double>::infinity()},
                    {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}};
  const InverseKinematics got = inverse_kinematics({p}, poses, {}, {true, true, true, 0.4});
  EXPECT_EQ(got.status[0], PoseStatus::kConverged);
  for (std::size_t row : {1u, 2u}) {
    EXPECT_EQ(got.status[row], PoseStatus::kInvalidInput);
    EXPECT_TRUE(std::isnan(got.lengths[6 * row]) && std::isnan(got.leg_euler313[18 * row + 17]) &&
                std::isnan(got.sigma_min[row]) && std::isnan(got.clearance[row]));
    EXPECT_EQ(got.mask[row], 0u);
  }
}

TEST(PlatformInverseKinematics, GivesRatesAndAccelerationsOfALegsLengthAsDifferencesDo) {
  const Platforms irregular = {reference_platform("irregular")};
  const double h = 1e-4, v[6] = {0.1, -0.2, 0.15, 0.3, 0.2, -0.4}, a[6] = {0.5, 0.3, -0.2, 0, 0, 0};
  Poses at;
  for (int k = -1; k <= 1; ++k) {  // turns at constant w
    const double t = k * h, w = std::sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5]), s = std::sin(w * t / 2) / w;
    const Vec3<double> home = irregular[0].home;
    for (int j = 0; j < 3; ++j) at.position.push_back(home[j] + v[j] * t + a[j] * t * t / 2);
    const Quaternion<double> q =
        product<double>({{std::cos(w * t / 2), s * v[3], s * v[4], s * v[5]}}, irregular[0].home_turn);
    for (int j = 0; j < 4; ++j) at.quaternion.push_back(q[j]);
  }
  Motion motion;
  for (int k = 0; k < 3; ++k) {
    motion.velocity.insert(motion.velocity.end(), v, v + 6);
    motion.acceleration.insert(motion.acceleration.end(), a, a + 6);
  }
  const InverseKinematics got = inverse_kinematics(irregular, at, motion);
  for (std::size_t i = 0; i < 6; ++i) {
    const double before = got.lengths[i], now = got.lengths[6 + i], after = got.lengths[12 + i];
    EXPECT_NEAR(got.rates[6 + i], (after - before) / (2 * h), 1e-8);                    // h^2
    EXPECT_NEAR(got.accelerations[6 + i], (after - 2 * now + before) / (h * h), 1e-6);  // h^2, and eps / h^2
  }
}

TEST(PlatformInverseKinematics, OfAToolHasTheLengthsOfTheCenterThatCarriesIt) {
  const Platform p = reference_platform("irregular");
  const Vec3<double> tool = {{0.05, -0.1, 0.2}}, r = p.home + Vec3<double>{{0.02, 0.03, -0.01}};
  const Quaternion<double> q = retract(p.home_turn, Vec3<double>{{0.2, -0.1, 0.3}});
  const Mat3<double> R = rotation_matrix(q);
  const Vec3<double> at = r + R * tool;
  // A turn about the tool moves the center by the lever arm.
  const Vec3<double> w = {{0.3, 0.2, -0.4}}, v = -cross(w, R * tool);
  const std::vector<double> turn = {q[0], q[1], q[2], q[3]};
  InverseOptions options;
  options.limits = options.conditioning = true;
  const auto of =
      inverse_kinematics({p}, {{r[0], r[1], r[2]}, turn}, {{v[0], v[1], v[2], w[0], w[1], w[2]}, {}}, options);
  const auto got = inverse_kinematics({with_tool(p, tool)}, {{at[0], at[1], at[2]}, turn},
                                      {{0, 0, 0, w[0], w[1], w[2]}, {}}, options);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(got.lengths[i], of.lengths[i], 1e-15);
    EXPECT_NEAR(got.rates[i], of.rates[i], 1e-15);
    EXPECT_NEAR(got.spherical_margin[i], of.spherical_margin[i], 1e-14);
  }
  EXPECT_NEAR(got.determinant[0], of.determinant[0], 1e-15);
  EXPECT_THROW(static_cast<void>(with_tool(p, {{NAN, 0, 0}})), Error);
}

TEST(PlatformInverseKinematics, NamesTheLegThatIsTooShortOrTooLong) {
  Platform p = reference_platform("trepa_like");
  const double length = inverse_kinematics({p}, {{p.home[0], p.home[1], p.home[2]}, {1, 0, 0, 0}}, {}).lengths[0];
  p.leg[1].length_min = length + 0.01;
  p.leg[4].length_max = length - 0.02;
  InverseOptions options;
  options.limits = true;
  const InverseKinematics got = inverse_kinematics({p}, {{p.home[0], p.home[1], p.home[2]}, {1, 0, 0, 0}}, {}, options);
  EXPECT_EQ(got.mask[0], (kTooShort << 1) | (kTooLong << 4));
  EXPECT_NEAR(got.stroke_margin[1], -0.01, 1e-9);
  EXPECT_NEAR(got.stroke_margin[4], -0.02, 1e-9);
}

TEST(PlatformForwardKinematics, GivesThePoseBackFromAGuessTenCentimetersAway) {
  const Reference r = reference();
  const ForwardKinematics got = forward_kinematics({reference_platform("trepa_like")}, r.lengths, r.guess);
  for (std::size_t i = 0; i < got.status.size(); ++i) {
    EXPECT_EQ(got.status[i], PoseStatus::kConverged) << i;
    EXPECT_LE(got.residual[i], 1e-12);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(got.pose.position[3 * i + k], r.pose.position[3 * i + k], kPoseTolerance);
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_NEAR(got.pose.quaternion[4 * i + k], r.pose.quaternion[4 * i + k], kPoseTolerance);
  }
}

double worst_balance(const std::vector<double>& got, const std::vector<double>& want) {
  double worst = 0;
  for (std::size_t k = 0; k < want.size(); ++k) worst = std::max(worst, std::abs(got[k] - want[k]));
  return worst;
}

TEST(PlatformForwardKinematics, FollowsTheSeedsPathsFromPointToPoint) {
  const Platforms platforms = {reference_platform("trepa_like")};
  const nlohmann::json document = platform_reference("fk_seed_paths");
  for (const auto& path : document) {
    Poses guess, want;
    std::vector<double> lengths;
    const auto& points = path.at("points");
    for (std::size_t k = 1; k < points.size(); ++k) {
      append(guess.position, points.at(k - 1).at("r"));
      append(guess.quaternion, points.at(k - 1).at("p"));
      append(want.position, points.at(k).at("r"));
      append(want.quaternion, points.at(k).at("p"));
      append(lengths, points.at(k).at("lengths"));
    }
    const ForwardKinematics got = forward_kinematics(platforms, lengths, guess);
    for (std::size_t k = 0; k < got.status.size(); ++k) {
      EXPECT_EQ(got.status[k], PoseStatus::kConverged);
      EXPECT_LE(got.iterations[k], 6);  // the paper: 4 or 5 in an interval, to a coarser tolerance
    }
    EXPECT_LE(worst_balance(got.pose.position, want.position), kPoseTolerance);
    EXPECT_LE(worst_balance(got.pose.quaternion, want.quaternion), kPoseTolerance);
  }
}

TEST(PlatformForwardKinematics, GivesPosesOfAnIrregularPlatformBackFromItsHome) {
  const Platforms irregular = {reference_platform("irregular")};
  const Platform& p = irregular[0];
  Poses poses;
  for (int k = 0; k < 100; ++k) {
    const auto spread = [&](int axis, double by) { return by * std::sin(1 + 1.7 * k * (axis + 1) + axis); };
    for (int j = 0; j < 3; ++j) poses.position.push_back(p.home[j] + spread(j, 0.1));
    const Quaternion<double> q = retract(p.home_turn, vec3(spread(3, 0.15), spread(4, 0.15), spread(5, 0.15)));
    for (int j = 0; j < 4; ++j) poses.quaternion.push_back((q[0] < 0 ? -1 : 1) * q[j]);
  }
  const std::vector<double> lengths = inverse_kinematics(irregular, poses, {}).lengths;
  const Poses home{{p.home[0], p.home[1], p.home[2]}, {p.home_turn[0], p.home_turn[1], p.home_turn[2], p.home_turn[3]}};
  const ForwardKinematics got = forward_kinematics(irregular, lengths, home);
  for (const PoseStatus status : got.status) EXPECT_EQ(status, PoseStatus::kConverged);
  EXPECT_LE(worst_balance(got.pose.position, poses.position), 1e-11);
  EXPECT_LE(worst_balance(got.pose.quaternion, poses.quaternion), 1e-11);
}

TEST(PlatformForwardKinematics, RaisesASymmetricPlatformOnEqualLegsByPythagoras) {
  const Platform p = reference_platform("trepa_like");
  const Vec3<double> apart = p.leg[0].anchor - p.leg[0].base;
  const double across = std::hypot(apart[0], apart[1]);
  const Poses home{{p.home[0], p.home[1], p.home[2]}, {1, 0, 0, 0}};
  for (const double length : {1.1, 1.3, 1.8}) {
    const ForwardKinematics got = forward_kinematics({p}, std::vector<double>(6, length), home);
    EXPECT_NEAR(got.pose.position[2], std::sqrt(length * length - across * across) - p.leg[0].anchor[2],
                kPoseTolerance);
    EXPECT_NEAR(got.pose.position[0], 0, kPoseTolerance);
    EXPECT_NEAR(got.pose.quaternion[0], 1, kPoseTolerance);
  }
}

TEST(PlatformForwardKinematics, EndsWithTheGivenLengthsWhereverItStartsOrSaysThatItDoesNot) {
  const Reference r = reference();
  const Platforms platforms = {reference_platform("trepa_like")};
  Poses wild = r.guess;  // up to 0.8 m and 2 rad off: other assembly modes
  for (std::size_t i = 0; i < r.determinant.size(); ++i) {
    const double k = static_cast<double>(i);
    for (std::size_t j = 0; j < 3; ++j) wild.position[3 * i + j] += 0.8 * std::sin(k * static_cast<double>(j + 1));
    for (std::size_t j = 0; j < 4; ++j) wild.quaternion[4 * i + j] += 0.8 * std::sin(k * static_cast<double>(j + 2));
  }
  const ForwardKinematics got = forward_kinematics(platforms, r.lengths, wild);
  const std::vector<double> lengths = inverse_kinematics(platforms, got.pose, {}).lengths;
  int reached = 0, elsewhere = 0;
  for (std::size_t i = 0; i < got.status.size(); ++i) {
    double off = 0;
    for (std::size_t k = 0; k < 6; ++k) off = std::max(off, std::abs(lengths[6 * i + k] - r.lengths[6 * i + k]));
    EXPECT_NEAR(got.residual[i], off, 1e-14);
    const bool claimed = got.status[i] < PoseStatus::kStalled;
    EXPECT_EQ(claimed, got.residual[i] <= 1e-12) << i;
    reached += claimed ? 1 : 0;
    elsewhere += claimed && std::abs(got.pose.position[3 * i] - r.pose.position[3 * i]) > 1e-6 ? 1 : 0;
  }
  EXPECT_GE(reached, 140);   // the others stand still where the sum of squares has a minimum of its own
  EXPECT_GE(elsewhere, 10);  // or the guesses were not wild
}

TEST(PlatformForwardKinematics, GivesTheSmallestSingularValueThatInverseKinematicsGivesByRotations) {
  const Reference r = reference();
  const Platforms platforms = {reference_platform("trepa_like")};
  InverseOptions options;
  options.conditioning = true;
  const InverseKinematics full = inverse_kinematics(platforms, r.pose, {}, options);
  const ForwardKinematics got = forward_kinematics(platforms, r.lengths, r.guess);
  for (std::size_t i = 0; i < got.sigma_min.size(); ++i)
    EXPECT_NEAR(got.sigma_min[i], full.sigma_min[i], 1e-7 * full.sigma_min[i]);
}

TEST(PlatformForwardKinematics, SaysThatTheIterationLimitEndedIt) {
  const Reference r = reference();
  ForwardOptions options;
  options.max_iterations = 1;
  const ForwardKinematics got = forward_kinematics({reference_platform("trepa_like")}, r.lengths, r.guess, options);
  for (std::size_t i = 0; i < got.status.size(); ++i) {
    EXPECT_EQ(got.status[i], PoseStatus::kIterationLimit);
    EXPECT_EQ(got.iterations[i], 1);
    EXPECT_GT(got.residual[i], options.tolerance);
  }
}

TEST(PlatformForwardKinematics, StandsStillAtLengthsThatNoPoseHasAndHoldsAPoseNoWorseThanTheGuess) {
  const Platform p = reference_platform("trepa_like");
  const Poses guess{{p.home[0], p.home[1], p.home[2]}, {1, 0, 0, 0}};
  const std::vector<double> impossible = {0.2, 3, 0.2, 3, 0.2, 3};
  const ForwardKinematics got = forward_kinematics({p}, impossible, guess);
  EXPECT_EQ(got.status[0], PoseStatus::kStalled) << to_string(got.status[0]);
  EXPECT_GT(got.residual[0], 0.1);
  const auto squares = [&](const Poses& at) {
    const std::vector<double> lengths = inverse_kinematics({p}, at, {}).lengths;
    double sum = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const double g = (lengths[i] * lengths[i] - impossible[i] * impossible[i]) / 2;
      sum += g * g;
    }
    return sum;
  };
  EXPECT_LT(squares(got.pose), 0.99 * squares(guess));
  for (std::size_t k = 0; k < 6; ++k) {
    for (const double by : {-0.1, 0.1}) {  // a best pose, though only of its neighborhood
      Poses beside = got.pose;
      (k < 3 ? beside.position[k] : beside.quaternion[k - 2]) += by;
      EXPECT_GT(squares(beside), squares(got.pose)) << k;
    }
  }
}

TEST(PlatformInverseKinematics, IsNearSingularAtAYawOfNinetyDegreesWhereConditioningIsAsked) {
  const Platform p = reference_platform("trepa_like");
  const Poses yawed{{p.home[0], p.home[1], p.home[2]}, {std::sqrt(0.5), 0, 0, std::sqrt(0.5)}};
  InverseOptions options;
  EXPECT_EQ(inverse_kinematics({p}, yawed, {}, options).status[0], PoseStatus::kConverged);
  options.conditioning = true;
  const InverseKinematics got = inverse_kinematics({p}, yawed, {}, options);
  EXPECT_EQ(got.status[0], PoseStatus::kNearSingular);
  EXPECT_TRUE(std::isfinite(got.lengths[0]));
}

TEST(PlatformInverseKinematics, ScalesTurnsByThePlatformsOwnSize) {
  Platform p = reference_platform("trepa_like");  // anchors on a circle of 0.4 m, 0.04 m below C
  EXPECT_NEAR(characteristic_length(p), 0.4, 1e-3);
  InverseOptions options;
  options.conditioning = true;
  const auto condition = [&] {
    return inverse_kinematics({p}, {{p.home[0], p.home[1], p.home[2]}, {1, 0, 0, 0}}, {}, options).condition[0];
  };
  const double large = condition();
  for (Leg& leg : p.leg) leg.base = 0.1 * leg.base, leg.anchor = 0.1 * leg.anchor;
  p.home = 0.1 * p.home;
  EXPECT_NEAR(condition(), large, 1e-9 * large);  // a machine of a tenth of the size is as well conditioned
  options.characteristic_length = 0.4;
  EXPECT_GT(condition(), 5 * large);
}

TEST(PlatformForwardKinematics, IsNearSingularAtAYawOfNinetyDegrees) {
  const Platform p = reference_platform("trepa_like");
  const Poses yawed{{p.home[0], p.home[1], p.home[2]}, {std::sqrt(0.5), 0, 0, std::sqrt(0.5)}};
  const std::vector<double> lengths = inverse_kinematics({p}, yawed, {}).lengths;
  EXPECT_EQ(forward_kinematics({p}, lengths, yawed).status[0], PoseStatus::kNearSingular);
}

TEST(PlatformForwardKinematics, GivesTheSameBitsOnEveryExecutorForAllSizes) {
  const Reference r = reference();
  const Platforms platforms = {reference_platform("trepa_like")};
  for (const std::size_t n : {0u, 1u, 7u, 8u, 9u}) {
    const std::vector<double> lengths(r.lengths.begin(), r.lengths.begin() + static_cast<std::ptrdiff_t>(6 * n));
    const Poses guess = first_row(r.guess, n);
    SCOPED_TRACE(n);
    test::expect_same_on_every_executor([&](const Device& device) {
      return test::make_answer(forward_kinematics(platforms, lengths, guess, {}, device));
    });
  }
}

TEST(PlatformForwardKinematics, LeavesTheNeighborsOfAnInvalidRowAsTheyAre) {
  const Reference r = reference();
  const Platforms platforms = {reference_platform("trepa_like")};
  std::vector<double> poisoned = r.lengths;
  poisoned[6 * 3 + 2] = std::numeric_limits<double>::quiet_NaN();
  ForwardKinematics clean = forward_kinematics(platforms, r.lengths, r.guess);
  const ForwardKinematics got = forward_kinematics(platforms, poisoned, r.guess);
  EXPECT_EQ(got.status[3], PoseStatus::kInvalidInput);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_TRUE(std::isnan(got.pose.position[9 + k]));
    clean.pose.position[9 + k] = got.pose.position[9 + k];
  }
  EXPECT_TRUE(same_bits(clean.pose.position, got.pose.position));
}

TEST(PlatformForwardKinematics, SolvesEachSamplesOwnPlatform) {
  const Reference r = reference();
  Platforms each(9, reference_platform("trepa_like"));
  for (std::size_t i = 0; i < each.size(); ++i) each[i].leg[i % 6].base[0] += 1e-3 * static_cast<double>(i);
  const Poses guess = first_row(r.guess, each.size());
  const std::vector<double> lengths(r.lengths.begin(), r.lengths.begin() + 54);
  const ForwardKinematics together = forward_kinematics(each, lengths, guess);
  for (std::size_t i = 0; i < each.size(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    const ForwardKinematics alone =
        forward_kinematics({each[i]}, {lengths.begin() + 6 * at, lengths.begin() + 6 * at + 6},
                           {{guess.position.begin() + 3 * at, guess.position.begin() + 3 * at + 3},
                            {guess.quaternion.begin() + 4 * at, guess.quaternion.begin() + 4 * at + 4}});
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(together.pose.position[3 * i + k], alone.pose.position[k]);
  }
}

}  // namespace
}  // namespace garra::platform
