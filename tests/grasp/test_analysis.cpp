// One instant of a grasp: the reference chain at rest and rolling; contacts that slide against Newton, Euler and finite
// differences of the gap; modes, edges, and the same bits however it is run.
#include <gtest/gtest.h>

#include <cmath>

#include "answers.hpp"
#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/grasp_analysis.hpp"
#include "garra/io/scenario.hpp"
#include "garra/math/quaternion.hpp"
#include "grasp_robots.hpp"
#include "motion_cases.hpp"
#include "places.hpp"
#include "reference.hpp"
#include "same_bits.hpp"

namespace garra::grasp {
namespace {

using nlohmann::json;
using std::size_t;
using test::robot_of;
using test::row;
using test::same_bits;
using test::to_numbers;

constexpr double kForce = 1e-9;         // relative: what the reference set asks of forces
constexpr double kAcceleration = 1e-9;  // relative to the largest one
constexpr double kRounding = 1e-11;     // sums of products of numbers of order 100
const Device kScalar{Executor::kScalar, 1, 0};
const Device kLanes{Executor::kLanes, 1, 0};

Finger puma_finger(const json& hand, size_t j) {
  const std::string label = hand["ik_label"][j];
  Finger f;
  f.joints = chain::puma560(hand["inputs"]["armature"]);
  f.tool.p[2] = hand["inputs"]["tool"];
  for (int i = 0; i < 3; ++i) f.base.p[i] = hand["S"][static_cast<size_t>(i)][j];
  f.arm = label[0] == 'r' ? 1 : -1;
  f.elbow = label[1] == 'u' ? 1 : -1;
  f.wrist = label[2] == 'n' ? 1 : -1;
  return f;
}

Contact contact_to_json(const json& hand, size_t j) {
  const json& in = hand["inputs"];
  const std::vector<double> E = to_numbers(hand["E_nto"][j]), p = to_numbers(hand["p_t"]),
                            center = to_numbers(hand["p_cm"]);
  const double r = in["r"];
  const size_t n = hand["n"];
  Contact c;
  for (int i = 0; i < 3; ++i) {
    const auto row = static_cast<size_t>(i);
    c.point[i] = p[n * row + j] - center[row];
    for (int k = 0; k < 3; ++k) c.frame(i, (k + 2) % 3) = E[3 * row + static_cast<size_t>(k)];
  }
  c.curvature_t = c.curvature_o = 1 / r;
  c.friction = study::Distribution::constant(in["mu"][j]);
  return c;
}

Scenario read_scenario_document(const json& hand) {
  const json& in = hand["inputs"];
  Scenario s;
  for (size_t j = 0; j < hand["n"].get<size_t>(); ++j) {
    s.fingers.push_back(puma_finger(hand, j));
    s.contacts.push_back(contact_to_json(hand, j));
  }
  s.object.radius = in["r"];
  s.object.mass = study::Distribution::constant(in["m_obj"]);
  for (int i = 0; i < 3; ++i) {
    s.object.position[i] = to_numbers(hand["p_cm"])[static_cast<size_t>(i)];
    s.gravity[i] = in["gvec"][static_cast<size_t>(i)];
  }
  return s;
}

GraspStates states_to_json(const json& hand) {
  const json& in = hand["inputs"];
  GraspStates x;
  const std::vector<double> motion = to_numbers(in["qd_obj"]), qd = to_numbers(in["qd_man"]),
                            tau = to_numbers(in["tau"]);
  x.velocity.assign(motion.begin(), motion.begin() + 3);
  x.spin.assign(motion.begin() + 3, motion.end());
  x.wrench = to_numbers(in["wext"]);
  for (size_t j = 0; j < hand["n"].get<size_t>(); ++j) {
    const auto six = [&](const std::vector<double>& all) {
      return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(6 * j),
                                 all.begin() + static_cast<std::ptrdiff_t>(6 * j + 6));
    };
    x.q.push_back(to_numbers(hand["q"][j]));
    x.qd.push_back(six(qd));
    x.tau.push_back(six(tau));
  }
  return x;
}

double largest(const std::vector<double>& v) {
  double m = 0;
  for (const double x : v) m = std::max(m, std::abs(x));
  return m;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double relative, const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t k = 0; k < got.size(); ++k)
    EXPECT_NEAR(got[k], want[k], relative * (1 + largest(want))) << what << " " << k;
}

