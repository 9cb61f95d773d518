// Maps: what is counted, against what the samples are one by one, and against other programs.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"
#include "garra/math/rotation.hpp"
#include "on_every_executor.hpp"
#include "singularity/map/arm.hpp"
#include "singularity_map_cases.hpp"

namespace garra::singularity {
namespace {

using namespace map_test;

constexpr std::int64_t kSamples = 3 * study::kBlock + 100;

void expect_same(const study::Tally& a, const study::Tally& b) {
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_TRUE(a.buckets == b.buckets);
  EXPECT_TRUE(same(a.least, b.least));
  EXPECT_TRUE(same(a.kept, b.kept));
  ASSERT_EQ(a.worst.list().size(), b.worst.list().size());
  for (std::size_t k = 0; k < a.worst.list().size(); ++k) {
    EXPECT_EQ(a.worst.list()[k].sample, b.worst.list()[k].sample);
    EXPECT_EQ(a.worst.list()[k].key, b.worst.list()[k].key);
  }
}

std::int64_t sum(const study::Tally& t, int first, int count) {
  std::int64_t out = 0;
  for (int k = 0; k < count; ++k) out += t.counts[static_cast<std::size_t>(first + k)];
  return out;
}

/// What MapLayout says, from measure() and nearest_singularities() of every sample.
void check_counts(const MapScenario& scenario) {
  const MapEngine engine(scenario);
  const MapLayout& l = engine.layout();
  const study::Tally t = engine.run(0, kSamples, kLanesDevice);
  std::vector<double> q;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::vector<double> one = engine.configuration(i);
    q.insert(q.end(), one.begin(), one.end());
  }
  const Measures m = measure(scenario.robot, q, scenario.measure, kLanesDevice);
  std::vector<double> near;
  std::vector<std::int64_t> number;
  std::map<int, std::int64_t> outcome;
  for (std::size_t i = 0; i < m.inverse_condition.size(); ++i) {
    const double x = m.inverse_condition[i];
    const bool is_near = x <= scenario.measure.near, singular = x <= scenario.measure.tolerance;
    ++outcome[static_cast<int>(singular ? MapOutcome::kSingular : is_near ? MapOutcome::kNear : MapOutcome::kRegular)];
    if (!is_near) continue;
    const auto one = row(q, i, scenario.robot.joints);
    near.insert(near.end(), one.begin(), one.end());
    number.push_back(static_cast<std::int64_t>(i));
  }
  for (int k = 0; k < kMapOutcomes; ++k) EXPECT_EQ(t.counts[static_cast<std::size_t>(l.outcome + k)], outcome[k]);
  const NearSingularities s = nearest_singularities(scenario.robot, near, scenario.measure, kLanesDevice);
  std::map<std::uint32_t, std::int64_t> sets, example;
  std::map<int, std::int64_t> escape;
  std::int64_t converged = 0, subsets = 0;
  for (std::size_t i = 0; i < s.search_status.size(); ++i) {
    if (s.search_status[i] != SearchStatus::kConverged) continue;
    ++converged;
    subsets += s.subsets[i];
    if (++sets[s.dependent_joints[i]] == 1) example[s.dependent_joints[i]] = number[i];
    ++escape[s.escape_joint[i]];
  }
  EXPECT_GT(converged, 20);
  EXPECT_EQ(t.counts[static_cast<std::size_t>(l.near)], converged);
  EXPECT_EQ(sum(t, l.near, 2), static_cast<std::int64_t>(s.search_status.size()));
  EXPECT_EQ(sum(t, l.lost, 7), converged);
  EXPECT_EQ(sum(t, l.distance.offset, l.distance.size()), converged);
  EXPECT_EQ(sum(t, l.subset, 1 << l.joints), subsets);
  for (std::uint32_t set = 0; set < 1u << l.joints; ++set) {
    EXPECT_EQ(t.counts[static_cast<std::size_t>(l.dependent_joints) + set], sets[set]);
    if (sets[set] == 0) continue;
    EXPECT_EQ(t.least[static_cast<std::size_t>(l.least_example) + set], static_cast<double>(example[set]));
  }
  for (int j = 0; j < l.joints; ++j) EXPECT_EQ(sum(t, l.escape + 2 * j, 2), escape[j]);
  EXPECT_EQ(t.counts[static_cast<std::size_t>(l.no_escape)], escape[-1]);
  EXPECT_EQ(t.kept.size(), s.search_status.size() * map_row(l.joints));
  for (const study::Histogram* h : {&l.log_sigma, &l.log_condition, &l.manipulability})
    EXPECT_EQ(sum(t, h->offset, h->size()), kSamples);
  std::int64_t in_voxels = t.counts[static_cast<std::size_t>(l.outside)], near_in_voxels = 0;
  for (int v = 0; v < l.voxels.size(); ++v) {
    const int at = l.voxel + v * VoxelGrid::kCounts;
    in_voxels += t.counts[static_cast<std::size_t>(at)];
    near_in_voxels += t.counts[static_cast<std::size_t>(at + 1)];
    EXPECT_EQ(sum(t, at + 2, VoxelGrid::kBins), t.counts[static_cast<std::size_t>(at)]);
  }
  EXPECT_EQ(in_voxels, kSamples);
  EXPECT_LE(near_in_voxels, static_cast<std::int64_t>(s.search_status.size()));
  EXPECT_GE(near_in_voxels,
            static_cast<std::int64_t>(s.search_status.size()) - t.counts[static_cast<std::size_t>(l.outside)]);
}

/// Known of the arms: planar ones turn about one axis and move in a plane, SCARAs move in space and turn about one
/// axis.
TEST(GenericRank, IsWhatTheArmCanDoAtBest) {
  const std::pair<chain::Robot, int> arms[] = {
      {planar_arm(2), 2},
      {planar_arm(5), 3},
      {robot_file("scara.toml"), 4},
      {five_joint_arm(), 5},
      {nine_joint_arm(), 6},
      {robot_file("puma560.toml"), 6},
      {robot_file("iiwa14.urdf"), 6},
  };
  for (const auto& [robot, rank] : arms) {
    EXPECT_EQ(compute_generic_rank(robot), rank) << robot.name;
    const ScrewSet set = make_screws(robot, std::vector<double>(static_cast<std::size_t>(robot.joints), 0.3));
    EXPECT_EQ(generic_rank(set), rank) << robot.name;
    EXPECT_EQ(generic_dims(set).rank(), rank) << robot.name;
  }
}

TEST(MapEngine, CountsWhatItsSamplesAreOneByOne) {
  check_counts(read_scenario_document(reference_arm("puma_wrist")));
  MapScenario even = read_scenario_document(robot_file("scara.toml"));
  even.sequence = Sequence::kLowDiscrepancy;
  even.measure.near = 0.05;
  check_counts(even);
}

TEST(MapEngine, AnyExecutorThreadsAndChunksCountTheSame) {
  for (const auto& robot : {reference_arm("puma_wrist"), robot_file("iiwa14.urdf"), robot_file("stanford.toml")}) {
    SCOPED_TRACE(robot.name);
    const MapEngine engine(read_scenario_document(robot));
    const study::Tally scalar = engine.run(0, kSamples, kScalarDevice);
    test::expect_same_on_every_executor([&](const Device& device) {
      const study::Tally t = engine.run(0, kSamples, device);
      expect_same(scalar, t);  // with its ranking
      test::Answer answer;
      for (int k = 0; k < kMapQuantities; ++k) answer.add("buckets", t.buckets.runs(k));
      return answer.add("counts", t.counts).add("least", t.least).add("kept", t.kept);
    });
    const study::Tally head = engine.run(0, study::kBlock, kLanesDevice);
    study::Tally both = engine.run(study::kBlock, kSamples - study::kBlock, kLanesDevice);
    for (std::size_t i = 0; i < both.counts.size(); ++i) both.counts[i] += head.counts[i];
    for (std::size_t i = 0; i < both.least.size(); ++i) both.least[i] = std::min(both.least[i], head.least[i]);
    both.buckets.add(head.buckets);
    both.worst.merge(head.worst);
    both.kept.insert(both.kept.begin(), head.kept.begin(), head.kept.end());
    expect_same(scalar, both);
  }
}

/// Singular values by the host's own program, in its own scaling.
TEST(MapEngine, ShareOfNearSamplesIsThatOfAnIndependentDecomposition) {
  const chain::Robot puma = reference_arm("puma_wrist");
  const MapScenario scenario = read_scenario_document(puma);
  const MapEngine engine(scenario);
  const study::Tally t = engine.run(0, 3000, kLanesDevice);
  int near = 0;
  for (std::int64_t i = 0; i < 3000; ++i) {
    const ScrewSet set = make_screws(puma, engine.configuration(i));
    const std::vector<double> sigma = singular_values(set, natural_scaling(set));
    near += sigma[5] <= scenario.measure.near * sigma[0];
  }
  EXPECT_EQ(sum(t, engine.layout().outcome + 1, 2), near);
  EXPECT_GT(near, 300);
}

TEST(MapEngine, WorstSamplesAreTheTenOfTheSmallestRatio) {
  const MapScenario scenario = read_scenario_document(robot_file("ur5.toml"));
  const MapEngine engine(scenario);
  const study::Tally t = engine.run(0, kSamples, kLanesDevice);
  std::vector<double> q;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const auto one = engine.configuration(i);
    q.insert(q.end(), one.begin(), one.end());
  }
  std::vector<double> ratio = measure(scenario.robot, q, scenario.measure, kLanesDevice).inverse_condition;
  ASSERT_EQ(t.worst.list().size(), 10u);
  for (const study::Extreme& e : t.worst.list()) EXPECT_EQ(e.key, ratio[static_cast<std::size_t>(e.sample)]);
  std::sort(ratio.begin(), ratio.end());
  for (std::size_t k = 0; k < 10; ++k) EXPECT_EQ(t.worst.list()[k].key, ratio[k]);
}

