// Assembly modes of platforms: certificates, proofs and the search for all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "answers.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/systems/platform/certificate.hpp"
#include "platform_reference.hpp"
#include "same_bits.hpp"

namespace garra::platform {
namespace {

using test::same_bits;

using test::reference_platform;

constexpr double kSame = 1e-6;  ///< two poses of Newton's method at tolerance = 1e-12 are one where they differ by less
constexpr double kLength = 0.4;  ///< the characteristic length of the options [m]
constexpr std::size_t kBatch = 500;

Vec3<double> get_position(const Poses& poses, std::size_t i) {
  return {{poses.position[3 * i], poses.position[3 * i + 1], poses.position[3 * i + 2]}};
}

Quaternion<double> to_quaternion(const Poses& poses, std::size_t i) {
  const double* q = poses.quaternion.data() + 4 * i;
  return {{q[0], q[1], q[2], q[3]}};
}

void append(const Vec3<double>& r, const Quaternion<double>& p, Poses& to) {
  to.position.insert(to.position.end(), r.m, r.m + 3);
  to.quaternion.insert(to.quaternion.end(), p.m, p.m + 4);
}

/// sqrt(|dr|^2 + (L angle)^2).
double apart(const Poses& a, std::size_t i, const Poses& b, std::size_t j) {
  const Quaternion<double> p = normalized(to_quaternion(a, i)), q = normalized(to_quaternion(b, j));
  const double half = std::min(norm(p - q), norm(p + q)) / 2;
  return std::hypot(norm(get_position(a, i) - get_position(b, j)), 4 * kLength * std::asin(std::min(half, 1.0)));
}

/// Poses about home, and guesses that are off by so much in random directions.
struct Tries {
  Poses pose, guess;
  std::vector<double> lengths;
};

struct Offset {
  double distance;  ///< [m]
  double angle;     ///< [rad]
};

Tries tries(const Platform& p, const Offset& off, std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto direction = [&] {
    const Vec3<double> v = vec3(normal(random), normal(random), normal(random));
    return (1 / norm(v)) * v;
  };
  const auto turn = [](const Vec3<double>& axis, double angle) -> Quaternion<double> {
    const double s = std::sin(angle / 2);
    return {{std::cos(angle / 2), s * axis[0], s * axis[1], s * axis[2]}};
  };
  Tries to;
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3<double> r = p.home + 0.15 * direction();
    const Quaternion<double> q = product(turn(direction(), 0.3), p.home_turn);
    append(r, q, to.pose);
    append(r + off.distance * direction(), product(turn(direction(), off.angle), q), to.guess);
  }
  to.lengths = inverse_kinematics({p}, to.pose, {}).lengths;
  return to;
}

ForwardOptions certifying(bool prove) {
  ForwardOptions options;
  options.certify = true;
  options.certify_mode = prove;
  return options;
}

std::size_t certified(const ForwardKinematics& of) {
  return static_cast<std::size_t>(std::count(of.status.begin(), of.status.end(), PoseStatus::kCertified));
}

TEST(PlatformCertificate, HoldsForEveryGuessThreeCentimetersAndThreeDegreesAway) {
  const Platform p = reference_platform("trepa_like");
  const Tries t = tries(p, {0.03, 0.05}, kBatch, 1);
  const ForwardKinematics got = forward_kinematics({p}, t.lengths, t.guess, certifying(false));
  EXPECT_EQ(certified(got), kBatch);
  for (std::size_t i = 0; i < kBatch; ++i) {
    EXPECT_LE(apart(got.pose, i, t.pose, i), kSame);
    EXPECT_GT(got.uniqueness[i], 0.15) << i;
  }
}

TEST(PlatformCertificate, IsNeverGivenToAPoseWhileAnotherOneIsNearerToTheGuess) {
  constexpr std::size_t kTries = 10000;  // of each kind: 1e5 in all
  std::size_t given = 0, elsewhere = 0;
  for (const char* name : {"trepa_like", "irregular"}) {
    const Platform p = reference_platform(name);
    for (const Offset off : {Offset{0.02, 0.04}, {0.04, 0.08}, {0.08, 0.16}, {0.3, 0.8}, {0.5, 1.2}}) {
      const Tries t = tries(p, off, kTries, 2);
      const ForwardKinematics got = forward_kinematics({p}, t.lengths, t.guess, certifying(false));
      for (std::size_t i = 0; i < kTries; ++i) {
        const bool same = apart(got.pose, i, t.pose, i) <= kSame;
        const bool proven = got.status[i] == PoseStatus::kCertified;
        given += proven ? 1 : 0;
        elsewhere += same ? 0 : 1;
        EXPECT_TRUE(!proven || same || apart(t.guess, i, got.pose, i) < apart(t.guess, i, t.pose, i)) << name << i;
        // The generating pose is another one than the pose found: it lies beyond the radius.
        EXPECT_TRUE(same || !(got.uniqueness[i] > 0) || apart(got.pose, i, t.pose, i) > got.uniqueness[i]) << name << i;
      }
    }
  }
  EXPECT_GT(given, 15000u);
  EXPECT_GT(elsewhere, 1000u);  // there was something to be wrong about
}

/// Of |X F''[u, u]| at home + out u, by second differences of the squares of the lengths; turns about a fixed axis are
/// straight in the coordinates of the certificate.
double curvature(const Platform& p, const Neighborhood<double>& about, const Vec<double, 6>& u, double out) {
  constexpr double kStep = 1e-3;
  Device alone;
  alone.threads = 1;
  const Place<double> home = home_place(p);
  Poses line;
  for (const double at : {out - kStep, out, out + kStep}) {
    const Vec3<double> turn = (at / kLength) * vec3(u[3], u[4], u[5]);
    const double angle = norm(turn), s = angle > 0 ? std::sin(angle / 2) / angle : 0.5;
    append(home.r + at * vec3(u[0], u[1], u[2]),
           product<double>({{std::cos(angle / 2), s * turn[0], s * turn[1], s * turn[2]}}, home.p), line);
  }
  const std::vector<double> L = inverse_kinematics({p}, line, {}, {}, alone).lengths;
  Vec<double, 6> bend;
  for (std::size_t i = 0; i < 6; ++i) {
    const double second = L[i] * L[i] - 2 * L[6 + i] * L[6 + i] + L[12 + i] * L[12 + i];
    bend[static_cast<int>(i)] = second / (2 * kStep * kStep);
  }
  return norm(about.inverse * bend);
}

TEST(PlatformCertificate, BoundsTheCurvatureOfTheLengthsWithinItsReachAndNotMuchAboveIt) {
  for (const char* name : {"trepa_like", "irregular"}) {
    const Platform p = reference_platform(name);
    const Neighborhood<double> about = neighborhood(make_model(p), home_place(p), kLength);
    std::mt19937_64 random(9);
    std::normal_distribution<double> normal;
    for (const double out : {0.0, 0.9 * about.reach}) {
      double largest = 0;
      Vec<double, 6> steepest = Vec<double, 6>::zero();
      for (int k = 0; k < 1000; ++k) {  // climbs
        Vec<double, 6> u = steepest;
        for (int j = 0; j < 6; ++j) u[j] += 0.2 * normal(random);
        u = (1 / norm(u)) * u;
        const double found = curvature(p, about, u, out);
        if (!(found > largest)) continue;
        largest = found;
        steepest = u;
      }
      EXPECT_LE(largest, about.bend) << name << out;
      EXPECT_GT(largest, about.bend / 5) << name << out;
    }
  }
}

TEST(PlatformCertificate, IsRefusedWhereLengthsAreOffOrThePoseSingular) {
  const Platform p = reference_platform("trepa_like");
  const Poses yawed{{p.home[0], p.home[1], p.home[2]}, {std::sqrt(0.5), 0, 0, std::sqrt(0.5)}};
  const ForwardKinematics singular =
      forward_kinematics({p}, inverse_kinematics({p}, yawed, {}).lengths, yawed, certifying(false));
  EXPECT_EQ(singular.status[0], PoseStatus::kNearSingular);
  EXPECT_LT(singular.uniqueness[0], 1e-6);
  const ForwardKinematics impossible = forward_kinematics({p}, {0.2, 3, 0.2, 3, 0.2, 3}, yawed, certifying(true));
  EXPECT_NE(impossible.status[0], PoseStatus::kCertified);
  EXPECT_EQ(impossible.uniqueness[0], 0);
}

TEST(PlatformModeProof, AgreesWithThePoseThatManySmallStepsLeadTo) {
  constexpr int kSteps = 100;
  constexpr std::size_t kLed = 64;
  Device alone;
  alone.threads = 1;
  for (const char* name : {"trepa_like", "irregular"}) {
    const Platform p = reference_platform(name);
    const Tries t = tries(p, {0.5, 1.2}, kLed, 3);
    const ForwardKinematics got = forward_kinematics({p}, t.lengths, t.guess, certifying(true));
    const std::vector<double> from = inverse_kinematics({p}, t.guess, {}).lengths;
    Poses led = t.guess;
    for (int k = 1; k <= kSteps; ++k) {
      std::vector<double> now(from.size());
      for (std::size_t i = 0; i < now.size(); ++i)
        now[i] = std::sqrt(from[i] * from[i] + k * (t.lengths[i] * t.lengths[i] - from[i] * from[i]) / kSteps);
      led = forward_kinematics({p}, now, led, {}, alone).pose;
    }
    std::size_t suspect = 0;
    for (std::size_t i = 0; i < kLed; ++i) {
      EXPECT_TRUE(got.status[i] != PoseStatus::kCertified || apart(got.pose, i, led, i) <= kSame) << name << i;
      if (got.status[i] == PoseStatus::kModeSuspect) ++suspect;
    }
    EXPECT_GT(certified(got), kLed / 2) << name;
    EXPECT_GT(suspect, 0u) << name;  // Newton's method jumped, or the path meets a singularity
  }
}

TEST(PlatformForwardKinematics, SaysWhereTheDeterminantHasChangedItsSignSinceTheGuess) {
  const Platform p = reference_platform("irregular");
  const Tries t = tries(p, {0.6, 1.6}, 512, 5);
  ForwardOptions plain;
  plain.plain_iterations = -1;
  const ForwardKinematics got = forward_kinematics({p}, t.lengths, t.guess, plain),
                          led = forward_kinematics({p}, t.lengths, t.guess);
  InverseOptions options;
  options.conditioning = true;
  const std::vector<double> before = inverse_kinematics({p}, t.guess, {}, options).determinant,
                            after = inverse_kinematics({p}, got.pose, {}, options).determinant,
                            led_to = inverse_kinematics({p}, led.pose, {}, options).determinant;
  int suspect = 0, converged = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_FALSE(led.status[i] == PoseStatus::kConverged && before[i] * led_to[i] < 0) << i;
    if (got.status[i] != PoseStatus::kConverged && got.status[i] != PoseStatus::kModeSuspect) continue;
    EXPECT_EQ(got.status[i] == PoseStatus::kModeSuspect, before[i] * after[i] < 0) << i;
    ++(got.status[i] == PoseStatus::kModeSuspect ? suspect : converged);
  }
  EXPECT_GT(suspect, 10);
  EXPECT_GT(converged, 100);
}

