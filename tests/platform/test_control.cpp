// Controlled motions in a study against a plain loop: each period by the public functions (inverse dynamics for the
// controller, a simulation of one period for the machine), and what theory says of each law.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "garra/io/platform_scenario.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/platform_simulate.hpp"
#include "places.hpp"
#include "platform/study/platform_study.hpp"
#include "study_answer.hpp"

namespace {

using garra::Error;
using garra::Executor;
using garra::Vec3;
using namespace garra::platform;

constexpr double kRounding = 1e-9;  ///< of a closed loop of some 100 periods [m, N / 1000 N]
const garra::Device kOne{Executor::kScalar, 1};

const char* const kText = R"(
schema = 1
job = "platform"
seed = 5
[platform]
file = "../platforms/trepa_like.toml"
[payload]
mass = { normal = [20, 2], min = 10 }
com = [0.01, { uniform = [-0.02, 0.02] }, { uniform = [0, 0.06] }]
radius_of_gyration = 0.1
[geometry]
base_error = { normal = [0, 1e-3] }
[friction]
coulomb = { uniform = [5, 25] }
viscous = { uniform = [20, 60] }
[disturbance]
force = 60
moment = 10
[path]
instants = 6
duration = 0.1
poses = [{ position = [0, 0, 1.2] }, { position = [0.01, 0, 1.21], rpy = [0, "1 deg", 0] }]
[simulation]
control = "computed_torque"
force_limit = 800
delay = 0.002
[sampling]
samples = 1500
chunk = 1024
)";

Scenario scenario(const std::vector<std::string>& overrides = {}) {
  return garra::io::parse_platform_scenario(kText, garra::test::source_folder() + "/data/scenarios/test.toml",
                                            overrides);
}

Scenario certain(std::vector<std::string> overrides = {}) {
  for (const char* key : {"payload.mass=20", "payload.com=[0.01,0,0.03]", "geometry.base_error=0", "friction.coulomb=0",
                          "friction.viscous=0", "disturbance.force=0", "disturbance.moment=0", "sampling.samples=1"})
    overrides.emplace_back(key);
  return scenario(overrides);
}

Poses pose(const Place<double>& at) { return {{at.r.m, at.r.m + 3}, {at.p.m, at.p.m + 4}}; }

/// A rigid body's motion at another of its points, and numbers as the public functions take them.
struct Rigid {
  Vec3<double> r, v;
  Quaternion<double> p;
  Vec3<double> w;
};
Rigid at_point(Rigid of, const Vec3<double>& in_body) {
  const Vec3<double> arm = rotation_matrix(of.p) * in_body;
  of.r += arm;
  of.v += cross(of.w, arm);
  return of;
}

/// The machine with a payload whose C lies `shift` from the path's frame.
struct Machine {
  Platform platform;
  Vec3<double> shift;
};
Machine machine(const Platform& of, double mass, const Vec3<double>& com) {
  const double own = mass * 0.1 * 0.1;
  Machine m{with_payload(of, mass, com, {{own, 0, 0, 0, own, 0, 0, 0, own}}), {}};
  m.shift = of.leg[0].anchor - m.platform.leg[0].anchor;
  return m;
}