TEST(GraspAnalysis, AgreesWithTheReferenceAtRestAndRolling) {
  int moving = 0;
  for (const json& hand : test::read_reference_json("grasp/chain.json")) {
    SCOPED_TRACE(hand["id"].get<int>());
    const Analysis a = analyze(read_scenario_document(hand), states_to_json(hand), kScalar);
    ASSERT_EQ(a.status[0], Status::kConverged);
    expect_near(a.force, to_numbers(hand["c"]), kForce, "force");
    expect_near(a.relative_acceleration, to_numbers(hand["a"]), kAcceleration, "relative acceleration");
    expect_near(a.acceleration, to_numbers(hand["qdd_obj"]), kAcceleration, "object");
    std::vector<double> qdd;
    for (const auto& finger : a.qdd) qdd.insert(qdd.end(), finger.begin(), finger.end());
    expect_near(qdd, to_numbers(hand["qdd_man"]), kAcceleration, "fingers");
    for (size_t j = 0; j < a.gap.size(); ++j) {
      EXPECT_NEAR(a.gap[j], 0, 1e-14);
      EXPECT_EQ(a.mode_before[j], static_cast<int>(ContactMode::kRolling));
      const bool carries = hand["c"][3 * j].get<double>() > 0;
      EXPECT_EQ(a.mode_after[j] == static_cast<int>(ContactState::kBreak), !carries);
    }
    moving += hand["kind"] == "rolling";
  }
  EXPECT_GE(moving, 10);
}

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
  return io::read_scenario(test::source_folder() + "/data/scenarios/three_puma_sphere.toml", overrides);
}

TEST(GraspAnalysis, NominalHandHoldsWithThePapersForces) {
  const Analysis a = analyze(three_puma());
  ASSERT_EQ(a.status, std::vector<Status>{Status::kConverged});
  for (size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(a.force[3 * j], 15, 1e-9);
    EXPECT_NEAR(std::hypot(a.force[3 * j + 1], a.force[3 * j + 2]), 9.81 / 3, 1e-9);
    EXPECT_EQ(a.mode_before[j], static_cast<int>(ContactMode::kRolling));
    EXPECT_EQ(a.mode_after[j], static_cast<int>(ContactState::kStick));
    EXPECT_LE(largest(a.qdd[j]), 1e-9);
    EXPECT_NEAR(a.normal[3 * j + 2], 0, 1e-14);
  }
  EXPECT_LE(largest(a.acceleration), 1e-9);
  EXPECT_LE(largest(a.relative_acceleration), 1e-9);
}

TEST(GraspAnalysis, TooLittleFrictionSlipsAndAHardPullOpens) {
  GraspStates x;
  x.count = 2;
  x.friction = {0.1, 0.1, 0.1, 0.4, 0.4, 0.4};
  x.wrench = {0, 0, 0, 0, 0, 0, 400, 0, 0, 0, 0, 0};
  const Analysis a = analyze(three_puma(), x);
  int open = 0;
  for (size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(a.mode_after[j], static_cast<int>(ContactState::kSlip));
    EXPECT_NEAR(std::hypot(a.force[3 * j + 1], a.force[3 * j + 2]), 0.1 * a.force[3 * j], 1e-9);
    if (a.mode_after[3 + j] != static_cast<int>(ContactState::kBreak)) continue;
    ++open;
    EXPECT_NEAR(a.force[9 + 3 * j], 0, 1e-9);
    EXPECT_GT(a.relative_acceleration[9 + 3 * j], 0.1);
  }
  EXPECT_LT(a.acceleration[2], -1);
  EXPECT_GE(open, 1);
  EXPECT_LE(open, 2);
}

/// A grasp whose object turns under fingers that only follow its center: every contact slides.
struct Sliding {
  Scenario scenario;
  GraspStates states;
  Analysis analysis;
};
Sliding sliding(const Scenario& s, const std::vector<double>& v, const std::vector<double>& w) {
  GraspStates following;
  following.velocity = v;
  following.spin = {0, 0, 0};
  const Analysis first = analyze(s, following);
  GraspStates x = following;
  x.spin = w;
  x.q = first.q;
  x.qd = first.qd;
  return {s, x, analyze(s, x, kScalar)};
}
std::vector<Sliding> sliding_grasps() {
  const std::string folder = test::source_folder() + "/data/scenarios/";
  return {sliding(three_puma(), {0.1, -0.2, 0.05}, {0.4, 0.7, -1}),
          sliding(io::read_scenario(folder + "four_finger_box.toml", {}), {0.02, 0.03, -0.01}, {0.2, 0.3, 0.5})};
}