TEST(PlatformModeProof, HoldsWhereTheGuessIsTwentyCentimetersAway) {
  const Platform p = reference_platform("trepa_like");
  const Tries t = tries(p, {0.2, 0.4}, kBatch, 4);
  EXPECT_EQ(certified(forward_kinematics({p}, t.lengths, t.guess, certifying(false))), 0u);
  EXPECT_EQ(certified(forward_kinematics({p}, t.lengths, t.guess, certifying(true))), kBatch);
}

TEST(PlatformModeProof, NeedsTheCertificate) {
  const Platform p = reference_platform("trepa_like");
  ForwardOptions options;
  options.certify_mode = true;
  EXPECT_THROW(static_cast<void>(forward_kinematics({p}, {1, 1, 1, 1, 1, 1}, {{0, 0, 1}, {1, 0, 0, 0}}, options)),
               Error);
}

TEST(PlatformModeProof, GivesTheSameBitsOnEveryExecutorForAllSizes) {
  const Platform p = reference_platform("irregular");
  for (const std::size_t n : {0u, 1u, 7u, 8u, 9u}) {
    const Tries t = tries(p, {0.25, 0.6}, n, 5);
    SCOPED_TRACE(n);
    test::expect_same_on_every_executor([&](const Device& device) {
      return test::make_answer(forward_kinematics({p}, t.lengths, t.guess, certifying(true), device));
    });
  }
}

