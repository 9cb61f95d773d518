// Scenarios with job = "chain": what is read, what is filled in, and what is refused where.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/io/chain_scenario.hpp"
#include "places.hpp"

namespace garra::io {
namespace {

using chain::Scenario;
using Kind = study::Distribution::Kind;

const std::string kRobot = test::source_folder() + "/data/robots/exoskeleton.toml";

std::string scenario_text(const std::string& tables = "") {
  const bool settles = tables.find("[settle]") == std::string::npos;
  return "schema = 1\njob = \"chain\"\n[robot]\nfile = \"" + kRobot + "\"\n" + tables +
         (settles ? "\n[settle]\nwithin = \"50 ms\"\n" : "");
}

Scenario parse(const std::string& tables = "", const std::vector<std::string>& overrides = {}) {
  return parse_chain_scenario(scenario_text(tables), "s.toml", overrides);
}

/// What is said of a text, and the exit code; "" where nothing is.
std::string complaint(const std::string& tables, const std::vector<std::string>& overrides = {},
                      ExitCode code = ExitCode::kInvalidFile) {
  try {
    static_cast<void>(parse(tables, overrides));
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    return error.what();
  }
  return "";
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(ChainScenario, ARobotIsSaidToBeNone) {
  try {
    static_cast<void>(
        parse_chain_scenario("schema = 1\nrobot = \"r\"\nconvention = \"dh\"\n[[joint]]\n", "r.toml", {}));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_SAYS(std::string(error.what()), "r.toml:1:1: this is a robot, not a scenario\n  `garra check FILE`");
  }
}

TEST(ChainScenario, DefaultsAreThoseOfTheDocuments) {
  const Scenario s = parse();
  ASSERT_EQ(s.designs.size(), 1u);
  const chain::Design& d = s.designs[0];
  EXPECT_EQ(s.robot.joints, 6);
  EXPECT_EQ(s.plan.samples, 1024);
  EXPECT_EQ(s.plan.chunk, 4096);
  EXPECT_EQ(s.plan.seed, 1u);
  EXPECT_EQ(s.plan.keep, "failures");
  EXPECT_TRUE(s.sweep.empty());
  EXPECT_EQ(d.torque.kind, chain::TorqueKind::kConstant);
  EXPECT_EQ(d.torque.amplitude, std::vector<double>(6, 0));
  EXPECT_TRUE(d.torque.limit.empty());
  EXPECT_EQ(d.options.method, chain::Integrator::kImplicit2);
  EXPECT_EQ(d.options.duration, 1);
  EXPECT_EQ(d.options.step, 1e-3);
  EXPECT_EQ(d.outputs, 200);
  EXPECT_EQ(d.within, 0.05);
  EXPECT_TRUE(d.options.settle_at.empty());
  EXPECT_EQ(d.mass.nominal(), 1);
  for (int j = 0; j < 6; ++j) {
    EXPECT_EQ(d.q.value[static_cast<std::size_t>(j)].nominal(), 0);
    EXPECT_EQ(d.damping.value[static_cast<std::size_t>(j)].nominal(), 0) << "the robot's";
  }
}

/// Torques at rest of iiwa14 change by J' of the payload's weight, J that of its center of mass by differences of
/// poses.
TEST(ChainScenario, ARobotCarriesAPayloadUnderItsGravity) {
  const std::string file = "file = \"" + test::source_folder() + "/data/robots/iiwa14.urdf\"\n";
  const auto robot_of = [&](const std::string& more) {
    return parse_chain_scenario("schema = 1\njob = \"chain\"\n[robot]\n" + file + more + "[settle]\nwithin = 0.05\n",
                                "s.toml", {});
  };
  const std::string gravity = "gravity = [0.5, \"-1 m/s^2\", -3.7]\n";
  const Scenario bare = robot_of(gravity),
                 laden = robot_of(gravity + "payload = { mass = \"2.5 kg\", com = [0.03, \"-20 mm\", 0.1] }\n");
  EXPECT_EQ(bare.robot.gravity[1], -1);
  const std::vector<double> q = {0.3, -0.7, 0.2, 1.1, -0.4, 0.9, 0.5};
  using enum chain::Output;
  chain::EvalOptions at;  // of iiwa14 the tool is the tip link
  at.point = {{0.03, -0.02, 0.1}};
  const chain::Results a = evaluate(bare.robot, chain::States{1, q}, {kGravity, kMassMatrix, kJacobian}, at),
                       b = evaluate(laden.robot, chain::States{1, q}, {kGravity, kMassMatrix});
  const double g[3] = {0.5, -1, -3.7}, mass = 2.5;
  for (std::size_t i = 0; i < 7; ++i) {
    double weight = 0, moved = 0;
    for (std::size_t r = 0; r < 3; ++r) {
      weight -= mass * g[r] * a.jacobian[7 * r + i];
      moved += mass * a.jacobian[7 * r + i] * a.jacobian[7 * r + i];
    }
    EXPECT_NEAR(b.gravity[i] - a.gravity[i], weight, 1e-12);
    EXPECT_NEAR(b.mass_matrix[8 * i] - a.mass_matrix[8 * i], moved, 1e-12);  // a point mass
  }
  const std::string resolved = resolved_toml(laden);
  const Scenario again = parse_chain_scenario(resolved, "s.toml", {});
  EXPECT_EQ(resolved_toml(again), resolved);
  EXPECT_EQ(evaluate(again.robot, chain::States{1, q}, kGravity).gravity, b.gravity);
  EXPECT_SAYS(complaint("payload = { mass = 1 }\n"), "robot.payload: it is for URDF files");
}

TEST(ChainScenario, EverythingIsRead) {
  const Scenario s = parse(R"(
[start]
q = ["10 deg", 0.1, { normal = ["5 deg", "1 deg"] }, 0, 0, { uniform = [-0.1, 0.1] }]
qd = { normal = [0, "30 deg/s"] }
[vary]
damping = { uniform = ["0.01 N*m*s/rad", 0.02] }
mass = { normal = [1, 0.05] }
size = { normal = [1, 0.03] }
amplitude = { lognormal = [1, 0.1] }
[torque]
kind = "pd"
set_point = ["20 deg", 0, 0, 0, 0, 0]
kp = "0.5 N*m/rad"
kd = ["2e-3 N*m*s/rad", 0, 0, 0, 0, 0]
compensate_gravity = true
limit = "43.2 N*mm"
[simulation]
duration = "400 ms"
method = "dopri5"
tolerance = 1e-7
max_steps = 5000
outputs = 41
limits = "stop"
[settle]
within = "50 ms"
speed = "3 deg/s"
band = "1 deg"
at = 0.2
[sampling]
samples = 100
chunk = 2048
max_unsolved = 0.01
stop = { half_width = 0.01 }
time_limit = "1 min"
[output]
keep = "all"
)");
  const chain::Design& d = s.designs[0];
  EXPECT_FALSE(d.q.common);
  EXPECT_NEAR(d.q.value[0].a, M_PI / 18, 1e-15);
  EXPECT_EQ(d.q.value[2].kind, Kind::kNormal);
  EXPECT_EQ(d.q.value[5].kind, Kind::kUniform);
  EXPECT_TRUE(d.qd.common);
  EXPECT_NEAR(d.qd.value[3].b, M_PI / 6, 1e-15);
  EXPECT_TRUE(d.damping.common);
  EXPECT_EQ(d.damping.value[5].a, 0.01);
  EXPECT_EQ(d.size.b, 0.03);
  EXPECT_EQ(d.torque.kind, chain::TorqueKind::kPd);
  EXPECT_EQ(d.torque.amplitude, std::vector<double>(6, 1));
  EXPECT_EQ(d.torque.kp, std::vector<double>(6, 0.5));
  EXPECT_EQ(d.torque.kd, (std::vector<double>{2e-3, 0, 0, 0, 0, 0}));
  EXPECT_EQ(d.torque.limit, std::vector<double>(6, 0.0432));
  EXPECT_TRUE(d.torque.compensate_gravity);
  EXPECT_EQ(d.options.method, chain::Integrator::kDopri5);
  EXPECT_EQ(d.options.tolerance.relative, 1e-7);
  EXPECT_EQ(d.options.max_steps, 5000);
  EXPECT_EQ(d.options.limits, chain::LimitRule::kStop);
  EXPECT_EQ(d.options.settle_at, std::vector<double>(6, 0.2));
  EXPECT_NEAR(d.options.settle_band, M_PI / 180, 1e-16);
  EXPECT_EQ(s.plan.samples, 100);
  EXPECT_EQ(s.plan.chunk, 2048);
  EXPECT_EQ(s.plan.max_unsolved, 0.01);
  EXPECT_EQ(s.plan.stop_half_width, 0.01);
  EXPECT_EQ(s.plan.time_limit, 60);
  std::vector<std::string> names;
  for (const chain::Input& input : chain::uncertain_inputs(s)) names.push_back(input.name);
  EXPECT_EQ(names, (std::vector<std::string>{"start q 2", "start q 5", "start qd", "damping", "mass factor",
                                             "size factor", "amplitude factor"}));
}

TEST(ChainScenario, TorquesOverTime) {
  const auto torque = [](const std::string& lines) { return parse("[torque]\n" + lines).designs[0].torque; };
  const chain::TorqueInput ramp = torque("kind = \"ramp\"\namplitude = \"20 N*mm\"\nstart = \"10 ms\"\nend = 0.05");
  EXPECT_EQ(ramp.amplitude, std::vector<double>(6, 0.02));
  EXPECT_EQ(ramp.start, 0.01);
  EXPECT_EQ(ramp.end, 0.05);
  const chain::TorqueInput sine = torque("kind = \"sine\"\namplitude = 0.01\nfrequency = 5\nphase = \"90 deg\"");
  EXPECT_EQ(sine.frequency, std::vector<double>(6, 5));
  EXPECT_NEAR(sine.phase[3], M_PI / 2, 1e-15);
  const chain::TorqueInput sampled = torque(
      "kind = \"sampled\"\ninterval = \"10 ms\"\npoints = [[1, 2, 3, 4, 5, 6], 0, [0.1, 0, 0, 0, 0, \"7 N*m\"]]");
  EXPECT_EQ(sampled.points.size(), 18u);
  EXPECT_EQ(sampled.points[5], 6);
  EXPECT_EQ(sampled.points[17], 7);
  EXPECT_EQ(sampled.amplitude, std::vector<double>(6, 1));
}

TEST(ChainScenario, ASweepMakesEveryCombination) {
  const Scenario s = parse(R"(
[torque]
kind = "pd"
[sweep]
"vary.damping" = { log = [1e-4, 0.1], points = 4 }
"torque.kp" = ["0.1 N*m/rad", "200 N*mm/rad"]
"start.q.1" = { linear = ["0 deg", "90 deg"], points = 3 }
[sampling]
samples = 10
)",
                           {"start.q=[0, 0, 0, 0, 0, 0]"});
  ASSERT_EQ(s.designs.size(), 24u);
  EXPECT_EQ(s.plan.samples, 240);
  ASSERT_EQ(s.sweep.size(), 3u);
  EXPECT_EQ(s.sweep[0].values, (std::vector<double>{1e-4, 1e-3, 1e-2, 0.1}));
  EXPECT_EQ(s.sweep[0].scale, "log");
  EXPECT_EQ(s.sweep[0].unit, "N*m*s/rad");
  EXPECT_EQ(s.sweep[1].values, (std::vector<double>{0.1, 0.2}));
  EXPECT_EQ(s.sweep[1].unit, "N*m/rad");
  EXPECT_EQ(s.sweep[2].unit, "rad");
  std::size_t at = 0;
  for (const double damping : s.sweep[0].values)
    for (const double kp : s.sweep[1].values)
      for (const double q : s.sweep[2].values) {
        const chain::Design& d = s.designs[at++];
        EXPECT_EQ(d.values, (std::vector<double>{damping, kp, q}));
        EXPECT_EQ(d.damping.value[4].a, damping);
        EXPECT_DOUBLE_EQ(d.torque.kp[0], kp);
        EXPECT_EQ(d.q.value[1].a, q);
        EXPECT_EQ(d.q.value[2].a, 0);
      }
}

TEST(ChainScenario, MistakesAreSaidWithPlaceKeyAndRemedy) {
  EXPECT_SAYS(complaint("[vary]\ndampin = 1\n"), "s.toml:6:1: vary.dampin: unknown key\n  Did you mean \"damping\"?");
  EXPECT_SAYS(complaint("[start]\nq = [1, 2]\n"), "s.toml:6:1: start.q: expected an array of 6, found an array of 2");
  EXPECT_SAYS(complaint("[start]\nq = \"1 mm\"\n"), "start.q: expected an angle (rad, deg, turn), found a length");
  EXPECT_SAYS(complaint("[vary]\ndamping = -1\n"), "vary.damping: must be at least 0");
  EXPECT_SAYS(complaint("[vary]\ndamping = \"1 N*m\"\n"),
              "vary.damping: expected a damping (N*m*s/rad), found a torque");
  EXPECT_SAYS(complaint("[vary]\nmass = { normal = [1, 0.2] }\n"), "Add min = ... to the distribution");
  EXPECT_SAYS(complaint("[torque]\nkind = \"pid\"\n"), "torque.kind: unknown value \"pid\"");
  EXPECT_SAYS(complaint("[torque]\nkind = \"step\"\nkp = 1\n"), "s.toml:7:1: torque.kp: unknown key");
  EXPECT_SAYS(complaint("[torque]\nkind = \"ramp\"\nstart = 1\nend = 1\n"), "torque.end: not after start");
  EXPECT_SAYS(complaint("[torque]\nkind = \"sampled\"\ninterval = 1\npoints = [[1, 2]]\n"),
              "torque.points[0]: expected an array of 6");
  EXPECT_SAYS(complaint("[simulation]\nmethod = \"dopri5\"\nstep = 1\n"), "simulation.step: unknown key");
  EXPECT_SAYS(complaint("[simulation]\nstep = 1e-12\n"), "simulation.step: more than 1e9 steps");
  EXPECT_SAYS(complaint("[settle]\nspeed = 1\n"), "settle.within: missing");
  EXPECT_SAYS(complaint("[settle]\nwithin = 2\n"), "settle.within: later than simulation.duration");
  EXPECT_SAYS(complaint("[sampling]\nsamples = 0\n"), "sampling.samples: must be 1 to");
  EXPECT_SAYS(complaint("[sampling]\nchunk = 1000\n"), "Write 1024, or leave it out.");
  EXPECT_SAYS(complaint("[hand]\nx = 1\n"), "hand: unknown key");
  EXPECT_SAYS(complaint("", {"vary.damping=-1"}, ExitCode::kUsage), "--set vary.damping=-1: vary.damping: must be");
}

TEST(ChainScenario, MistakesOfASweepAreSaidAtTheSweep) {
  EXPECT_SAYS(complaint("[sweep]\n\"vary.dampin\" = [1]\n"), "s.toml:6:1: vary.dampin: unknown key");
  EXPECT_SAYS(complaint("[sweep]\n\"vary.damping\" = [1, -1]\n"), "s.toml:6:1: vary.damping: must be at least 0");
  EXPECT_SAYS(complaint("[sweep]\nvary.damping = [1, 2]\n"), "a key with dots stands in quotes");
  EXPECT_SAYS(complaint("[sweep]\n\"sampling.samples\" = [1, 2]\n"), "sweep.\"sampling.samples\": cannot be swept");
  EXPECT_SAYS(complaint("[sweep]\n\"vary.damping\" = []\n"), "no values");
  EXPECT_SAYS(complaint("[sweep]\n\"vary.damping\" = 1\n"), "expected an array");
  EXPECT_SAYS(complaint("[sweep]\n\"vary.damping\" = { log = [0, 1], points = 3 }\n"), "two numbers above 0");
  EXPECT_SAYS(complaint("[sweep]\n\"vary.damping\" = { log = [1, 2] }\n"), "points: missing");
  EXPECT_SAYS(complaint("[sweep]\n\"vary.damping\" = { lin = [1, 2], points = 3 }\n"), "no range of values");
  EXPECT_SAYS(complaint("[sweep]\n\"torque.kind\" = [\"pd\"]\n"), "expected a plain number, found \"pd\"");
  EXPECT_SAYS(
      complaint("[sweep]\n\"vary.damping\" = { linear = [0, 1], points = 101 }\n\"vary.mass\" = { linear = [1, 2], "
                "points = 10 }\n"),
      "more than 1000 designs");
  EXPECT_SAYS(complaint("[sweep]\n\"vary.damping\" = [1, 2]\n", {"vary.damping=3"}, ExitCode::kUsage),
              "vary.damping: is swept");
  EXPECT_EQ(complaint("[sweep]\n\"vary.damping\" = [1, 2]\n", {"vary.damping=3", "sweep={}"}), "");
}

TEST(ChainScenario, TheRobotIsFoundOrSaidToBeMissing) {
  const auto said = [](const std::string& robot) {
    try {
      static_cast<void>(
          parse_chain_scenario("schema = 1\njob = \"chain\"\n[settle]\nwithin = 0.1\n[robot]\n" + robot, "s.toml"));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_SAYS(said("model = \"no_such_robot\""), "s.toml:6:1: robot.model: \"no_such_robot\": there is no such");
  EXPECT_SAYS(said("file = \"no/such.toml\""), "no/such.toml: cannot be read");
  EXPECT_SAYS(said("model = \"arm.urdf\""), "Write file = ");
  EXPECT_SAYS(said("file = \"a.toml\"\nmodel = \"b\""), "both model and file");
  EXPECT_SAYS(said("base = \"a\""), "no robot is named");
}

TEST(ChainScenario, ACopyOfTheRobotBesideTheScenarioComesFirst) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / ("garra_chain_" + std::to_string(::getpid()));
  fs::create_directories(folder / "models");
  fs::copy_file(kRobot, folder / "models" / "finger.toml");
  for (const char* robot : {"model = \"finger\"", "file = \"../elsewhere/finger.toml\""}) {
    std::ofstream(folder / "scenario.toml") << "schema = 1\njob = \"chain\"\n[robot]\n"
                                            << robot << "\n[settle]\nwithin = 0.1\n";
    const Scenario s = read_chain_scenario((folder / "scenario.toml").string());
    EXPECT_EQ(s.robot.joints, 6);
    EXPECT_EQ(s.model_file, (folder / "models" / "finger.toml").string());
  }
  fs::remove_all(folder);
}

/// Two designs as the study sees them.
void expect_same(const chain::Design& a, const chain::Design& b) {
  EXPECT_EQ(a.values, b.values);
  const auto inputs = [](const chain::JointInputs& x, const chain::JointInputs& y) {
    ASSERT_EQ(x.common, y.common);
    for (std::size_t j = 0; j < x.value.size(); ++j) {
      EXPECT_EQ(x.value[j].kind, y.value[j].kind);
      EXPECT_EQ(x.value[j].a, y.value[j].a);
      EXPECT_EQ(x.value[j].b, y.value[j].b);
      EXPECT_EQ(x.value[j].low, y.value[j].low);
    }
  };
  inputs(a.q, b.q);
  inputs(a.qd, b.qd);
  for (std::size_t j = 0; j < 6; ++j) EXPECT_EQ(a.damping.value[j].a, b.damping.value[j].a);
  EXPECT_EQ(a.mass.b, b.mass.b);
  EXPECT_EQ(a.torque.amplitude, b.torque.amplitude);
  EXPECT_EQ(a.torque.set_point, b.torque.set_point);
  EXPECT_EQ(a.torque.kp, b.torque.kp);
  EXPECT_EQ(a.torque.points, b.torque.points);
  EXPECT_EQ(a.torque.limit, b.torque.limit);
  EXPECT_EQ(a.options.step, b.options.step);
  EXPECT_EQ(a.options.settle_at, b.options.settle_at);
  EXPECT_EQ(a.within, b.within);
  EXPECT_EQ(a.outputs, b.outputs);
}

TEST(ChainScenario, WhatCheckPrintsReadsBackToTheSame) {
  for (const std::string& tables :
       {std::string(),
        std::string(
            "[start]\nq = [1, { normal = [0, 0.1], min = -0.5 }, 0, 0, 0, 0.3]\nqd = { uniform = [0, 1] "
            "}\n[vary]\nmass = "
            "{ normal = [1, 0.05] }\n[torque]\nkind = \"pd\"\nkp = [1, 2, 3, 4, 5, 6]\nlimit = 0.04\n[sweep]\n"
            "\"vary.damping\" = { log = [1e-4, 0.1], points = 16 }\n\"simulation.step\" = [\"1 ms\", \"0.5 ms\"]\n"),
        std::string(
            "[torque]\nkind = \"sampled\"\ninterval = 0.1\npoints = [1, 2, [1, 2, 3, 4, 5, 6]]\n[simulation]\nmethod = "
            "\"dopri5\"\n[settle]\nwithin = 0.5\nat = 0.3\n[output]\nkeep = \"none\"\n")}) {
    const Scenario s = parse(tables);
    const Scenario again = parse_chain_scenario(resolved_toml(s), "s.toml");
    ASSERT_EQ(again.designs.size(), s.designs.size());
    for (std::size_t d = 0; d < s.designs.size(); ++d) expect_same(again.designs[d], s.designs[d]);
    EXPECT_EQ(again.plan.samples, s.plan.samples);
    EXPECT_EQ(again.plan.keep, s.plan.keep);
    EXPECT_EQ(resolved_toml(again).substr(0, 200), resolved_toml(s).substr(0, 200));
  }
}

}  // namespace
}  // namespace garra::io