/// [n t o] of a contact of the sphere that has not been turned.
Mat3<double> frame_of(const Scenario& s, size_t j) {
  Mat3<double> E;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) E(i, k) = s.contacts[j].frame(i, (k + 2) % 3);
  return E;
}

TEST(GraspAnalysis, SlidingContactsObeyCoulombNewtonAndEuler) {
  const Sliding x = sliding_grasps()[0];
  const Analysis& a = x.analysis;
  ASSERT_EQ(a.status[0], Status::kConverged);
  Vec3<double> force = x.scenario.gravity, torque = Vec3<double>::zero();
  for (size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(a.mode_before[j], static_cast<int>(ContactMode::kSliding));
    EXPECT_EQ(a.mode_after[j], static_cast<int>(ContactState::kSlip));
    const Vec3<double> c = row(a.force, j), v = row(a.relative_velocity, j);
    const double speed = std::hypot(v[1], v[2]);
    EXPECT_GT(c[0], 1);
    EXPECT_NEAR(v[0], 0, kRounding);
    for (int i = 1; i < 3; ++i) EXPECT_NEAR(c[i], -0.4 * c[0] * v[i] / speed, kRounding);
    const Vec3<double> f = frame_of(x.scenario, j) * c;
    force += f;
    torque += cross(x.scenario.contacts[j].point, f);

    // tau - J^T c is what moves the arm.
    chain::States state;
    state.count = 1;
    state.q = a.q[j];
    state.qd = a.qd[j];
    state.qdd = a.qdd[j];
    const auto r = chain::evaluate(robot_of(x.scenario, j), state,
                                   {chain::Output::kInverseDynamics, chain::Output::kJacobian}, {}, kScalar);
    for (size_t k = 0; k < 6; ++k) {
      double moves = a.tau[j][k];
      for (size_t i = 0; i < 3; ++i) moves -= r[chain::Output::kJacobian][6 * i + k] * f[static_cast<int>(i)];
      EXPECT_NEAR(r[chain::Output::kInverseDynamics][k], moves, kRounding) << "finger " << j << " joint " << k;
    }
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(a.acceleration[static_cast<size_t>(i)], force[i], kRounding);
    EXPECT_NEAR(a.acceleration[static_cast<size_t>(i + 3)], torque[i] / (0.4 * 0.01), 1e3 * kRounding);
  }
}

// Fingers at rest press with 15 N each while wrench and torques balance their friction: nothing accelerates, all slides
// on.
TEST(GraspAnalysis, SphereThatSpinsInPlaceGoesOnSliding) {
  Sliding x = sliding(three_puma(), {0, 0, 0}, {0.3, -0.8, 2});
  Vec3<double> force = x.scenario.gravity, torque = Vec3<double>::zero();
  std::vector<double> wanted;
  for (size_t j = 0; j < 3; ++j) {
    const Vec3<double> v = row(x.analysis.relative_velocity, j);
    const double share = -0.4 * 15 / std::hypot(v[1], v[2]);
    const Vec3<double> c = {{15, share * v[1], share * v[2]}}, f = frame_of(x.scenario, j) * c;
    wanted.insert(wanted.end(), c.m, c.m + 3);
    force += f;
    torque += cross(x.scenario.contacts[j].point, f);
    chain::States state;
    state.count = 1;
    state.q = x.states.q[j];
    const auto r = chain::evaluate(robot_of(x.scenario, j), state, {chain::Output::kGravity, chain::Output::kJacobian},
                                   {}, kScalar);
    x.states.tau.push_back(r.gravity);
    for (size_t k = 0; k < 6; ++k)
      for (size_t i = 0; i < 3; ++i) x.states.tau[j][k] += r.jacobian[6 * i + k] * f[static_cast<int>(i)];
  }
  for (const Vec3<double>& load : {force, torque})
    for (const double w : load.m) x.states.wrench.push_back(-w);
  const Analysis a = analyze(x.scenario, x.states, kScalar);
  expect_near(a.force, wanted, kForce, "force");
  EXPECT_LE(largest(a.relative_acceleration), 1e-7);  // forces to 1e-9, times A
  EXPECT_LE(largest(a.acceleration), 1e-6);           // forces to 1e-8 N, times r / I
  for (const int mode : a.mode_after) EXPECT_EQ(mode, static_cast<int>(ContactState::kSlip));
}