TEST(PlatformModeProof, LeavesTheNeighborsOfAnInvalidRowAsTheyAre) {
  const Platform p = reference_platform("trepa_like");
  Tries t = tries(p, {0.1, 0.2}, 8, 6);
  const ForwardKinematics clean = forward_kinematics({p}, t.lengths, t.guess, certifying(true));
  t.lengths[6 * 3 + 1] = std::numeric_limits<double>::quiet_NaN();
  const ForwardKinematics got = forward_kinematics({p}, t.lengths, t.guess, certifying(true));
  EXPECT_EQ(got.status[3], PoseStatus::kInvalidInput);
  EXPECT_EQ(got.uniqueness[3], 0);
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == 3) continue;
    EXPECT_EQ(got.status[i], clean.status[i]);
    EXPECT_EQ(got.uniqueness[i], clean.uniqueness[i]);
  }
}

std::vector<double> home_lengths(const Platform& p) {
  Poses home;
  append(p.home, p.home_turn, home);
  return inverse_kinematics({p}, home, {}).lengths;
}

TEST(PlatformAssemblyModes, AreDifferentPosesOfTheGivenLengthsAndHomeIsAmongThem) {
  for (const char* name : {"trepa_like", "irregular"}) {
    const Platform p = reference_platform(name);
    const std::vector<double> lengths = home_lengths(p);
    const AssemblyModes got = assembly_modes({p}, lengths);
    ASSERT_EQ(got.first.size(), 2u);
    const auto modes = static_cast<std::size_t>(got.first[1]);
    ASSERT_EQ(got.status.size(), modes);
    const std::vector<double> have = inverse_kinematics({p}, got.pose, {}).lengths;
    Poses home;
    append(p.home, p.home_turn, home);
    std::size_t homes = 0;
    for (std::size_t i = 0; i < modes; ++i) {
      EXPECT_EQ(got.status[i], PoseStatus::kCertified);
      for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(have[6 * i + k], lengths[k], 2e-12);
      const bool is_home = apart(got.pose, i, home, 0) <= kSame;
      homes += is_home ? 1 : 0;
      const bool points_down = got.pose.position[3 * i + 2] < 0;
      EXPECT_TRUE(!is_home || got.mask[i] == 0);
      EXPECT_TRUE(!points_down || (got.mask[i] & (0x3fu * kUniversalCone)) != 0);
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_GT(apart(got.pose, i, got.pose, j), got.uniqueness[i]);
        EXPECT_GT(apart(got.pose, i, got.pose, j), got.uniqueness[j]);
        EXPECT_GE(got.pose.position[3 * i + 2], got.pose.position[3 * j + 2]);
      }
    }
    EXPECT_EQ(homes, 1u) << name;
  }
}