// Where joint values come from.

TEST(MapEngine, GridsRunThroughTheirNodesLastJointFastest) {
  MapScenario s = read_scenario_document(reference_arm("puma_wrist"));
  for (auto& source : s.joint) source = {JointSource::Kind::kFixed, 0.3, 0.3, 1};
  s.joint[2] = {JointSource::Kind::kGrid, -1, 1, 5};
  s.joint[4] = {JointSource::Kind::kGrid, 0.5, 2, 4};
  const MapEngine engine(s);
  for (std::int64_t i = 0; i < 20; ++i) {
    const auto q = engine.configuration(i);
    EXPECT_NEAR(q[2], -1 + 0.5 * static_cast<double>(i / 4), 1e-15);
    EXPECT_NEAR(q[4], 0.5 + 0.5 * static_cast<double>(i % 4), 1e-15);
    for (const std::size_t j : {0, 1, 3, 5}) EXPECT_EQ(q[j], 0.3);
  }
  s.joint[0] = {JointSource::Kind::kUniform, -1, 1, 1};  // one draw at each node
  const MapEngine mixed(s);
  EXPECT_EQ(mixed.configuration(7)[2], engine.configuration(7)[2]);
  EXPECT_NE(mixed.configuration(7)[0], mixed.configuration(8)[0]);
  expect_same(mixed.run(0, 20, kScalarDevice), mixed.run(0, 20, kLanesDevice));
}