/// Position of fingertip j when its joints have moved for the time t with the accelerations found.
Vec3<double> tip_at(const Sliding& x, size_t j, double t) {
  const Analysis& a = x.analysis;
  chain::States state;
  state.count = 1;
  state.q = a.q[j];
  for (size_t k = 0; k < state.q.size(); ++k) state.q[k] += t * a.qd[j][k] + 0.5 * t * t * a.qdd[j][k];
  const auto r = chain::evaluate(robot_of(x.scenario, j), state, chain::Output::kPose, {}, kScalar);
  return {{r.pose[3], r.pose[7], r.pose[11]}};
}

/// Gap of contact j then, the object having moved likewise.
double gap_at(const Sliding& x, size_t j, double t) {
  const std::vector<double>& a = x.analysis.acceleration;
  Vec3<double> p = x.scenario.object.position, turn;
  for (size_t i = 0; i < 3; ++i) {
    p[static_cast<int>(i)] += t * x.states.velocity[i] + 0.5 * t * t * a[i];
    turn[static_cast<int>(i)] = t * x.states.spin[i] + 0.5 * t * t * a[i + 3];
  }
  const Mat3<double> R = rotation_matrix(turned(Quaternion<double>{{1, 0, 0, 0}}, turn));
  const Contact& c = x.scenario.contacts[j];
  const Vec3<double> d = transpose_times(R, tip_at(x, j, t) - p);
  if (c.curvature_t > 0) return norm(d) - 1 / c.curvature_t;
  return -dot(column(c.frame, 2), d - c.point);
}

// The second derivative of the gap knows nothing of A, b or the velocity terms.
TEST(GraspAnalysis, NormalAccelerationIsThatOfTheGap) {
  constexpr double h = 2e-4;
  for (const Sliding& x : sliding_grasps()) {
    const Analysis& a = x.analysis;
    ASSERT_EQ(a.status[0], Status::kConverged);
    int sliding = 0;
    for (size_t j = 0; j < x.scenario.contacts.size(); ++j) {
      const double now = gap_at(x, j, 0);
      const auto second = [&](double step) {
        return (gap_at(x, j, step) - 2 * now + gap_at(x, j, -step)) / (step * step);
      };
      EXPECT_NEAR(now, a.gap[j], 1e-14);
      // Extrapolated from two steps; rounding of the gap over h^2 is left.
      EXPECT_NEAR((4 * second(h) - second(2 * h)) / 3, a.relative_acceleration[3 * j], 1e-6) << "contact " << j;
      sliding += a.mode_before[j] == static_cast<int>(ContactMode::kSliding);
    }
    EXPECT_GE(sliding, 3);
  }
}

TEST(GraspAnalysis, FingersFollowAnObjectThatMoves) {
  GraspStates x;
  x.velocity = {0.1, 0.2, -0.3};
  x.spin = {1, -0.5, 0.2};
  const Analysis a = analyze(three_puma(), x);
  EXPECT_LE(largest(a.relative_velocity), 1e-13);
  EXPECT_GT(largest(a.qd[0]), 0.01);
  for (const int mode : a.mode_before) EXPECT_EQ(mode, static_cast<int>(ContactMode::kRolling));
}