TEST(PlatformControl, MovesAsALoopOfPublicFunctionsDoes) {
  const PlatformStudy study(scenario());
  const Scenario& s = study.scenario();
  Path fine = s.path;
  fine.instants = 101;
  const PathPoints path = sample_path(fine);
  for (std::int64_t sample = 0; sample < 3; ++sample) {
    const StudyReplay replay = study.replay(sample);
    std::map<std::string, std::vector<double>> x;
    std::size_t next = 0;
    for (const StudyUncertain& input : study.inputs())
      for (int k = 0; k < input.slots; ++k) x[input.name].push_back(replay.inputs[next++]);
    Platform drawn = s.platform;
    for (std::size_t i = 0; i < 6; ++i)
      for (int c = 0; c < 3; ++c) drawn.leg[i].base[c] += x["geometry.base_error"][3 * i + static_cast<std::size_t>(c)];
    const Machine real = machine(drawn, x["payload.mass"][0], {{0.01, x["payload.com y"][0], x["payload.com z"][0]}});
    const Machine known = machine(s.platform, 20, {{0.01, 0, 0.03}});
    const auto way = [](double size, const std::vector<double>& to) {
      const double across = std::sqrt(1 - to[0] * to[0]);
      return Vec3<double>{{size * across * std::cos(to[1]), size * across * std::sin(to[1]), size * to[0]}};
    };
    const Vec3<double> push = way(x["disturbance.force"][0], x["disturbance.force direction"]),
                       twist = way(x["disturbance.moment"][0], x["disturbance.moment direction"]);
    const auto rest = at_point({{{0, 0, 1.2}}, {}, {{1, 0, 0, 0}}, {}}, known.shift);
    std::vector<double> held =
        inverse_dynamics({known.platform}, pose({rest.r, rest.p}), {}, {}, Form::kMinimal, kOne).force;
    std::vector<std::vector<double>> queue = {held, held};
    Rigid own{{{0, 0, 1.2}}, {}, {{1, 0, 0, 0}}, {}};
    for (std::size_t k = 0; k <= 100; ++k) {
      const double* q = path.pose.quaternion.data() + 4 * k;
      const double *r = path.pose.position.data() + 3 * k, *v = path.velocity.data() + 6 * k,
                   *a = path.acceleration.data() + 6 * k;
      // 900 and 60 are the defaults of stiffness and damping.
      Quaternion<double> d = product<double>({{q[0], q[1], q[2], q[3]}}, conjugate(own.p));
      Vec3<double> dv, dw;
      for (int c = 0; c < 3; ++c) {
        dv[c] = a[c] + 60 * (v[c] - own.v[c]) + 900 * (r[c] - own.r[c]);
        dw[c] = a[c + 3] + 60 * (v[c + 3] - own.w[c]) + 900 * 2 * (d[0] < 0 ? -1 : 1) * d[c + 1];
      }
      const Rigid c = at_point(own, known.shift);
      const Vec3<double> arm = c.r - own.r, ac = dv + cross(dw, arm) + cross(c.w, cross(c.w, arm));
      const Motion motion{{c.v[0], c.v[1], c.v[2], c.w[0], c.w[1], c.w[2]}, {ac[0], ac[1], ac[2], dw[0], dw[1], dw[2]}};
      std::vector<double> asked =
          inverse_dynamics({known.platform}, pose({c.r, c.p}), motion, {}, Form::kMinimal, kOne).force;
      for (double& f : asked) f = std::min(800.0, std::max(-800.0, f));
      queue.push_back(asked);
      const std::vector<double> force = queue[k];
      if (k % 20 == 0) {
        for (int c3 = 0; c3 < 3; ++c3)
          EXPECT_NEAR(replay.series.pose.position[3 * (k / 20) + static_cast<std::size_t>(c3)], own.r[c3], kRounding);
        for (std::size_t i = 0; i < 6; ++i)
          EXPECT_NEAR(replay.series.force[6 * (k / 20) + i], force[i], 1e6 * kRounding) << k;
      }
      const Rigid start = at_point(own, real.shift);
      const Vec3<double> lever = start.r - own.r, moment = twist - cross(lever, push);
      SimulateOptions options;
      options.method = Integrator::kRk4;
      options.step = options.duration = 1e-3;
      ForceInput input;
      input.force = force;
      input.viscous = x["friction.viscous"][0];
      input.coulomb = x["friction.coulomb"][0];
      const Trajectories t = simulate({real.platform},
                                      {pose({start.r, start.p}),
                                       {start.v[0], start.v[1], start.v[2], start.w[0], start.w[1], start.w[2]},
                                       {push[0], push[1], push[2], moment[0], moment[1], moment[2]}},
                                      input, options, kOne);
      const double *rr = t.end_pose.position.data(), *pp = t.end_pose.quaternion.data(), *vv = t.end_velocity.data();
      own = at_point(
          {{{rr[0], rr[1], rr[2]}}, {{vv[0], vv[1], vv[2]}}, {{pp[0], pp[1], pp[2], pp[3]}}, {{vv[3], vv[4], vv[5]}}},
          -real.shift);
    }
  }
}

TEST(PlatformControl, HasTheSameBitsOnEveryExecutor) {
  for (const char* law : {"computed_torque", "gravity", "legs", "feedforward", "forces"}) {
    SCOPED_TRACE(law);
    std::vector<std::string> overrides = {std::string("simulation.control=\"") + law + "\"", "path.instants=3",
                                          "path.duration=0.02", "allowed.position_error=1e-5"};
    garra::test::expect_study_same_on_every_executor(PlatformStudy(scenario(overrides)), {2048, 1024});
  }
}

double largest_error(const std::vector<std::string>& overrides) {
  return PlatformStudy(certain(overrides)).replay(0).measured.position_error;
}