/// Of one dimension, an additive recurrence leaves gaps of at most three lengths (V. Sos, 1957), the golden ratio
/// nearly equal ones.
TEST(MapEngine, EvenSamplesFillTheirRanges) {
  MapScenario s = read_scenario_document(reference_arm("puma_wrist"));
  for (auto& source : s.joint) source = {JointSource::Kind::kFixed, 0, 0, 1};
  s.joint[3] = {JointSource::Kind::kUniform, 0, 1, 1};
  s.sequence = Sequence::kLowDiscrepancy;
  const MapEngine engine(s);
  std::vector<double> u;
  for (std::int64_t i = 0; i < 1000; ++i) u.push_back(engine.configuration(5'000'000'000 + i)[3]);
  std::sort(u.begin(), u.end());
  double widest = u.front() + 1 - u.back();
  for (std::size_t k = 1; k < u.size(); ++k) widest = std::max(widest, u[k] - u[k - 1]);
  EXPECT_LT(widest, 2.7e-3);
  EXPECT_GT(u.front(), 0);
  EXPECT_LT(u.back(), 1);
}

/// Another seed is the same sequence from elsewhere: every sample moved by one number, modulo the range.
TEST(MapEngine, EvenSamplesOfAnotherSeedAreShifted) {
  MapScenario s = read_scenario_document(reference_arm("puma_wrist"));
  for (auto& source : s.joint) source = {JointSource::Kind::kUniform, 0, 1, 1};
  s.sequence = Sequence::kLowDiscrepancy;
  const MapEngine one(s);
  s.plan.seed += 1;
  const MapEngine other(s);
  for (std::size_t j = 0; j < 6; ++j) {
    const auto shift = [&](std::int64_t i) {
      const double d = other.configuration(i)[j] - one.configuration(i)[j];
      return d - std::floor(d);
    };
    EXPECT_GT(shift(0), 1e-6);
    EXPECT_NEAR(shift(12345), shift(0), 1e-12);
  }
}

TEST(MapEngine, TaskTargetsAreReachedOrCountedAsUnreached) {
  MapScenario s = read_scenario_document(reference_arm("puma_wrist"));
  TaskGrid task;
  task.low = {{-0.5, -0.5, -0.3}};
  task.high = {{0.5, 0.5, 0.3}};
  task.points = {3, 3, 2};
  task.orientation = Mat3<double>{{1, 0, 0, 0, -1, 0, 0, 0, -1}};
  task.starts = 8;
  s.task = task;
  const MapEngine engine(s);
  const std::int64_t samples = 3 * 3 * 2 * 8;
  const study::Tally t = engine.run(0, samples, kLanesDevice);
  std::int64_t unreached = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const auto q = engine.configuration(i);
    unreached += q.empty();
    if (q.empty()) continue;
    const std::int64_t node = i / task.starts;
    const Vec3<double> p = {{-0.5 + 0.5 * static_cast<double>(node % 3), -0.5 + 0.5 * static_cast<double>(node / 3 % 3),
                             -0.3 + 0.6 * static_cast<double>(node / 9)}};
    const Measures at = measure(s.robot, q, s.measure, kScalarDevice);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(at.tool[static_cast<std::size_t>(k)], p[k], 1e-9);
    for (const double angle : q) EXPECT_LE(std::abs(angle), M_PI + 1e-8);
  }
  EXPECT_EQ(t.counts[static_cast<std::size_t>(engine.layout().outcome) + 3], unreached);
  EXPECT_GT(unreached, 0);  // corners are farther than the arm is long
  EXPECT_LT(unreached, samples / 2 + samples / 4);
  expect_same(t, engine.run(0, samples, kScalarDevice));
  s.task->low = {{5, 5, 5}};
  s.task->high = {{6, 6, 6}};
  const MapEngine far(s);
  const study::Tally none = far.run(0, samples, kLanesDevice);
  EXPECT_EQ(none.counts[static_cast<std::size_t>(far.layout().outcome) + 3], samples);
  EXPECT_TRUE(far.configuration(0).empty());
}

/// The PUMA's wrist aligned, and turned by what is left of so many digits: most of 128 searches arrive, and where they
/// should, whatever the digits.
TEST(MapEngine, AlignedWristsOfATaskGridAreReached) {
  MapScenario s = read_scenario_document(reference_arm("puma_wrist"));
  const std::vector<double> home = {0.4, 0.7, -0.9, 0.2, 0, 0.1};
  const auto pose_at = [&](const std::vector<double>& q) {
    return chain::evaluate(s.robot, chain::StateView(1, q), chain::Output::kPose).pose;
  };
  const std::vector<double> pose = pose_at(home);
  for (const double size : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 0.0}) {
    TaskGrid task;
    task.low = task.high = {{pose[3], pose[7], pose[11]}};
    task.points = {1, 1, 1};
    task.starts = 128;
    task.orientation = rotation_from_rpy({{size, -0.7 * size, 0.4 * size}}) *
                       Mat3<double>{{pose[0], pose[1], pose[2], pose[4], pose[5], pose[6], pose[8], pose[9], pose[10]}};
    s.task = task;
    const MapEngine engine(s);
    int reached = 0;
    for (std::int64_t i = 0; i < task.starts; ++i) {
      const std::vector<double> q = engine.configuration(i);
      if (q.empty()) continue;
      ++reached;
      const std::vector<double> at = pose_at(q);
      for (std::size_t k = 0; k < 12; ++k)
        EXPECT_NEAR(at[k], k % 4 == 3 ? pose[k] : (*task.orientation)(static_cast<int>(k / 4), static_cast<int>(k % 4)),
                    2e-10);
    }
    EXPECT_GT(reached, 64) << size;
  }
}