TEST(GraspAnalysis, WhatIsOpenCarriesNothingAndIsSeenToMove) {
  const Scenario s = three_puma();
  const Analysis held = analyze(s);
  GraspStates x;
  x.count = 2;
  for (size_t j = 0; j < 3; ++j) {
    x.q.push_back(held.q[j]);
    x.q[j].insert(x.q[j].end(), held.q[j].begin(), held.q[j].end());
  }
  // Away from finger 3, which presses along +x; then in place, but leaving it at 0.1 m/s.
  x.position = {0.002, 0, 0.3, 0, 0, 0.3};
  x.velocity = {0, 0, 0, 0.1, 0, 0};
  const Analysis a = analyze(s, x);
  EXPECT_NEAR(a.gap[2], 0.002, 1e-12);
  EXPECT_NEAR(a.relative_velocity[15], 0.1, 1e-12);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(a.status[i], Status::kConverged);
    EXPECT_EQ(a.mode_before[3 * i + 2], static_cast<int>(ContactMode::kOpen));
    EXPECT_EQ(a.mode_after[3 * i + 2], static_cast<int>(ContactState::kBreak));
    for (size_t k = 0; k < 3; ++k) EXPECT_EQ(a.force[9 * i + 6 + k], 0);
    EXPECT_LT(a.relative_acceleration[9 * i + 6], -1);  // its finger comes after it with 15 N
  }
}

GraspStates varied(std::int64_t n) {
  GraspStates x;
  x.count = n;
  for (std::int64_t i = 0; i < n; ++i) {
    const double u = std::sin(1.7 * static_cast<double>(i) + 1);
    for (const double w : {3 * u, -2 * u, 1.0, 0.02 * u, 0.1, -0.05 * u}) x.wrench.push_back(w);
    for (int k = 0; k < 3; ++k) x.velocity.push_back(0.05 * u * (k - 1));
    for (int j = 0; j < 3; ++j) x.friction.push_back(0.4 + 0.2 * u);
  }
  return x;
}

TEST(GraspAnalysis, HasTheSameBitsOnEveryExecutorForAnyThreadsAndSizes) {
  const Scenario s = three_puma();
  for (const std::int64_t n : {0, 1, 7, 8, 9, 300}) {
    const GraspStates x = varied(n);
    SCOPED_TRACE(n);
    EXPECT_EQ(analyze(s, x, kScalar).status.size(), static_cast<size_t>(n));
    test::expect_same_on_every_executor([&](const Device& device) { return test::make_answer(analyze(s, x, device)); });
  }
}

TEST(GraspAnalysis, ABadInstantIsAStatusAndLeavesItsNeighborsAlone) {
  const Scenario s = three_puma();
  GraspStates x = varied(9);
  for (int i = 0; i < 9; ++i)
    for (const double p : {0.0, 0.0, 0.3}) x.position.push_back(p);
  x.friction[3 * 2] = NAN;
  x.wrench[6 * 4] = INFINITY;
  x.position[3 * 6] = 5;
  for (const Device& device : {kScalar, kLanes}) {
    const Analysis a = analyze(s, x, device);
    EXPECT_EQ(a.status[2], Status::kInvalidInput);
    EXPECT_EQ(a.status[4], Status::kInvalidInput);
    EXPECT_EQ(a.status[6], Status::kOutOfReach);
    const Analysis good = analyze(s, varied(9), device);
    for (size_t i = 0; i < 9; ++i) {
      const bool bad = i == 2 || i == 4 || i == 6;
      for (size_t k = 9 * i; k < 9 * i + 9; ++k) {
        EXPECT_EQ(std::isnan(a.force[k]), bad);
        EXPECT_TRUE(bad || a.force[k] == good.force[k]);
      }
      EXPECT_EQ(a.mode_after[3 * i] == -1, bad);
      EXPECT_EQ(std::isnan(a.qdd[1][6 * i + 3]), bad);
    }
  }
}

TEST(GraspAnalysis, RefusesArraysThatDoNotFitAndSaysWhichShape) {
  const auto complaint = [](const GraspStates& x) -> std::string {
    try {
      (void)analyze(three_puma(), x);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  GraspStates x;
  x.count = 2;
  x.wrench.resize(6);
  EXPECT_NE(complaint(x).find("wrench has 6 numbers, not the 12 of shape [2, 6]"), std::string::npos) << complaint(x);
  x.wrench.clear();
  x.tau = {std::vector<double>(12), std::vector<double>(12), std::vector<double>(10)};
  EXPECT_NE(complaint(x).find("finger_2/tau has 10 numbers, not the 12 of shape [2, 6]"), std::string::npos);
  x.tau.pop_back();
  EXPECT_NE(complaint(x).find("tau is given for 2 fingers, but the hand has 3"), std::string::npos);
}

}  // namespace
}  // namespace garra::grasp