// The squares of the lengths are a proper map of poses that misses lengths: its degree is zero, so the signs of the
// determinants at all modes add up to zero.
TEST(PlatformAssemblyModes, HaveDeterminantsWhoseSignsAddUpToZero) {
  for (const char* name : {"trepa_like", "irregular"}) {
    const Platform p = reference_platform(name);
    const Tries t = tries(p, {0, 0}, 50, 7);
    const AssemblyModes got = assembly_modes({p}, t.lengths);
    for (std::size_t i = 0; i < 50; ++i) {
      int signs = 0;
      for (auto mode = static_cast<std::size_t>(got.first[i]); mode < static_cast<std::size_t>(got.first[i + 1]);
           ++mode)
        signs += got.determinant[mode] > 0 ? 1 : -1;
      EXPECT_EQ(signs, 0) << name << i;
      EXPECT_GE(got.first[i + 1] - got.first[i], 2) << name << i;
    }
  }
}

/// Where the spherical joints are, reflected at the base's plane, in a row.
std::vector<double> mirrored_anchors(const Platform& p, const Poses& poses, std::size_t i, double mirror) {
  std::vector<double> to;
  for (const Leg& leg : p.leg) {
    const Vec3<double> at = get_position(poses, i) + rotation_matrix(to_quaternion(poses, i)) * leg.anchor;
    to.insert(to.end(), {at[0], at[1], mirror * at[2]});
  }
  return to;
}