TEST(MapEngine, VoxelsOfATaskGridHaveNoHolesBetweenItsTargets) {
  MapScenario s = read_scenario_document(reference_arm("puma_wrist"));
  s.voxels = 10;  // 63 mm, where targets are 100 mm apart
  TaskGrid task;
  task.low = {{0.1, -0.2, 0.3}};
  task.high = {{0.7, 0.2, 0.5}};
  task.points = {7, 5, 3};
  task.starts = 1;
  s.task = task;
  const VoxelGrid v = MapEngine(s).layout().voxels;
  EXPECT_NEAR(v.side, 0.1, 1e-12);
  const int points[3] = {7, 5, 3}, n[3] = {v.nx, v.ny, v.nz};
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(n[k], points[k]);
    for (int i = 0; i < points[k]; ++i)  // target i in the middle of voxel i
      EXPECT_NEAR((task.low[k] + 0.1 * i - v.low[k]) / v.side, i + 0.5, 1e-9);
  }
}

// Single precision.

TEST(MapEngine, SinglePrecisionMissesFewAndSaysHowMany) {
  constexpr double kStated = 2e-5;  // of sigma_g / sigma_1
  for (const auto& robot : {reference_arm("puma_wrist"), robot_file("iiwa14.urdf")}) {
    MapScenario s = read_scenario_document(robot);
    s.measure.precision = Precision::kSingle;
    const MapEngine engine(s);
    const MapLayout& l = engine.layout();
    const std::int64_t samples = 33 * study::kBlock;
    const study::Tally t = engine.run(0, samples, kLanesDevice);
    EXPECT_EQ(t.counts[static_cast<std::size_t>(l.rechecked)], 3 * study::kBlock);
    EXPECT_LE(t.counts[static_cast<std::size_t>(l.missed)], 3);
    EXPECT_LE(t.counts[static_cast<std::size_t>(l.false_near)], 3);
    EXPECT_LE(-t.least[static_cast<std::size_t>(l.least_error)], kStated);
    EXPECT_GT(-t.least[static_cast<std::size_t>(l.least_error)], 0);
    expect_same(engine.run(0, 2000, kScalarDevice), engine.run(0, 2000, kLanesDevice));
  }
}

