// Scenarios with job = "singularity": what is read, what is filled in, and what is refused where.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "garra/core/error.hpp"
#include "garra/io/singularity_scenario.hpp"
#include "places.hpp"

namespace garra::io {
namespace {

using singularity::JointSource;
using singularity::MapScaling;
using singularity::MapScenario;
using Kind = JointSource::Kind;

constexpr double kDegree = M_PI / 180;

std::string robot_file_of(const std::string& name) { return test::source_folder() + "/data/robots/" + name; }

std::string scenario_text(const std::string& tables, const std::string& robot = "puma560.toml") {
  return "schema = 1\njob = \"singularity\"\n[robot]\nfile = \"" + robot_file_of(robot) + "\"\n" + tables;
}

MapScenario parse(const std::string& tables = "", const std::vector<std::string>& overrides = {}) {
  return parse_singularity_scenario(scenario_text(tables), "s.toml", overrides);
}

/// What is said of a text, and the exit code; "" where nothing is.
std::string complaint_about(const std::string& text, const std::vector<std::string>& overrides = {},
                            ExitCode code = ExitCode::kInvalidFile) {
  try {
    static_cast<void>(parse_singularity_scenario(text, "s.toml", overrides));
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    return error.what();
  }
  return "";
}

std::string complaint(const std::string& tables, const std::vector<std::string>& overrides = {},
                      ExitCode code = ExitCode::kInvalidFile) {
  return complaint_about(scenario_text(tables), overrides, code);
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(SingularityScenario, DefaultsAreThoseOfTheDocuments) {
  const MapScenario s = parse();
  EXPECT_EQ(s.robot.joints, 6);
  EXPECT_EQ(s.plan.samples, 1'000'000);
  EXPECT_EQ(s.plan.chunk, 1 << 20);
  EXPECT_EQ(s.plan.seed, 1u);
  EXPECT_EQ(s.plan.keep, "near");
  EXPECT_EQ(s.keep_from_first, 200'000);
  EXPECT_EQ(s.voxels, 32);
  EXPECT_EQ(s.measure.near, 0.02);
  EXPECT_EQ(s.measure.tolerance, 1e-10);
  EXPECT_EQ(s.measure.precision, singularity::Precision::kDouble);
  EXPECT_EQ(s.measure.scaling.center, MapScaling::Center::kNatural);
  EXPECT_FALSE(s.measure.scaling.length.has_value());
  EXPECT_EQ(s.sequence, singularity::Sequence::kRandom);
  EXPECT_TRUE(s.nearest);
  EXPECT_TRUE(s.slices.empty());
  EXPECT_FALSE(s.task.has_value());
  ASSERT_EQ(s.joint.size(), 6u);
  for (std::size_t j = 0; j < 6; ++j) {
    EXPECT_EQ(s.joint[j].kind, Kind::kUniform);
    EXPECT_EQ(s.joint[j].low, s.robot.joint[j].lower) << "over its limits";
    EXPECT_EQ(s.joint[j].high, s.robot.joint[j].upper);
  }
}

TEST(SingularityScenario, AJointWithoutLimitsTurnsOnceAround) {
  const std::string arm =
      "schema = 1\nrobot = \"arm\"\nconvention = \"dh\"\n[[joint]]\na = 1\n[[joint]]\na = 1\n[[joint]]\na = 1\n"
      "[[joint]]\ntype = \"prismatic\"\n";
  const auto folder = std::filesystem::path(::testing::TempDir()) / ("garra_map_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto said = [&](const std::string& tables) {
    std::ofstream(folder / "arm.toml") << arm;
    const std::string text =
        "schema = 1\njob = \"singularity\"\n[robot]\nfile = \"" + (folder / "arm.toml").string() + "\"\n" + tables;
    return complaint_about(text);
  };
  EXPECT_SAYS(said(""),
              "s.toml:3:1: joints: joint 3 slides without limits\n  Say how far: [joints] \"3\" = { uniform =");
  const std::string text = "schema = 1\njob = \"singularity\"\n[robot]\nfile = \"" + (folder / "arm.toml").string() +
                           "\"\n[joints]\n\"3\" = { uniform = [\"0 m\", \"20 cm\"] }\n";
  const MapScenario s = parse_singularity_scenario(text, "s.toml");
  EXPECT_EQ(s.joint[0].low, -M_PI);
  EXPECT_EQ(s.joint[0].high, M_PI);
  EXPECT_EQ(s.joint[3].high, 0.2);
  EXPECT_SAYS(said("[joints]\n\"3\" = { uniform = [\"0 deg\", \"20 deg\"] }\n"), "found an angle");
  std::filesystem::remove_all(folder);
}

TEST(SingularityScenario, AnArmWithoutAKernelIsRefusedBeforeItRuns) {
  const auto file =
      std::filesystem::path(::testing::TempDir()) / ("garra_hinge_" + std::to_string(::getpid()) + ".toml");
  std::ofstream(file) << "schema = 1\nrobot = \"hinge\"\nconvention = \"dh\"\n[[joint]]\na = 1\n";
  const std::string said =
      complaint_about("schema = 1\njob = \"singularity\"\n[robot]\nfile = \"" + file.string() + "\"\n");
  EXPECT_SAYS(said, "s.toml:3:1: robot: the robot \"hinge\" has 1 joints");
  EXPECT_SAYS(said, "garra singularity --at") << "what to do instead";
  std::filesystem::remove(file);
}

TEST(SingularityScenario, EverythingIsRead) {
  const MapScenario s = parse(R"(
[joints]
"0" = { fixed = "30 deg" }
shoulder = -0.5
elbow = { uniform = ["-90 deg", 1.5] }
"wrist 2" = { grid = ["-100 deg", "100 deg"], points = 11 }
[measure]
near = 0.05
tolerance = 1e-9
center = "joint wrist 2"
length = "50 cm"
precision = "fp32"
nearest = false
[[slice]]
x = { joint = 2, from = "-180 deg", to = "180 deg" }
y = { joint = "wrist 2", from = -1, to = 2 }
q = ["1 deg", 0, 0, 0.25, 0, 0]
points = 41
[[slice]]
x = { joint = 1, from = 0, to = 1 }
y = { joint = 0, from = 0, to = 1 }
[sampling]
sequence = "even"
chunk = 2048
max_unsolved = 0.25
time_limit = "2 min"
[output]
keep = "none"
keep_from_first = 500
voxels = 0
)");
  EXPECT_EQ(s.joint[0].kind, Kind::kFixed);
  EXPECT_NEAR(s.joint[0].low, 30 * kDegree, 1e-15);
  EXPECT_EQ(s.joint[0].low, s.joint[0].high);
  EXPECT_EQ(s.joint[2].kind, Kind::kUniform);
  EXPECT_EQ(s.joint[2].high, 1.5);
  EXPECT_EQ(s.joint[4].kind, Kind::kGrid);
  EXPECT_EQ(s.joint[4].points, 11);
  EXPECT_EQ(s.joint[5].kind, Kind::kUniform) << "was not named";
  EXPECT_EQ(s.measure.near, 0.05);
  EXPECT_EQ(s.measure.scaling.center, MapScaling::Center::kJoint);
  EXPECT_EQ(s.measure.scaling.joint, 4);
  EXPECT_EQ(s.measure.scaling.length, 0.5);
  EXPECT_EQ(s.measure.precision, singularity::Precision::kSingle);
  EXPECT_FALSE(s.nearest);
  ASSERT_EQ(s.slices.size(), 2u);
  EXPECT_EQ(s.slices[0].x, 2);
  EXPECT_EQ(s.slices[0].y, 4);
  EXPECT_EQ(s.slices[0].x_low, -M_PI);
  EXPECT_EQ(s.slices[0].y_high, 2);
  EXPECT_EQ(s.slices[0].q[3], 0.25);
  EXPECT_EQ(s.slices[0].points, 41);
  EXPECT_EQ(s.slices[1].x, 1);
  EXPECT_EQ(s.slices[1].y, 0);
  EXPECT_EQ(s.slices[1].q, std::vector<double>(6, 0));
  EXPECT_EQ(s.slices[1].points, 201);
  EXPECT_EQ(s.sequence, singularity::Sequence::kLowDiscrepancy);
  EXPECT_EQ(s.plan.samples, 11) << "one draw at each node of the grid";
  EXPECT_EQ(s.plan.max_unsolved, 0.25);
  EXPECT_EQ(s.plan.time_limit, 120);
  EXPECT_EQ(s.plan.keep, "none");
  EXPECT_EQ(s.keep_from_first, 500);
  EXPECT_EQ(s.voxels, 0);
}

TEST(SingularityScenario, ATaskGridHasItsNodesTimesItsStarts) {
  const std::string task =
      "[task]\nlow = [-1, \"-50 cm\", 0.3]\nhigh = [1, 0.5, 0.3]\npoints = [21, 11, 1]\norientation = [\"180 deg\", 0, "
      "0]\n";
  const MapScenario s = parse(task + "starts = 4\n");
  ASSERT_TRUE(s.task.has_value());
  EXPECT_EQ(s.plan.samples, 21 * 11 * 4);
  EXPECT_EQ(s.task->low[1], -0.5);
  EXPECT_EQ((*s.task->orientation)(2, 2), -1) << "points down";
  EXPECT_EQ((*s.task->orientation)(0, 0), 1);
  EXPECT_SAYS(complaint(task + "[sampling]\nsamples = 7\n"),
              "s.toml:11:1: sampling.samples: the grid of [task] has 3696 nodes, and they are the samples");
  EXPECT_SAYS(complaint(task + "[joints]\n\"1\" = { grid = [0, 1], points = 3 }\n"),
              "s.toml:5:1: task: a grid of tool");
  EXPECT_SAYS(complaint(task + "[sampling]\nsequence = \"even\"\n"), "starts of [task] are always random");
  EXPECT_SAYS(complaint("[task]\nlow = [0, 0, 0]\nhigh = [1, -1, 1]\npoints = [2, 2, 2]\n"),
              "task.high[1]: below task.low");
  EXPECT_SAYS(complaint("[task]\nlow = [0, 0, 0]\nhigh = [1, 1, 1]\npoints = [2, 1, 2]\n"),
              "task.points[1]: one point for two different ends");
  EXPECT_SAYS(complaint("[task]\nlow = [0, 0, 0]\nhigh = [1, 1, 1]\n"), "task.points: missing");
}

TEST(SingularityScenario, JointsAreFoundByNumberAndName) {
  EXPECT_SAYS(complaint("[joints]\nelbo = 0\n"),
              "s.toml:6:1: joints.elbo: the robot has no joint \"elbo\"\n  Did you mean \"elbow\"?");
  EXPECT_SAYS(complaint("[joints]\n\"6\" = 0\n"), "the robot has no joint \"6\"\n  Joints are numbered from 0 to 5.");
  EXPECT_EQ(parse("[joints]\n\"0\" = 0.5\n").joint[0].low, 0.5);
  EXPECT_SAYS(complaint("[joints]\n\"2\" = 0\nelbow = 0\n"),
              "s.toml:7:1: joints.elbow: joint 2 (elbow) is given twice");
  EXPECT_SAYS(complaint("", {"joints.8=0"}, ExitCode::kUsage), "--set joints.8=0: joints.8: the robot has no joint");
}

TEST(SingularityScenario, RangesOfJointsAreChecked) {
  EXPECT_SAYS(complaint("[joints]\nelbow = { uniform = [\"90 deg\", \"-90 deg\"] }\n"),
              "s.toml:6:11: joints.elbow.uniform: the range is reversed\n  Write the smaller number first.");
  EXPECT_SAYS(complaint("[joints]\nelbow = { grid = [1, 1], points = 3 }\n"), "joints.elbow.grid: the range is empty");
  EXPECT_SAYS(complaint("[joints]\nelbow = { grid = [0, 1] }\n"), "joints.elbow.points: missing");
  EXPECT_SAYS(complaint("[joints]\nelbow = { grid = [0, 1], points = 1 }\n"),
              "joints.elbow.points: must be at least 2");
  EXPECT_SAYS(complaint("[joints]\nelbow = { uniform = [0, 1], points = 3 }\n"), "joints.elbow.points: unknown key");
  EXPECT_SAYS(complaint("[joints]\nelbow = { fixed = 0, uniform = [0, 1] }\n"),
              "must be one of fixed, uniform and grid");
  EXPECT_SAYS(complaint("[joints]\nelbow = { uniform = [\"0 m\", 1] }\n"),
              "expected an angle (rad, deg, turn), found a length");
  EXPECT_SAYS(complaint("[joints]\nelbow = { uniform = [0, inf] }\n"), "joints.elbow.uniform[1]: ");
}

TEST(SingularityScenario, AGridDecidesHowManySamplesThereAre) {
  const std::string grid = "[joints]\n\"2\" = { grid = [0, 1], points = 3 }\n\"3\" = { grid = [0, 1], points = 5 }\n";
  EXPECT_EQ(parse(grid).plan.samples, 15);
  EXPECT_SAYS(
      complaint(grid + "[sampling]\nsamples = 15\n"),
      "s.toml:9:1: sampling.samples: the grid of [joints] has 15 nodes, and they are the samples\n  Leave it out");
  EXPECT_SAYS(complaint(grid, {"sampling.samples=9"}, ExitCode::kUsage),
              "--set sampling.samples=9: sampling.samples: ");
  EXPECT_SAYS(complaint(grid + "[sampling]\nstop = { half_width = 0.1 }\n"), "sampling.stop: the grid of [joints]");
  const std::string huge = "{ grid = [0, 1], points = 1000000 }\n";
  EXPECT_SAYS(complaint("[joints]\n\"1\" = " + huge + "\"2\" = " + huge + "\"3\" = " + huge),
              "s.toml:5:1: joints: more than 1e12 nodes");
  std::string fixed = "[joints]\n";
  for (int j = 0; j < 6; ++j) fixed += "\"" + std::to_string(j) + "\" = 0\n";
  EXPECT_EQ(parse(fixed).plan.samples, 1);
  EXPECT_SAYS(complaint(fixed + "[sampling]\nsequence = \"even\"\n"), "sampling.sequence: no joint is drawn");
}

TEST(SingularityScenario, MeasuresAreChecked) {
  for (const char* near : {"0", "1", "-0.1", "1.5"})
    EXPECT_SAYS(complaint(std::string("[measure]\nnear = ") + near + "\n"), "s.toml:6:1: measure.near: the number ");
  EXPECT_SAYS(complaint("[measure]\ntolerance = 0.02\n"), "measure.tolerance: the number 0.02 is out of range");
  EXPECT_SAYS(complaint("[measure]\ntolerance = 0\n"), "below measure.near");
  EXPECT_SAYS(complaint("[measure]\ncenter = \"wrist\"\n"), "measure.center: unknown value \"wrist\"");
  EXPECT_SAYS(complaint("[measure]\ncenter = \"joint 6\"\n"), "measure.center: the robot has no joint \"6\"");
  EXPECT_SAYS(complaint("[measure]\nlength = 0\n"), "measure.length: must be above 0");
  EXPECT_SAYS(complaint("[measure]\nprecision = \"fp16\"\n"), "measure.precision: unknown value \"fp16\"");
  EXPECT_SAYS(complaint("[measure]\nner = 1\n"), "measure.ner: unknown key\n  Did you mean \"near\"?");
}

TEST(SingularityScenario, SlicesAreChecked) {
  const auto slice = [](const std::string& y, const std::string& more = "") {
    return complaint("[[slice]]\nx = { joint = 2, from = 0, to = 1 }\ny = " + y + "\n" + more);
  };
  EXPECT_SAYS(slice("{ joint = \"elbow\", from = 0, to = 1 }"),
              "s.toml:7:5: slice[0].y: the same joint as x\n  Let another joint run along y.");
  EXPECT_SAYS(slice("{ joint = 5, from = 1, to = 0 }"), "slice[0].y: the range is reversed");
  EXPECT_SAYS(slice("{ joint = 5, from = 0 }"), "slice[0].y.to: missing");
  EXPECT_SAYS(slice("{ joint = \"wrist 9\", from = 0, to = 1 }"),
              "slice[0].y.joint: the robot has no joint \"wrist 9\"");
  EXPECT_SAYS(slice("{ joint = 5, from = 0, to = 1 }", "points = 2\n"), "slice[0].points: must be at least 3");
  EXPECT_SAYS(slice("{ joint = 5, from = 0, to = 1 }", "q = [1, 2]\n"), "slice[0].q: expected an array of 6");
  EXPECT_SAYS(complaint("[[slice]]\nx = { joint = 2, from = 0, to = 1 }\n"), "slice[0].y: missing");
}

TEST(SingularityScenario, OtherMistakesAreSaidToo) {
  EXPECT_SAYS(complaint("[start]\nq = 0\n"), "s.toml:5:1: start: unknown key");
  EXPECT_SAYS(complaint("[output]\nkeep = \"all\"\n"), "output.keep: unknown value \"all\"");
  EXPECT_SAYS(complaint("[output]\nvoxels = 1000\n"), "output.voxels: must be from 0 to 64");
  EXPECT_SAYS(complaint("[sampling]\nchunk = 1000\n"), "Write 1024, or leave it out.");
  EXPECT_SAYS(complaint_about("schema = 1\njob = \"chain\"\n"),
              "s.toml:2:1: job: \"chain\" is no map of singularities");
  EXPECT_SAYS(complaint_about("schema = 1\njob = \"singularity\"\n"), "robot: missing");
}

void expect_same(const MapScenario& a, const MapScenario& b) {
  ASSERT_EQ(a.joint.size(), b.joint.size());
  for (std::size_t j = 0; j < a.joint.size(); ++j) {
    EXPECT_EQ(a.joint[j].kind, b.joint[j].kind);
    EXPECT_EQ(a.joint[j].low, b.joint[j].low);
    EXPECT_EQ(a.joint[j].high, b.joint[j].high);
    EXPECT_EQ(a.joint[j].points, b.joint[j].points);
  }
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.measure.near, b.measure.near);
  EXPECT_EQ(a.measure.tolerance, b.measure.tolerance);
  EXPECT_EQ(a.measure.precision, b.measure.precision);
  EXPECT_EQ(a.measure.scaling.center, b.measure.scaling.center);
  EXPECT_EQ(a.measure.scaling.joint, b.measure.scaling.joint);
  EXPECT_EQ(a.measure.scaling.length, b.measure.scaling.length);
  EXPECT_EQ(a.nearest, b.nearest);
  EXPECT_EQ(a.voxels, b.voxels);
  EXPECT_EQ(a.keep_from_first, b.keep_from_first);
  EXPECT_EQ(a.plan.samples, b.plan.samples);
  EXPECT_EQ(a.plan.chunk, b.plan.chunk);
  EXPECT_EQ(a.plan.seed, b.plan.seed);
  EXPECT_EQ(a.plan.keep, b.plan.keep);
  EXPECT_EQ(a.plan.max_unsolved, b.plan.max_unsolved);
  EXPECT_EQ(a.plan.stop_half_width, b.plan.stop_half_width);
  ASSERT_EQ(a.slices.size(), b.slices.size());
  for (std::size_t k = 0; k < a.slices.size(); ++k) {
    EXPECT_EQ(a.slices[k].x, b.slices[k].x);
    EXPECT_EQ(a.slices[k].y_high, b.slices[k].y_high);
    EXPECT_EQ(a.slices[k].q, b.slices[k].q);
    EXPECT_EQ(a.slices[k].points, b.slices[k].points);
  }
  ASSERT_EQ(a.task.has_value(), b.task.has_value());
  if (!a.task) return;
  EXPECT_EQ(a.task->points, b.task->points);
  EXPECT_EQ(a.task->starts, b.task->starts);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(a.task->high[k], b.task->high[k]);
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(a.task->orientation->m[k], b.task->orientation->m[k], 1e-15);
}

TEST(SingularityScenario, WhatCheckPrintsReadsBackToTheSame) {
  for (const std::string& tables :
       {std::string(),
        std::string("[joints]\n\"1\" = 0.3\n\"2\" = { grid = [\"-1 deg\", 0.7], points = 4 }\n[measure]\nnear = 0.1\n"
                    "center = \"joint 3\"\nlength = 0.2\nnearest = false\n[sampling]\nsequence = \"even\"\n[output]\n"
                    "keep = \"none\"\nvoxels = 7\n[[slice]]\nx = { joint = 0, from = -0.1, to = 1 }\n"
                    "y = { joint = 5, from = 0, to = \"3 deg\" }\nq = [0, 0.1, 0.2, \"30 deg\", 0, 0]\npoints = 9\n"),
        std::string("[measure]\nprecision = \"fp32\"\ncenter = \"tool\"\n[sampling]\nsamples = 1234\nchunk = 1024\n"
                    "stop = { half_width = 0.01 }\n"),
        std::string(
            "[task]\nlow = [0, 0, 0]\nhigh = [1, 1, 1]\npoints = [2, 3, 4]\norientation = [0.1, 0.2, 0.3]\n")}) {
    const MapScenario s = parse(tables);
    expect_same(parse_singularity_scenario(resolved_toml(s), "s.toml"), s);
  }
}

TEST(SingularityScenario, EveryArmThatShipsHasAKernel) {
  for (const char* robot : {"puma560.toml", "scara.toml", "stanford.toml", "ur5.toml", "exoskeleton.toml"})
    EXPECT_EQ(complaint_about(scenario_text("", robot)), "") << robot;
}

}  // namespace
}  // namespace garra::io