TEST(PlatformAssemblyModes, OfAPlatformWithPlaneAnchorsComeInMirrorPairs) {
  const Platform p = reference_platform("trepa_like");
  const AssemblyModes got = assembly_modes({p}, home_lengths(p));
  const std::size_t modes = got.status.size();
  EXPECT_EQ(modes, 16u);
  for (std::size_t i = 0; i < modes; ++i) {
    const std::vector<double> mirrored = mirrored_anchors(p, got.pose, i, -1);
    int images = 0;
    for (std::size_t j = 0; j < modes; ++j) {
      const std::vector<double> other = mirrored_anchors(p, got.pose, j, 1);
      double largest = 0;
      for (std::size_t k = 0; k < other.size(); ++k) largest = std::max(largest, std::abs(other[k] - mirrored[k]));
      images += largest <= kSame ? 1 : 0;
    }
    EXPECT_EQ(images, 1) << i;
  }
}

TEST(PlatformAssemblyModes, AreTheSameBitsForAllExecutorsAndThreads) {
  const Platform p = reference_platform("irregular");
  const Tries t = tries(p, {0, 0}, 9, 8);
  test::expect_same_on_every_executor(
      [&](const Device& device) { return test::make_answer(assembly_modes({p}, t.lengths, {}, device)); });
}

TEST(PlatformAssemblyModes, OfEachSamplesOwnPlatformAreThoseOfThatPlatformWithTheSameStarts) {
  const Platforms both = {reference_platform("trepa_like"), reference_platform("irregular")};
  std::vector<double> lengths = home_lengths(both[0]), second = home_lengths(both[1]);
  lengths.insert(lengths.end(), second.begin(), second.end());
  const AssemblyModes got = assembly_modes(both, lengths);
  EXPECT_EQ(got.first, (std::vector<std::int64_t>{0, 16, 20}));
  const AssemblyModes alone = assembly_modes({both[0]}, home_lengths(both[0]));
  EXPECT_TRUE(same_bits(alone.pose.position, {got.pose.position.begin(), got.pose.position.begin() + 48}));
}

TEST(PlatformAssemblyModes, OfLengthsThatAreNoneAreNone) {
  const Platform p = reference_platform("irregular");
  std::vector<double> lengths = home_lengths(p), poisoned = lengths;
  poisoned[2] = std::numeric_limits<double>::quiet_NaN();
  poisoned.insert(poisoned.end(), lengths.begin(), lengths.end());
  const AssemblyModes got = assembly_modes({p}, poisoned);
  EXPECT_EQ(got.first, (std::vector<std::int64_t>{0, 0, 4}));
  EXPECT_EQ(assembly_modes({p}, {}).first, std::vector<std::int64_t>{0});
  EXPECT_TRUE(assembly_modes({p}, {0.2, 3, 0.2, 3, 0.2, 3}).status.empty());
}