// Slices.

TEST(Slices, AgreeWithTheReferenceMap) {
  const auto maps = test::read_reference_json("singularity/maps.json")["maps"];
  ASSERT_GE(maps.size(), 1u);
  const auto& map = maps[0];
  MapScenario s = read_scenario_document(reference_arm("puma_wrist"));
  s.measure.scaling = {MapScaling::Center::kJoint, 4, map["L"].get<double>()};
  Slice slice;
  slice.x = map["x_joint"].get<int>() - 1;
  slice.y = map["y_joint"].get<int>() - 1;
  slice.q = map["fixed"].get<std::vector<double>>();
  slice.x_low = map["x"][0];
  slice.x_high = map["x"][40];
  slice.y_low = map["y"][0];
  slice.y_high = map["y"][40];
  slice.points = 41;
  const SliceResult r = evaluate_slice(s, slice, kLanesDevice);
  for (std::size_t i = 0; i < 41; ++i)
    for (std::size_t k = 0; k < 41; ++k) {
      const std::size_t at = k * 41 + i;
      const double sigma_1 = r.measures.sigma_min[at] / r.measures.inverse_condition[at];
      EXPECT_NEAR(r.measures.sigma_min[at], map["sigma_min"][i][k].get<double>(), 1e-9 * sigma_1);
      EXPECT_NEAR(r.measures.manipulability[at], map["manipulability"][i][k].get<double>(), 1e-9);
    }
}

