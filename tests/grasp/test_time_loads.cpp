// Loads that change with time: their integrals, the turned gravity, and the statistics of a shaken palm.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "garra/core/error.hpp"
#include "garra/core/lanes.hpp"
#include "grasp/time/loads.hpp"
#include "motion_cases.hpp"

namespace garra::grasp {
namespace {

using test::make_load;
using Kind = TimeLoad::Kind;

constexpr double kRounding = 1e-14;
const Vec3<double> kGravity{{0, 0, -9.81}};

TimeLoad push_of(Kind kind, double from, double to) {
  TimeLoad load = make_load(kind, from, to);
  load.force = {{2, -3, 5}};
  load.torque = {{0.1, 0.2, -0.4}};
  return load;
}
LoadClock clock_of(const std::vector<TimeLoad>& loads) { return LoadClock(loads, kGravity, 1.0); }

Vec<double, 6> total_until(double end, double step, const LoadClock& clock) {
  Vec<double, 6> sum = Vec<double, 6>::zero();
  const int steps = static_cast<int>(std::ceil(end / step));
  for (int k = 0; k < steps; ++k) sum += step * clock.at(k * step, (k + 1) * step).wrench;
  return sum;
}

TEST(TimeLoads, WholeImpulseArrivesWhateverTheStep) {
  const TimeLoad hit = push_of(Kind::kImpulse, 0.1234, 0.1834);
  for (const double step : {1e-4, 1.7e-3, 0.0311, 0.06, 0.4, 1.0}) {
    const Vec<double, 6> total = total_until(0.5, step, clock_of({hit}));
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(total[i], hit.force[i], kRounding * 10) << step;
      EXPECT_NEAR(total[i + 3], hit.torque[i], kRounding) << step;
    }
  }
}

TEST(TimeLoads, ImpulseIsAHalfSine) {
  const LoadClock clock = clock_of({push_of(Kind::kImpulse, 0.2, 0.3)});
  for (const double t : {0.21, 0.25, 0.28}) {
    const double want = 2 * M_PI / (2 * 0.1) * std::sin(M_PI * (t - 0.2) / 0.1);
    EXPECT_NEAR(clock.at(t - 1e-7, t + 1e-7).wrench[0], want, 1e-7);
  }
  EXPECT_EQ(clock.at(0.1, 0.2).wrench[0], 0);
  EXPECT_EQ(clock.at(0.3, 0.4).wrench[0], 0);
}

TEST(TimeLoads, ImpulseWithoutLengthArrivesInOneStep) {
  const LoadClock clock = clock_of({push_of(Kind::kImpulse, 0.2, 0.2)});
  EXPECT_EQ(clock.at(0.1, 0.2).wrench[0] + clock.at(0.25, 0.3).wrench[0], 0);
  EXPECT_NEAR(clock.at(0.2, 0.25).wrench[0] * 0.05, 2, kRounding);
  EXPECT_NEAR(total_until(1, 0.03, clock)[0], 2, kRounding);
}

TEST(TimeLoads, RampGrowsLinearlyAndStays) {
  const LoadClock clock = clock_of({push_of(Kind::kRamp, 0.2, 0.6)});
  EXPECT_EQ(clock.at(0.1, 0.2).wrench[0], 0);
  EXPECT_NEAR(clock.at(0.29, 0.31).wrench[0], 0.5, kRounding);
  EXPECT_NEAR(clock.at(0.1, 0.4).wrench[0], 2 * 0.05 / 0.3, kRounding);  // mean over a step with the kink in it
  EXPECT_NEAR(clock.at(0.5, 0.7).wrench[0], 2 * (0.0875 + 0.1) / 0.2, kRounding);
  EXPECT_EQ(clock.at(0.7, 0.701).wrench[4], 0.2);
  const LoadClock step = clock_of({push_of(Kind::kRamp, 0.2, 0.2)});
  EXPECT_EQ(step.at(0.1, 0.2).wrench[1], 0);
  EXPECT_EQ(step.at(0.2, 0.3).wrench[1], -3);
}

TEST(TimeLoads, AllOfThemAddUp) {
  const TimeLoad ramp = push_of(Kind::kRamp, 0, 0.5), hit = push_of(Kind::kImpulse, 0.1, 0.4);
  const Instant both = clock_of({ramp, hit}).at(0.2, 0.21);
  for (int i = 0; i < 6; ++i)
    EXPECT_NEAR(both.wrench[i], clock_of({ramp}).at(0.2, 0.21).wrench[i] + clock_of({hit}).at(0.2, 0.21).wrench[i],
                10 * kRounding);
}

TEST(TimeLoads, TiltTurnsGravityAtConstantSpeedAndKeepsItsSize) {
  TimeLoad tilt = make_load(Kind::kTilt, 0.2, 0.6);
  tilt.axis = {{0, 3, 0}};
  tilt.angle = M_PI / 2;
  const LoadClock clock = clock_of({tilt});
  for (const double t : {0.0, 0.25, 0.4, 0.5, 0.9}) {
    const Vec3<double> g = clock.at(t, t + 1e-3).known_gravity;
    const double angle = M_PI / 2 * std::clamp((t + 0.5e-3 - 0.2) / 0.4, 0.0, 1.0);
    EXPECT_NEAR(norm(g), 9.81, kRounding);
    EXPECT_NEAR(g[0], -9.81 * std::sin(angle), 10 * kRounding);
    EXPECT_NEAR(g[2], -9.81 * std::cos(angle), 10 * kRounding);
  }
  TimeLoad roll = make_load(Kind::kTilt, 0.6, 0.8);  // then -x turns about z to -y
  roll.angle = M_PI / 2;
  EXPECT_NEAR(clock_of({tilt, roll}).at(0.9, 1).known_gravity[1], -9.81, 10 * kRounding);
}

TimeLoad shake_of(double from, double to) {
  TimeLoad shake = make_load(Kind::kShake, from, to);
  shake.rms = {{1, 2, 0}};
  shake.low = 2;
  shake.high = 10;
  return shake;
}
/// Frequency in the middle of the k-th of 16 parts.
double tone(int k) { return 2 + 8 * (k + 0.5) / 16; }

TEST(Shake, HasTonesInTheMiddleOfEqualBandsAndSoftEdges) {
  const LoadClock clock = clock_of({shake_of(0.2, 0)});
  for (const double t : {0.1, 0.21, 0.5, 0.97, 1.5}) {
    const Instant now = clock.at(t - 1e-3, t + 1e-3);
    const double inside = std::clamp(std::min(t - 0.2, 1 - t) / 0.05, 0.0, 1.0);
    const double fade = 0.5 * (1 - std::cos(M_PI * inside));
    for (int k = 0; k < kShakeTones; ++k) {
      EXPECT_NEAR(now.shake_cos[k], fade * std::cos(2 * M_PI * tone(k) * t), 1e-12);
      EXPECT_NEAR(now.shake_sin[k], fade * std::sin(2 * M_PI * tone(k) * t), 1e-12);
    }
  }
  const Instant short_one = clock_of({shake_of(0.5, 0.52)}).at(0.5099, 0.5101);
  EXPECT_NEAR(std::hypot(short_one.shake_cos[3], short_one.shake_sin[3]), 1, kRounding);
}

// Over many samples the palm's acceleration has the rms of the scenario and, at two times, the correlation
// rms^2 mean_k cos(2 pi f_k (t - t')): that is its spectrum.
TEST(Shake, HasTheRmsAndTheSpectrumThatWasAskedFor) {
  constexpr int kSamples = 20000;
  constexpr double kSpread = 0.03;  // three standard deviations of a mean over so many squares
  const TimeLoad shake = shake_of(0, 1);
  const LoadClock clock = clock_of({shake});
  const double times[4] = {0.3, 0.33, 0.4, 0.65};
  Instant at[4];
  for (int m = 0; m < 4; ++m) at[m] = clock.at(times[m] - 1e-4, times[m] + 1e-4);
  double product[4][3] = {}, across = 0, mean = 0;
  for (int s = 0; s < kSamples; ++s) {
    const auto phases =
        draw_shake<double>(7, SampleIndex<double>::consecutive(static_cast<std::uint64_t>(s)), shake.rms);
    const Vec3<double> first = palm_acceleration(at[0], phases);
    for (int m = 0; m < 4; ++m) {
      const Vec3<double> then = palm_acceleration(at[m], phases);
      for (int i = 0; i < 3; ++i) product[m][i] += first[i] * then[i] / kSamples;
    }
    across += first[0] * first[1] / kSamples;
    mean += first[0] / kSamples;
  }
  for (int m = 0; m < 4; ++m) {
    double correlation = 0;
    for (int k = 0; k < kShakeTones; ++k)
      correlation += std::cos(2 * M_PI * tone(k) * (times[m] - times[0])) / kShakeTones;
    EXPECT_NEAR(product[m][0], correlation, kSpread);
    EXPECT_NEAR(product[m][1], 4 * correlation, 4 * kSpread);
    EXPECT_EQ(product[m][2], 0);
  }
  EXPECT_NEAR(across, 0, 2 * kSpread);
  EXPECT_NEAR(mean, 0, kSpread);
}

TEST(Shake, OfASampleIsTheSameToTheBitInLanes) {
  using L = Lanes<double>;
  const Vec3<double> rms{{1, 2, 3}};
  const Instant now = clock_of({shake_of(0, 1)}).at(0.4, 0.41);
  const auto phases = draw_shake<L>(7, SampleIndex<L>::consecutive(40), rms);
  const Vec3<L> all = palm_acceleration(now, phases);
  for (int l = 0; l < L::kSize; ++l) {
    const auto index = SampleIndex<double>::consecutive(40 + static_cast<std::uint64_t>(l));
    const Vec3<double> one = palm_acceleration(now, draw_shake<double>(7, index, rms));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(all[i][l], one[i]);
  }
}

TEST(TimeLoads, ThatMakeNoSenseAreRefused) {
  const auto refused = [](const std::vector<TimeLoad>& loads) {
    try {
      clock_of(loads);
    } catch (const Error& e) {
      return e.code() == ExitCode::kInvalidFile;
    }
    return false;
  };
  EXPECT_TRUE(refused({shake_of(0, 1), shake_of(0, 0.5)}));
  EXPECT_TRUE(refused({push_of(Kind::kRamp, 0.5, 0.4)}));
  EXPECT_TRUE(refused({push_of(Kind::kImpulse, -0.1, 0.4)}));
  TimeLoad tilt = make_load(Kind::kTilt, 0, 1), band = shake_of(0, 1), negative = shake_of(0, 1);
  tilt.axis = Vec3<double>::zero();
  band.high = 1;
  negative.rms[2] = -1;
  for (const TimeLoad& load : {tilt, band, negative}) EXPECT_TRUE(refused({load}));
  EXPECT_FALSE(refused({}));
}

}  // namespace
}  // namespace garra::grasp