/// Dietmaier's platform: forty real poses, the most that six lengths can have, are there.
TEST(AssemblyModes, OfDietmaiersPlatformAreAllForty) {
  const nlohmann::json from = test::platform_reference("forty_poses");
  Platform p = reference_platform("trepa_like");
  for (std::size_t i = 0; i < 6; ++i) {
    Leg& leg = p.leg[i];
    leg.base = test::to_vector<3>(from.at("base").at(i));
    leg.anchor = test::to_vector<3>(from.at("anchor").at(i));
    leg.axis = {{0, 0.6, 0.8}};
  }
  const auto lengths = from.at("lengths").get<std::vector<double>>();
  const AssemblyModes got = assembly_modes({p}, lengths);
  ASSERT_EQ(got.status.size(), 40u);
  EXPECT_GT(got.starts[0], ModeOptions{}.starts);
  EXPECT_GE(*std::min_element(got.found.begin(), got.found.end()), ModeOptions{}.often);
  EXPECT_EQ(got.missing[0], 0);
  const std::vector<double> have = inverse_kinematics({p}, got.pose, {}).lengths;
  for (std::size_t i = 0; i < 40; ++i)
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(have[6 * i + k], lengths[k], 2e-12);
  // Where the starts end before that, the modes found once and twice tell that others exist.
  ModeOptions few;
  few.starts = 64, few.most_starts = 64;
  const AssemblyModes part = assembly_modes({p}, lengths, few);
  EXPECT_EQ(part.starts[0], 64);
  const auto once = std::count(part.found.begin(), part.found.end(), 1),
             twice = std::count(part.found.begin(), part.found.end(), 2);
  EXPECT_LT(part.status.size(), 40u);
  EXPECT_DOUBLE_EQ(part.missing[0], static_cast<double>(once * (once - 1)) / static_cast<double>(2 * (twice + 1)));
  EXPECT_GT(part.missing[0], 1);
}

/// A 6-3: pairs of legs meet in three joint centers of the platform. All real modes are those of a brute-force search
/// by other means (data/reference/README.md), and certified.
TEST(AssemblyModes, OfThe63AreThoseOfABruteForceSearch) {
  const nlohmann::json from = test::platform_reference("modes_6_3");
  Platform p = reference_platform("trepa_like");
  p.leg_radius = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    Leg& leg = p.leg[i];
    leg.base = leg.axis = test::to_vector<3>(from.at("base").at(i));
    leg.anchor = test::to_vector<3>(from.at("anchor").at(i));
    leg.length_min = 0.2, leg.length_max = 2;
  }
  p.home = {{0, 0, 0.6}};
  p = checked(p);
  ASSERT_EQ(p.notes.size(), 1u);
  EXPECT_EQ(p.notes[0].find("legs 0 and 5, 1 and 2, 3 and 4 share a joint center at the platform"), 0u) << p.notes[0];
  ModeOptions options;
  options.starts = 400;
  for (const nlohmann::json& one : from.at("cases")) {
    const AssemblyModes modes = assembly_modes({p}, one.at("lengths").get<std::vector<double>>(), options, {});
    const std::size_t n = one.at("position").size();
    ASSERT_EQ(modes.pose.position.size(), 3 * n);
    for (std::size_t k = 0; k < n; ++k) {
      Poses want;
      append(test::to_vector<3>(one.at("position").at(k)), test::to_vector<4>(one.at("quaternion").at(k)), want);
      double nearest = 1;
      for (std::size_t i = 0; i < n; ++i) nearest = std::min(nearest, apart(modes.pose, i, want, 0));
      EXPECT_LT(nearest, kSame) << k;
      EXPECT_GT(modes.uniqueness[k], 0) << k;
    }
  }
}

}  // namespace
}  // namespace garra::platform
