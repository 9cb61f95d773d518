// What `converged` says: forward kinematics from guesses that are far away.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "answers.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/systems/platform/pose.hpp"
#include "platform_reference.hpp"

namespace garra::platform {
namespace {

using test::reference_platform;

struct Task {
  Poses pose, guess;
  std::vector<double> lengths;
};

/// Poses about home, and guesses off by up to so much per component.
Task task(const Platform& p, int count, double shift, double turn) {
  Task t;
  std::mt19937_64 gen(5);
  std::uniform_real_distribution<double> any(-1, 1);
  const auto append = [&](const Place<double>& from, double by, double angle, Poses& to) {
    for (int k = 0; k < 3; ++k) to.position.push_back(from.r[k] + by * any(gen));
    const Vec3<double> rotation = vec3(angle * any(gen), angle * any(gen), angle * any(gen));
    const Quaternion<double> q = retract(from.p, rotation);
    to.quaternion.insert(to.quaternion.end(), q.m, q.m + 4);
    return Place<double>{{{to.position.end()[-3], to.position.end()[-2], to.position.end()[-1]}}, q};
  };
  for (int i = 0; i < count; ++i) append(append(home_place(p), 0.2, 0.3, t.pose), shift, turn, t.guess);
  t.lengths = inverse_kinematics({p}, t.pose, {}).lengths;
  return t;
}

/// Newton's method alone.
ForwardOptions plain() {
  ForwardOptions o;
  o.plain_iterations = -1;
  return o;
}

double apart(const Poses& a, const Poses& b, std::size_t i) {
  double most = 0, dot = 0;
  for (std::size_t k = 0; k < 3; ++k) most = std::max(most, std::abs(a.position[3 * i + k] - b.position[3 * i + k]));
  for (std::size_t k = 0; k < 4; ++k) dot += a.quaternion[4 * i + k] * b.quaternion[4 * i + k];
  return std::max(most, 1 - std::abs(dot));
}

/// The poses that the legs lead to when their squares go from those of the guess to those asked for in small steps.
Poses led(const Platform& p, const Task& t, int steps) {
  const std::vector<double> from = inverse_kinematics({p}, t.guess, {}).lengths;
  Poses at = t.guess;
  for (int step = 1; step <= steps; ++step) {
    std::vector<double> now(from.size());
    const double share = static_cast<double>(step) / steps;
    for (std::size_t k = 0; k < now.size(); ++k)
      now[k] = std::sqrt((1 - share) * from[k] * from[k] + share * t.lengths[k] * t.lengths[k]);
    at = forward_kinematics({p}, now, at, plain()).pose;
  }
  return at;
}

TEST(PlatformForwardKinematics, FromFarGuessesConvergesOnlyToThePoseThatTheLegsLeadTo) {
  constexpr std::size_t kRows = 1000;
  const Platform p = reference_platform("irregular");
  const Task t = task(p, kRows, 0.3, 1);
  const ForwardKinematics got = forward_kinematics({p}, t.lengths, t.guess);
  const Poses truth = led(p, t, 500);
  std::size_t converged = 0, wrong = 0, before = 0;
  const ForwardKinematics newton = forward_kinematics({p}, t.lengths, t.guess, plain());
  for (std::size_t i = 0; i < kRows; ++i) {
    before += newton.status[i] == PoseStatus::kConverged && apart(newton.pose, truth, i) > 1e-6;
    if (got.status[i] != PoseStatus::kConverged) continue;
    ++converged;
    wrong += apart(got.pose, truth, i) > 1e-6;
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(before, 0u);  // Newton's method alone is wrong
  EXPECT_GT(converged, kRows * 9 / 10);
}

TEST(PlatformForwardKinematics, FindsAPoseForLengthsThatSomePoseHas) {
  constexpr std::size_t kRows = 2000;
  const Platform p = reference_platform("irregular");
  const Task t = task(p, kRows, 0.3, 1);
  const ForwardKinematics got = forward_kinematics({p}, t.lengths, t.guess),
                          newton = forward_kinematics({p}, t.lengths, t.guess, plain());
  std::size_t without = 0, before = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    before += newton.residual[i] > 1e-12;
    without += !(got.residual[i] <= 1e-12);
    EXPECT_NE(got.status[i], PoseStatus::kStalled);
  }
  EXPECT_GT(before, kRows / 100);
  EXPECT_EQ(without, 0u);
}

TEST(PlatformForwardKinematics, LeavesWhatNewtonsMethodFindsAtOnceAsItIs) {
  constexpr std::size_t kRows = 1003;
  for (const char* name : {"trepa_like", "irregular"}) {
    const Platform p = reference_platform(name);
    const Task t = task(p, kRows, 0.1, 0.2);
    const ForwardKinematics got = forward_kinematics({p}, t.lengths, t.guess),
                            newton = forward_kinematics({p}, t.lengths, t.guess, plain());
    EXPECT_EQ(got.pose.position, newton.pose.position);
    EXPECT_EQ(got.iterations, newton.iterations);
    EXPECT_EQ(got.status, newton.status);
  }
}

/// No path from a guess leads to where det J has another sign: the only excuse for not finding the guess's origin.
TEST(PlatformForwardKinematics, FindsThePoseThatTheGuessWasMadeFromUnlessASingularityLiesBetween) {
  constexpr std::size_t kRows = 4000;
  const Platform p = reference_platform("irregular");
  const Task t = task(p, kRows, 0.3, 1);
  InverseOptions with;
  with.conditioning = true;
  const std::vector<double> here = inverse_kinematics({p}, t.guess, {}, with).determinant,
                            there = inverse_kinematics({p}, t.pose, {}, with).determinant;
  const ForwardKinematics got = forward_kinematics({p}, t.lengths, t.guess);
  std::size_t found = 0, elsewhere = 0, wrong = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    if (got.status[i] != PoseStatus::kConverged) continue;
    if (!(apart(got.pose, t.pose, i) > 1e-6))
      ++found;
    else if ((here[i] > 0) != (there[i] > 0))
      ++elsewhere;
    else
      ++wrong;
  }
  EXPECT_GT(found, kRows * 85 / 100);
  EXPECT_GT(elsewhere, 0u);
  EXPECT_EQ(wrong, 0u);
}

TEST(PlatformForwardKinematics, LeadsTheSameOnEveryExecutorWhateverTheOtherRowsDo) {
  const Platform p = reference_platform("irregular");
  const Task all = task(p, 257, 0.3, 1);
  const ForwardKinematics together = forward_kinematics({p}, all.lengths, all.guess);
  std::size_t led = 0, suspect = 0;
  for (std::size_t i = 0; i < 257; ++i) {
    led += together.status[i] == PoseStatus::kConverged && together.iterations[i] > 5;
    suspect += together.status[i] == PoseStatus::kModeSuspect;
  }
  EXPECT_GT(led, 50u);
  EXPECT_GT(suspect, 5u);
  test::expect_same_on_every_executor([&](const Device& device) {
    return test::make_answer(forward_kinematics({p}, all.lengths, all.guess, {}, device));
  });
  for (std::size_t i = 0; i < 257; i += 16) {  // paths that end at once, beside paths that go on
    const auto part = [i](const std::vector<double>& of, std::size_t n) {
      const auto begin = of.begin() + static_cast<std::ptrdiff_t>(n * i);
      return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(n));
    };
    const Poses guess = {part(all.guess.position, 3), part(all.guess.quaternion, 4)};
    const ForwardKinematics alone = forward_kinematics({p}, part(all.lengths, 6), guess);
    EXPECT_EQ(alone.pose.position, part(together.pose.position, 3)) << i;
    EXPECT_EQ(alone.status[0], together.status[i]) << i;
  }
}

}  // namespace
}  // namespace garra::platform
