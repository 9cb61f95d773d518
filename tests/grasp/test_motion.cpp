// Trajectories of a hand of three PUMA 560 arms: symmetry, convergence, conservation, ends; and the same bits however
// they are run.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "../../bench/grasp_time_cases.hpp"
#include "garra/core/error.hpp"
#include "garra/io/scenario.hpp"
#include "motion_cases.hpp"
#include "on_every_executor.hpp"
#include "places.hpp"
#include "reference.hpp"
#include "same_bits.hpp"

namespace garra::grasp {
namespace {

using test::same_bits;

using test::make_load;
using test::row;

const Device kScalar{Executor::kScalar, 1, 0};
const Device kLanes{Executor::kLanes, 1, 0};
constexpr double kRounding = 1e-12;  // of sums over a few hundred steps of numbers of order 1

// The reference's default hand: three PUMA 560 arms that hold a sphere from three sides.
Scenario three_puma(const std::vector<std::string>& more = {}) {
  std::vector<std::string> overrides = {"object.mass=1",
                                        "object.position=[0,0,0.3]",
                                        "contacts.angle=60 deg",
                                        "contacts.friction=0.4",
                                        "contacts.slide=0",
                                        "contacts.tilt=0",
                                        "contacts.grip_force_error=0",
                                        "load.wrench={ force_radius = 0 }"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  Scenario s = io::read_scenario(test::source_folder() + "/data/scenarios/three_puma_sphere.toml", overrides);
  s.time.emplace();
  s.time->duration = 0.2;
  return s;
}

TEST(GraspMotion, HandThatHoldsStaysWhereItIs) {
  const MotionSeries m = Motion(three_puma()).series(0, 3);
  EXPECT_EQ(m.trajectory.end, MotionEnd::kHeld);
  EXPECT_LE(m.trajectory.peak_drift, 1e-7);
  EXPECT_NEAR(m.trajectory.least_margin, 1 - 9.81 / (3 * 15 * 0.4), 1e-6);
  EXPECT_TRUE(std::isinf(m.trajectory.slip_time));
}

TEST(GraspMotion, SymmetricHandStaysSymmetric) {
  Scenario s = three_puma();
  s.angle = study::Distribution::constant(0);
  s.time->loads = {make_load(TimeLoad::Kind::kRamp, 0, 0.1, {{0, 0, -10}})};
  // Contacts at 120 degrees: those of the file stand at -60, 60 and 180.
  const MotionSeries m = Motion(s).series(0, 21);
  for (std::size_t k = 0; k < m.time.size(); ++k) {
    EXPECT_LE(std::hypot(row(m.position, k)[0], row(m.position, k)[1]), kRounding);
    for (std::size_t j = 1; j < 3; ++j) {
      EXPECT_NEAR(m.force[9 * k + 3 * j], m.force[9 * k], 1e-8);
      EXPECT_NEAR(m.slip_speed[3 * k + j], m.slip_speed[3 * k], 1e-9);
    }
  }
  EXPECT_EQ(m.trajectory.end, MotionEnd::kSlipped);
}

/// The sphere pulled down through the fingers by a growing force.
Scenario pulled(double step) {
  Scenario s = three_puma({"contacts.friction=0.3"});
  s.time->duration = 0.18;
  s.time->step = step;
  s.time->instants = 2;
  s.time->loads = {make_load(TimeLoad::Kind::kRamp, 0, 0.15, {{1, 0, -6}})};
  return s;
}

// First order at the onset of slip, second order between such events.
TEST(GraspMotion, ConvergesAtLeastToFirstOrder) {
  std::vector<double> end;
  for (const double step : {4e-3, 2e-3, 1e-3, 5e-4}) end.push_back(Motion(pulled(step)).series(0, 2).velocity.back());
  EXPECT_LT(end.back(), -0.01);  // it slides
  const double first = end[1] - end[0], second = end[2] - end[1], third = end[3] - end[2];
  EXPECT_GT(std::abs(first / second), 1.7);
  EXPECT_GT(std::abs(second / third), 1.7);
  EXPECT_LT(std::abs(third), 1e-3 * std::abs(end.back()));
}

TEST(GraspMotion, KeepsItsBooksWhileItSlides) {
  const Trajectory coarse = Motion(pulled(2e-3)).series(0, 2).trajectory,
                   fine = Motion(pulled(1e-3)).series(0, 2).trajectory;
  EXPECT_EQ(fine.end, MotionEnd::kSlipped);
  EXPECT_LE(fine.momentum_balance, kRounding);
  EXPECT_LE(fine.worst_gap, 1e-6);
  EXPECT_LE(fine.worst_cone, 1e-6);
  EXPECT_LE(fine.worst_residual, 1e-8);
  EXPECT_GT(coarse.energy_balance / fine.energy_balance, 1.5);
  EXPECT_LE(fine.energy_balance, 1e-3);
  EXPECT_EQ(fine.steps, 180);
}

TEST(GraspMotion, TiltedHandHoldsTheTiltedWeight) {
  for (const Drive drive : {Drive::kController, Drive::kConstant}) {
    Scenario s = three_puma({"contacts.friction=0.8"});
    s.time->drive = drive;
    TimeLoad tilt = make_load(TimeLoad::Kind::kTilt, 0, 0.15, {});
    tilt.axis = {{1, 0, 0}};
    tilt.angle = drive == Drive::kController ? 0.4 : 0;  // constant torques would let the arms sink
    s.time->loads = {tilt};
    const MotionSeries m = Motion(s).series(0, 201);  // every step
    ASSERT_EQ(m.time.size(), 200u);
    for (std::size_t k = 1; k < m.time.size(); ++k) {
      Vec3<double> sum = row(m.gravity, k);
      for (std::size_t j = 0; j < 3; ++j) sum += row(m.force_palm, 3 * k + j);
      const Vec3<double> gained = row(m.velocity, k) - row(m.velocity, k - 1);  // by 1 kg, in a step
      EXPECT_LE(norm(s.time->step * sum - gained), kRounding) << k;
    }
    EXPECT_NEAR(row(m.gravity, 199)[1], 9.81 * std::sin(tilt.angle), 1e-9);
    EXPECT_EQ(m.trajectory.end, MotionEnd::kHeld);
  }
}

// Where nothing slides, the papers' step and Moreau's converge to the same motion; where it does, steps above the bound
// of the explicit one are counted.
TEST(GraspMotion, ExplicitStepAgreesWhereNothingSlidesAndCountsUnstableSteps) {
  const auto end = [](Scheme scheme, double step, double friction) {
    Scenario s = pulled(step);
    s.time->scheme = scheme;
    for (Contact& c : s.contacts) c.friction = study::Distribution::constant(friction);
    return Motion(s).series(0, 2);
  };
  const double truth = end(Scheme::kMoreauJean, 2.5e-4, 0.9).position.back() - 0.3;
  const double coarse = end(Scheme::kExplicit, 2e-3, 0.9).position.back() - 0.3,
               fine = end(Scheme::kExplicit, 1e-3, 0.9).position.back() - 0.3;
  EXPECT_LT(std::abs(fine - truth), 0.02 * std::abs(truth));
  EXPECT_GT(std::abs(coarse - truth) / std::abs(fine - truth), 1.6);
  EXPECT_EQ(end(Scheme::kExplicit, 1e-3, 0.9).trajectory.unstable_steps, 0);
  const Trajectory sliding = end(Scheme::kExplicit, 2e-3, 0.3).trajectory;
  EXPECT_GT(sliding.unstable_steps, 0);
  EXPECT_GT(sliding.worst_ratio, 1);
}

TEST(GraspMotion, EndsForTheReasonThatCameFirst) {
  Scenario loose = three_puma({"contacts.friction=0.02"});
  const Trajectory dropped = Motion(loose).series(0, 2).trajectory;
  EXPECT_EQ(dropped.end, MotionEnd::kDropped);
  EXPECT_GE(dropped.peak_drift, 0.05);
  EXPECT_LT(dropped.peak_drift, 0.06);
  const auto fall = test::read_reference_json("grasp_time/falling.json");  // the same hand by an own program
  EXPECT_NEAR(dropped.end_time, fall["dropped"]["time"], 1e-12);
  loose.time->upper.assign(3, std::vector<double>(6, 1e3));
  loose.time->upper[1][2] = Motion(three_puma()).series(0, 2).q[1][2] + 1e-3;  // as good as at its limit
  EXPECT_EQ(Motion(loose).series(0, 2).trajectory.end, MotionEnd::kJointLimit);
  Scenario far = three_puma({"hand.base_distance=1 m", "object.position=[{ normal = [0, 0.02] }, 0, 0.3]"});
  far.time->duration = 2e-3;
  far.time->instants = 2;
  int unreachable = 0;
  for (const Trajectory& t : Motion(far).run(0, 64, kLanes).trajectory) unreachable += t.end == MotionEnd::kUnreachable;
  EXPECT_GT(unreachable, 0);
  EXPECT_LT(unreachable, 64);
}

/// Everything uncertain, shaken.
Scenario uncertain() {
  Scenario s = io::read_scenario(test::source_folder() + "/data/scenarios/three_puma_sphere.toml", {});
  s.time.emplace();
  s.time->duration = 0.05;
  s.time->instants = 6;
  TimeLoad shake = make_load(TimeLoad::Kind::kShake, 0, 0, {});
  shake.rms = {{2, 2, 6}};
  s.time->loads = {shake, make_load(TimeLoad::Kind::kRamp, 0, 0.04, {{0, 0, -8}})};
  return s;
}
/// All of a trajectory but its end.
bool same_numbers(const Trajectory& x, const Trajectory& y) {
  constexpr std::size_t numbers =
      (offsetof(Trajectory, slipped_first) - offsetof(Trajectory, end_time)) / sizeof(double);
  return x.slipped_first == y.slipped_first && same_bits(&x.end_time, &y.end_time, numbers);
}
void expect_same(const Motions& a, std::size_t a_first, const Motions& b, std::size_t b_first, std::size_t count) {
  const auto draws = static_cast<std::size_t>(a.draws), looks_each = static_cast<std::size_t>(looks(a.contacts));
  // Pointers: where there is none, the array has no first number either.
  EXPECT_TRUE(same_bits(a.uniforms.data() + a_first * draws, b.uniforms.data() + b_first * draws, count * draws));
  for (std::size_t i = 0; i < count; ++i) {
    const Trajectory &x = a.trajectory[a_first + i], &y = b.trajectory[b_first + i];
    EXPECT_EQ(x.end, y.end) << i;
    EXPECT_TRUE(same_numbers(x, y)) << i;
    for (std::size_t k = 0; k < static_cast<std::size_t>(a.instants) * looks_each; ++k)
      ASSERT_TRUE(same_bits(&a.looks[k * a.trajectory.size() + a_first + i],
                            &b.looks[k * b.trajectory.size() + b_first + i], 1))
          << i << " " << k;
  }
}

test::Answer make_answer(const Motions& m) {
  test::Answer out;
  out.add("looks", std::vector<double>(m.looks.begin(), m.looks.end())).add("uniforms", m.uniforms);
  for (const Trajectory& t : m.trajectory) {
    // From end_time to slipped_first there is nothing but numbers.
    std::vector<double> numbers(reinterpret_cast<const double*>(&t.end_time),
                                reinterpret_cast<const double*>(&t.slipped_first));
    out.add("trajectory", numbers).add("end", t.end).add("slipped first", t.slipped_first);
  }
  return out;
}

TEST(GraspMotion, IsTheSameToTheBitHoweverItIsRun) {
  const Motion motion(uncertain());
  const Motions all = motion.run(0, 150, kLanes);
  test::expect_same_on_every_executor([&](const Device& device) { return make_answer(motion.run(0, 150, device)); });
  for (const std::int64_t count : {0, 1, 7, 8, 9})
    expect_same(all, 5, motion.run(5, count, kLanes), 0, static_cast<std::size_t>(count));
  Motions halves[2];
  std::thread other([&] { halves[1] = motion.run(77, 73, kLanes); });
  halves[0] = motion.run(0, 77, kLanes);
  other.join();
  expect_same(all, 0, halves[0], 0, 77);
  expect_same(all, 77, halves[1], 0, 73);
  const Trajectory one = motion.series(12, 3).trajectory;
  EXPECT_TRUE(same_numbers(one, all.trajectory[12]));
}

TEST(GraspMotion, HandsOfUpToEightFingersCarryTheirShareOfTheWeight) {
  for (int n = 2; n <= kMaxContacts; ++n) {
    Scenario s = bench::puma_ring(n, 1e-3);
    bench::set_spread(0.5, 0, s);
    s.time->duration = 0.02;
    const Motion motion(s);
    const MotionSeries m = motion.series(0, 2);
    EXPECT_EQ(m.trajectory.end, MotionEnd::kHeld) << n;
    for (int j = 0; j < n; ++j) {
      const Vec3<double> f =
          row(m.force_palm, (m.time.size() - 1) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j));
      EXPECT_NEAR(f[2], 9.81 / n, 1e-6) << n;
      EXPECT_NEAR(std::hypot(f[0], f[1]), 15, 1e-5) << n;
    }
    test::expect_same_on_every_executor([&](const Device& device) { return make_answer(motion.run(0, 3, device)); });
  }
}

TEST(GraspMotion, FrictionLevelsShareTheirDrawsAndAPoisonedLevelTouchesNoOther) {
  Scenario s = uncertain();
  s.time->friction = {0.3};
  const Motions alone = Motion(s).run(0, 12, kLanes);
  s.time->friction = {0.3, std::nan("")};
  const Motions mixed = Motion(s).run(0, 24, kLanes);
  for (std::size_t i = 0; i < 12; ++i) {
    expect_same(alone, i, mixed, 2 * i, 1);
    EXPECT_EQ(mixed.trajectory[2 * i + 1].end, MotionEnd::kNonFinite);
  }
}

TEST(GraspMotion, LooksShowWhatTheSeriesShows) {
  const Motion motion(uncertain());
  const Motions all = motion.run(0, 10, kLanes);
  const std::size_t sample = 3, each = static_cast<std::size_t>(looks(3));
  const MotionSeries m = motion.series(static_cast<std::int64_t>(sample), 6);
  ASSERT_EQ(m.time.size(), 6u);
  for (std::size_t t = 0; t < 6; ++t) {
    const auto look = [&](std::size_t k) { return all.looks[(t * each + k) * 10 + sample]; };
    const Vec3<double> drift = row(m.position, t) - row(m.position, 0);
    EXPECT_NEAR(look(kDrift), norm(drift), 1e-5) << t;  // the series begins after the first step
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(look(kLooks + j), m.force[9 * t + 3 * j]);
  }
}

TEST(GraspMotion, NominalMotionIsThatOfASampleWhereNothingIsUncertain) {
  const Motion motion(pulled(2e-3));
  const MotionSeries a = motion.series(5, 10), b = motion.nominal(10);
  EXPECT_EQ(a.position, b.position);
  EXPECT_EQ(a.force, b.force);
  EXPECT_EQ(a.time, b.time);
}

TEST(GraspMotion, ThatMakesNoSenseIsRefused) {
  const auto refused = [](auto change) {
    Scenario s = three_puma();
    change(s);
    try {
      Motion motion(s);
    } catch (const Error& e) {
      return e.code() == ExitCode::kInvalidFile;
    }
    return false;
  };
  EXPECT_TRUE(refused([](Scenario& s) { s.time.reset(); }));
  EXPECT_TRUE(refused([](Scenario& s) { s.time->step = 0.03; }));
  EXPECT_TRUE(refused([](Scenario& s) { s.time->instants = 1; }));
  EXPECT_TRUE(refused([](Scenario& s) { s.contacts[0].curvature_t = 1; }));
  EXPECT_FALSE(refused([](Scenario&) {}));
}

}  // namespace
}  // namespace garra::grasp