/// In the plane of q3 and q5 the PUMA's locus is the lines q5 = 0, q5 = +-180 deg, the two elbow angles, and the
/// shoulder's.
TEST(Slices, LociSatisfyTheClosedFormAndHaveNoHoles) {
  MapScenario s = read_scenario_document(reference_arm("puma_wrist"));
  const Slice slice{2, 4, {0, -0.7, 0, 0.4, 0, 0.2}, -M_PI, M_PI, -3, 3, 61};
  const SliceResult r = evaluate_slice(s, slice, kLanesDevice);
  const double a2 = 0.4318, a3 = 0.0203, d4 = 0.4318, step_x = 2 * M_PI / 60, step_y = 6.0 / 60;
  std::vector<bool> wrist_column(61, false), elbow_row(2 * 61, false);
  for (std::size_t k = 0; k < r.locus_x.size(); ++k) {
    const double x = r.locus_x[k], y = r.locus_y[k];
    const double at_elbow = a3 * std::sin(x) + d4 * std::cos(x);
    const double at_shoulder = a2 * std::cos(-0.7) + a3 * std::cos(x - 0.7) - d4 * std::sin(x - 0.7);
    EXPECT_LT(std::abs(at_elbow * at_shoulder * std::sin(y)), 1e-8);
    const auto column = static_cast<std::size_t>(std::clamp(std::round((x + M_PI) / step_x), 0.0, 60.0));
    const auto line = static_cast<std::size_t>(std::clamp(std::round((y + 3) / step_y), 0.0, 60.0));
    if (std::abs(y) < 1e-6) wrist_column[column] = true;
    for (const std::size_t e : {0, 1}) {
      const double off = std::remainder(x - (e == 0 ? std::atan2(d4, -a3) : std::atan2(-d4, a3)), 2 * M_PI);
      if (std::abs(off) < 1e-4) elbow_row[61 * e + line] = true;
    }
  }
  EXPECT_GE(std::count(wrist_column.begin(), wrist_column.end(), true), 55);  // crossings belong to either line
  EXPECT_GE(std::count(elbow_row.begin(), elbow_row.end(), true), 110);
}

/// A 7R arm loses rank with q4 = 0 alone, but at the shoulder only where q2 = 0 and q3 = +-90 deg: points in this
/// plane.
TEST(Slices, FindPointsThatNoGridNodeMeets) {
  const chain::Robot arm = robot_file("iiwa14.urdf");
  MapScenario s = read_scenario_document(arm);
  const Slice slice{1, 2, {0.3, 0, 0, 1.1, 0.4, 0.9, -0.2}, -1.03, 1, -2.97, 3, 40};
  const SliceResult r = evaluate_slice(s, slice, kLanesDevice);
  bool found[2] = {false, false};
  for (std::size_t k = 0; k < r.locus_x.size(); ++k) {
    EXPECT_NEAR(r.locus_x[k], 0, 1e-6);
    EXPECT_NEAR(std::abs(r.locus_y[k]), M_PI / 2, 1e-6);
    found[r.locus_y[k] > 0] = true;
  }
  EXPECT_TRUE(found[0] && found[1]);
}

// Misuse.

std::string complaint(const std::function<void()>& use) {
  try {
    use();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(MapEngine, SaysWhatIsWrongAndWhatToDo) {
  const chain::Robot puma = reference_arm("puma_wrist");
  const std::vector<double> q(6, 0.1);
  const auto with = [&](auto change) {
    MeasureOptions o;
    change(o);
    return complaint([&] { static_cast<void>(measure(puma, q, o, kLanesDevice)); });
  };
  EXPECT_NE(with([](auto& o) { o.near = 1.5; }).find("near"), std::string::npos);
  EXPECT_NE(with([](auto& o) { o.tolerance = 0; }).find("tolerance"), std::string::npos);
  EXPECT_NE(with([](auto& o) { o.scaling.length = -1; }).find("length"), std::string::npos);
  EXPECT_NE(with([](auto& o) {
              o.scaling = {MapScaling::Center::kJoint, 6, {}};
            }).find("joints 0 to 5"),
            std::string::npos);
  EXPECT_NE(complaint([&] {
              static_cast<void>(measure(puma, {1, 2}, {}, kLanesDevice));
            }).find("[n,6]"),
            std::string::npos);
  EXPECT_NE(
      complaint([&] { static_cast<void>(measure(planar_arm(7), {}, {}, kLanesDevice)); }).find("singularity --at"),
      std::string::npos);
  EXPECT_NE(
      complaint([&] { static_cast<void>(measure(planar_arm(2), {}, {}, kLanesDevice)); }).find("singularity --at"),
      std::string::npos);
  MapScenario s = read_scenario_document(puma);
  s.joint[1] = {JointSource::Kind::kUniform, 1, -1, 1};
  EXPECT_NE(complaint([&] { const MapEngine engine(s); }).find("reversed"), std::string::npos);
  EXPECT_NE(complaint([&] {
              static_cast<void>(evaluate_slice(read_scenario_document(puma), {1, 1, q, -1, 1, -1, 1, 5}, kLanesDevice));
            }).find("same joint"),
            std::string::npos);
}

}  // namespace
}  // namespace garra::singularity