TEST(PlatformControl, FollowsExactlyUpToTheSamplingWhereTheMachineIsKnown) {
  const std::string still = "simulation.delay=0";
  // Constant forces lag half a period behind. A path of 14 mm in 0.1 s has at most 60 * 14 mm / (0.1 s)^3 = 850 m/s^3;
  // 900 /s^2 hold against the acceleration that is missing.
  const double slow = largest_error({still, "simulation.period=1e-3"}),
               fast = largest_error({still, "simulation.period=5e-4"});
  EXPECT_LT(slow, 850 * 0.5e-3 / 900);
  EXPECT_GT(slow, 1e-6);
  EXPECT_NEAR(fast, slow / 2, 0.1 * slow);
  EXPECT_LT(slow, largest_error({"simulation.delay=4e-3"}));
}

TEST(PlatformControl, KeepsAWeightErrorOfTheSizeThatTheGainLeaves) {
  // A platform at rest for 2 s: a payload that is 2 kg too heavy sags by m' g / stiffness in terms of acceleration.
  const std::vector<std::string> rest = {"path.poses=[{position=[0,0,1.2]},{position=[0,0,1.2]}]", "path.duration=2",
                                         "simulation.force_limit=5000", "simulation.delay=0"};
  std::vector<std::string> legs = rest;
  legs.emplace_back("simulation.control=\"legs\"");
  legs.emplace_back("simulation.integral=2e6");
  // Exactly known and at equilibrium: nothing moves.
  EXPECT_LT(largest_error(rest), 1e-12);
  EXPECT_LT(largest_error(legs), 1e-12);
  std::vector<std::string> open = rest;
  open.emplace_back("simulation.control=\"forces\"");
  EXPECT_LT(largest_error(open), 1e-9);
  // 1 % more force than the weight accelerates the platform upwards.
  open.emplace_back("simulation.force_factor=1.01");
  EXPECT_GT(largest_error(open), 1e-2);
  // A disturbance is not known to the controller: computed torque leaves an error, the servo's integral takes it out.
  const auto last = [&](std::vector<std::string> keys) {
    keys.emplace_back("disturbance.force={ uniform = [59, 60] }");
    Scenario s = certain(keys);
    s.uncertain.force_radius = garra::study::Distribution::uniform(59, 60);
    return PlatformStudy(s).replay(0).series.position_error.back();
  };
  const double kept = last(rest), integrated = last(legs);
  EXPECT_GT(kept, 5e-4);
  EXPECT_LT(integrated, 0.2 * kept);
}

TEST(PlatformControl, StopsASampleAtItsFirstFailure) {
  const StudyReplay r = PlatformStudy(certain({"simulation.control=\"forces\"", "simulation.force_factor=0.5",
                                               "path.duration=1", "path.instants=101"}))
                            .replay(0);
  EXPECT_EQ(static_cast<Outcome>(static_cast<int>(r.measured.outcome)), Outcome::kStroke);
  const auto at = static_cast<std::size_t>(r.measured.instant);
  ASSERT_LT(at, 100u);
  for (std::size_t k = at; k < 101; ++k)
    EXPECT_EQ(r.series.pose.position[3 * k + 2], r.series.pose.position[3 * at + 2]);
  const StudyReplay far = PlatformStudy(certain({"allowed.position_error=1e-9"})).replay(0);
  EXPECT_EQ(static_cast<Outcome>(static_cast<int>(far.measured.outcome)), Outcome::kTracking);
}

TEST(PlatformControl, SaturatesAtTheLimit) {
  // Holding the weight at rest takes 98 N and more of each leg: the platform falls, and the controller asks for more.
  const StudyReplay r = PlatformStudy(certain({"simulation.force_limit=60", "path.duration=0.1",
                                               "path.poses=[{position=[0,0,1.2]},{position=[0,0,1.2]}]"}))
                            .replay(0);
  EXPECT_EQ(r.measured.saturated, 1);
  EXPECT_EQ(r.measured.peak_force, 60);
}

TEST(PlatformControl, RefusesWhatDoesNotFit) {
  EXPECT_THROW(PlatformStudy(scenario({"simulation.period=0.003", "simulation.delay=0"})), Error);
  EXPECT_THROW((void)scenario({"simulation.delay=0.0015"}), Error);
  EXPECT_THROW((void)scenario({"simulation.delay=0.009"}), Error);
  EXPECT_THROW((void)scenario({"simulation.integral=1"}), Error);
}

}  // namespace
