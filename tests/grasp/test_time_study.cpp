// What a study in time makes of trajectories, on made-up ones whose answer is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "garra/core/philox.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/time/time_study.hpp"
#include "places.hpp"
#include "study_answer.hpp"

namespace garra::grasp {
namespace {

using Json = nlohmann::json;
using study::clopper_pearson;
using study::clopper_pearson_with_unsolved;

constexpr double kNever = std::numeric_limits<double>::infinity();
const Device kOne{Executor::kLanes, 1};

/// Two contacts; mass and squeeze are uncertain; five instants until 1 s.
Scenario scenario(std::int64_t samples, int instants = 5) {
  Scenario s;
  s.contacts.resize(2);
  s.object.mass = Distribution::uniform(1, 2);
  s.grip_force = Distribution::normal(15, 1);
  s.time = InTime{};
  s.time->instants = instants;
  s.plan.samples = samples;
  s.plan.max_unsolved = 1;
  return s;
}

/// One made-up trajectory.
struct TrajectoryEnd {
  Trajectory t;
  double drift = 0;     ///< at every instant
  double force = 10;    ///< of contact 1; the other carries half of it
  double margin = 0.5;  ///< at every instant
  double u[2] = {0.5, 0.5};
};

TrajectoryEnd held() {
  TrajectoryEnd f;
  f.t.end_time = 1;
  f.t.slip_time = f.t.open_time = kNever;
  f.t.steps = 100;
  f.t.iterations = 150;
  f.t.least_margin = 0.5;
  return f;
}

TrajectoryEnd ended(MotionEnd end, double at, double slipped = kNever) {
  TrajectoryEnd f = held();
  f.t.end = end;
  f.t.end_time = at;
  f.t.slip_time = slipped;
  return f;
}

/// Of sample i.
using TrajectoryEnds = std::function<TrajectoryEnd(std::int64_t)>;

TimeStudy make_uncertainty(const Scenario& s, const TrajectoryEnds& trajectory_end) {
  const int instants = s.time->instants;
  const double duration = s.time->duration;
  return TimeStudy(s, [=](std::int64_t first, std::int64_t count, const Device&) {
    Motions m{2, instants, 2, {}, Numbers(static_cast<std::size_t>(instants * looks(2) * count)), {}};
    for (std::int64_t i = 0; i < count; ++i) {
      const TrajectoryEnd f = trajectory_end(first + i);
      m.trajectory.push_back(f.t);
      m.uniforms.insert(m.uniforms.end(), f.u, f.u + 2);
      for (int k = 0; k < instants; ++k) {
        const bool goes_on = duration * k / (instants - 1) < f.t.end_time || f.t.end_time >= duration;
        const double row[] = {f.drift, 0.1, f.margin, 1e-4, f.force, f.force / 2};
        for (int look = 0; look < looks(2); ++look)
          m.looks[static_cast<std::size_t>((k * looks(2) + look) * count + i)] = goes_on ? row[look] : NAN;
      }
    }
    return m;
  });
}

study::Total total_of(const TimeStudy& study, std::int64_t chunk = 4096, const Device& device = kOne) {
  study::Total total{};
  for (std::int64_t at = 0; at < study.plan().samples; at += chunk)
    total.add(study.run(at, std::min(chunk, study.plan().samples - at), device), study.shape());
  return total;
}

Json summary_of(const TimeStudy& study) { return Json::parse(study.summary(total_of(study), "samples")); }

/// Sample i has state i.
TimeStudy make_uncertainty(const std::vector<TrajectoryEnd>& trajectory_ends) {
  return make_uncertainty(scenario(std::ssize(trajectory_ends)),
                          [=](std::int64_t i) { return trajectory_ends[static_cast<std::size_t>(i)]; });
}

double uniform(std::int64_t i, std::uint32_t which) {
  double u = 0, v = 0;
  uniform_pair<double>(7, SampleIndex<double>::consecutive(static_cast<std::uint64_t>(i)), which, u, v);
  return u;
}

TEST(GraspTimeStudy, CountsSurvivorsAtEachInstantAsByHand) {
  const TimeStudy study =
      make_uncertainty({held(), held(), ended(MotionEnd::kSlipped, 1, 0.6), ended(MotionEnd::kDropped, 0.3, 0.2),
                        ended(MotionEnd::kDropped, 0.5, 0.5), ended(MotionEnd::kJointLimit, 0.9),
                        ended(MotionEnd::kUnreachable, 0), held()});
  const Json level = summary_of(study)["levels"][0];
  EXPECT_EQ(level["survival"]["time"], (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(level["survival"]["drop"]["probability"], (std::vector<double>{7.0 / 8, 7.0 / 8, 5.0 / 8, 5.0 / 8, 0.5}));
  EXPECT_EQ(level["survival"]["slip"]["probability"],
            (std::vector<double>{7.0 / 8, 6.0 / 8, 5.0 / 8, 4.0 / 8, 3.0 / 8}));
  EXPECT_EQ(level["survival"]["drop"]["low"][2].get<double>(), clopper_pearson(5, 8).low);
  EXPECT_EQ(level["survival"]["drop"]["high"][2].get<double>(), clopper_pearson(5, 8).high);
  EXPECT_EQ(level["held"]["probability"], 0.5);
  EXPECT_EQ(level["no_slip"]["probability"], 3.0 / 8);
  EXPECT_TRUE(level["friction"].is_null());
}

TEST(GraspTimeStudy, ATimeThatIsAnInstantButForRoundingBelongsToIt) {
  const double instant = 0.1 + 0.2 + 0.2, later = std::nextafter(0.5, 1);
  const Json level =
      summary_of(make_uncertainty({ended(MotionEnd::kDropped, instant), ended(MotionEnd::kDropped, later),
                                   ended(MotionEnd::kDropped, 0.501), held()}))["levels"][0];
  EXPECT_EQ(level["survival"]["drop"]["probability"], (std::vector<double>{1, 1, 0.5, 0.25, 0.25}));
}

TEST(GraspTimeStudy, UndecidedSamplesWidenIntervalsFromWhereTheyStopped) {
  const TimeStudy study = make_uncertainty({held(), held(), held(), ended(MotionEnd::kDropped, 0.1),
                                            ended(MotionEnd::kUnsolved, 0.6), ended(MotionEnd::kNonFinite, 0.3, 0.2)});
  const study::Total total = total_of(study);
  const Json j = Json::parse(study.summary(total, "samples")), level = j["levels"][0];
  EXPECT_EQ(level["survival"]["drop"]["probability"], (std::vector<double>{1, 5.0 / 6, 4.0 / 5, 3.0 / 4, 3.0 / 4}));
  const study::Interval middle = clopper_pearson_with_unsolved(4, 5, 1), end = clopper_pearson_with_unsolved(3, 4, 2);
  EXPECT_EQ(level["survival"]["drop"]["low"][2].get<double>(), middle.low);
  EXPECT_EQ(level["survival"]["drop"]["high"][2].get<double>(), middle.high);
  EXPECT_EQ(level["held"]["low"].get<double>(), end.low);
  EXPECT_EQ(level["held"]["high"].get<double>(), end.high);
  // The one that slipped before it stopped is known to have slipped.
  EXPECT_EQ(level["survival"]["slip"]["probability"], (std::vector<double>{1, 4.0 / 6, 4.0 / 6, 3.0 / 5, 3.0 / 5}));
  EXPECT_EQ(study::unsolved_share(study.decisions(total)), 2.0 / 6);
  EXPECT_EQ(study.estimate(total).probability, 3.0 / 4);
  EXPECT_EQ(level["peak_drift"]["undefined"], 2);
  EXPECT_EQ(j["outcomes"]["unsolved"], 1);
  EXPECT_EQ(j["convergence"]["low"], (std::vector<double>{end.low}));
  EXPECT_EQ(j["convergence"]["probability"], (std::vector<double>{3.0 / 4}));
}

TEST(GraspTimeStudy, KnowsNothingBeforeItsFirstSample) {
  const TimeStudy study = make_uncertainty({held()});
  const study::Estimate e = study.estimate(study::Total{});
  EXPECT_TRUE(std::isnan(e.probability));
  EXPECT_EQ(e.interval.low, 0);
  EXPECT_EQ(e.interval.high, 1);
  EXPECT_EQ(study::unsolved_share(study.decisions(study::Total{})), 0);
  EXPECT_TRUE(study.first_losses(study::Total{}).empty());
  const Json j = Json::parse(study.summary(study::Total{}, "samples"));
  EXPECT_TRUE(j["held"]["probability"].is_null());
  EXPECT_TRUE(j["audit"]["worst_residual"].is_null());
  EXPECT_TRUE(j["worst"].empty());
}

TEST(GraspTimeStudy, HasQuantileBandsOfAKnownDistribution) {
  constexpr double kError = 0.01;  // bins of 16 %, interpolated; the samples are evenly spread
  const auto spread = [](std::int64_t i, double step) { return std::fmod(static_cast<double>(i) * step, 1.0); };
  const auto drift_at = [](double p) { return 1e-4 * std::pow(100, p); };
  const auto force_at = [](double p) { return 10 + 10 * p; };
  const auto trajectory_end = [=](std::int64_t i) {
    TrajectoryEnd f = i % 4 == 0 ? ended(MotionEnd::kDropped, 0.6) : held();
    f.drift = f.t.peak_drift = drift_at(spread(i, std::sqrt(2.0)));
    f.force = force_at(spread(i, std::sqrt(3.0)));
    return f;
  };
  const Json level = summary_of(make_uncertainty(scenario(20'000), trajectory_end))["levels"][0],
             bands = level["bands"];
  for (const auto& [name, p] : {std::pair{"q05", 0.05}, {"q25", 0.25}, {"q50", 0.5}, {"q75", 0.75}, {"q95", 0.95}})
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_NEAR(bands["drift"][name][k].get<double>() / drift_at(p), 1, kError) << name;
      EXPECT_NEAR(bands["force"][name][k].get<double>() / force_at(p), 1, kError) << name;
      EXPECT_EQ(bands["margin"][name][k].get<double>(), bands["margin"][name][0].get<double>());
    }
  EXPECT_EQ(bands["alive"], (std::vector<int>{20'000, 20'000, 20'000, 15'000, 15'000}));
  EXPECT_EQ(bands["time"], level["survival"]["time"]);
  EXPECT_NEAR(level["peak_drift"]["quantiles"]["0.5"].get<double>() / drift_at(0.5), 1, kError);
  EXPECT_NEAR(level["peak_drift"]["quantiles"]["0.95"].get<double>() / drift_at(0.95), 1, kError);
  EXPECT_NEAR(level["peak_drift"]["mean"].get<double>(), 0.0099 / std::log(100), 1e-4);
  EXPECT_TRUE(level["peak_torque"].is_null());
}

TEST(GraspTimeStudy, BandsBeginAtZeroAndEndWhereNothingIsInHand) {
  std::vector<TrajectoryEnd> trajectory_ends(8, ended(MotionEnd::kDropped, 0.4));
  const Json bands = summary_of(make_uncertainty(trajectory_ends))["levels"][0]["bands"];
  EXPECT_LT(bands["drift"]["q95"][0].get<double>(), 1e-5);
  EXPECT_GE(bands["drift"]["q05"][0].get<double>(), 0);
  EXPECT_EQ(bands["alive"], (std::vector<int>{8, 8, 0, 0, 0}));
  EXPECT_TRUE(bands["drift"]["q50"][2].is_null());
}

TEST(GraspTimeStudy, MarginsOfZeroAndOneLieInTheirBinsAndThatOfNoContactInNone) {
  std::vector<TrajectoryEnd> trajectory_ends(4, held());
  trajectory_ends[0].t.least_margin = -1e-17;
  trajectory_ends[1].t.least_margin = 1;
  trajectory_ends[2].t.least_margin = 0.25;
  trajectory_ends[3].t.least_margin = kNever;
  const Json margin = summary_of(make_uncertainty(trajectory_ends))["levels"][0]["least_margin"];
  EXPECT_EQ(margin["below"], 0);
  EXPECT_EQ(margin["above"], 0);
  EXPECT_EQ(margin["undefined"], 1);
  EXPECT_NEAR(margin["mean"].get<double>(), 1.25 / 3, 1e-12);
}

TEST(GraspTimeStudy, QuantilesOfMarginsThatAreZeroAreZero) {
  std::vector<TrajectoryEnd> trajectory_ends(10, held());
  for (std::size_t i = 0; i < 6; ++i) trajectory_ends[i].t.least_margin = trajectory_ends[i].margin = 0;
  const Json level = summary_of(make_uncertainty(trajectory_ends))["levels"][0], margin = level["least_margin"];
  for (const char* p : {"0.01", "0.25", "0.5"}) EXPECT_EQ(margin["quantiles"][p], 0.0) << p;
  EXPECT_GE(margin["quantiles"]["0.75"].get<double>(), 0.5);
  EXPECT_EQ(margin["below"], 0);
  EXPECT_EQ(margin["counts"][0], 6);
  EXPECT_EQ(level["bands"]["margin"]["q50"], (std::vector<double>(5, 0.0)));
  EXPECT_GE(level["bands"]["margin"]["q75"][2].get<double>(), 0.5);
}

TEST(GraspTimeStudy, HasFewerBandInstantsWhereThereAreVeryManyLevels) {
  Scenario s = scenario(1, 1001);
  s.time->friction.assign(20, 0.5);
  const TimeLayout l = make_time_layout(s);
  EXPECT_LT(l.band_instant.size(), 1001u);
  EXPECT_GT(l.band_instant.size(), 100u);
  EXPECT_EQ(l.band_instant.front(), 0);
  EXPECT_EQ(l.band_instant.back(), 1000);
  EXPECT_TRUE(std::is_sorted(l.band_instant.begin(), l.band_instant.end(), std::less_equal<>()));
  EXPECT_LT(l.counts, 1'000'000);
}

TEST(GraspTimeStudy, KnowsWhatEachLevelLostFirst) {
  Scenario s = scenario(40);
  s.time->friction = {0.2, 0.3, 0.4, 0.5};
  // Level 3 is never lost, level 1 only by fingers that reach nothing; draw 6 of level 0 and draw 2 of level 2 are
  // first.
  const TimeStudy study = make_uncertainty(s, [](std::int64_t i) {
    const std::int64_t level = i % 4, draw = i / 4;
    if (level == 3) return held();
    if (level == 1) return ended(MotionEnd::kUnreachable, 0);
    return ended(draw % 2 == 0 ? MotionEnd::kDropped : MotionEnd::kJointLimit, draw == 6 - 2 * level ? 0.1 : 0.5);
  });
  const std::vector<std::int64_t> expected = {4 * 6, 4 * 2 + 2};
  EXPECT_EQ(study.first_losses(total_of(study)), expected);
  EXPECT_EQ(study.first_losses(total_of(study, 1024, {Executor::kLanes, 2})), expected);
}

TEST(GraspTimeStudy, KeepsItsLevelsApart) {
  constexpr double kHalfBin = 0.08;  // of 60 in four decades
  Scenario s = scenario(3 * 700 + 2);
  s.time->friction = {0.2, 0.3, 0.4};
  // Draw d holds from friction 0.2 + 0.2 u(d) on.
  const TimeStudy study = make_uncertainty(s, [&](std::int64_t i) {
    TrajectoryEnd f = 0.2 + 0.1 * static_cast<double>(i % 3) >= 0.2 + 0.2 * uniform(i / 3, 0)
                          ? held()
                          : ended(MotionEnd::kDropped, 0.5 + 0.1 * static_cast<double>(i % 3), 0.4);
    f.u[0] = uniform(i / 3, 0);
    f.drift = 1e-3 * static_cast<double>(1 + i % 3);
    return f;
  });
  const study::Total total = total_of(study, 1024);
  const Json j = Json::parse(study.summary(total, "samples"));
  std::int64_t in_hand = 0;
  double low = 0;
  for (std::int64_t level = 0; level < 3; ++level) {
    const std::int64_t n = level < 2 ? 701 : 700;
    std::int64_t expected = 0;
    for (std::int64_t d = 0; d < n; ++d) expected += 0.1 * static_cast<double>(level) >= 0.2 * uniform(d, 0);
    const Json& of = j["levels"][static_cast<std::size_t>(level)];
    EXPECT_EQ(of["samples"], n);
    EXPECT_EQ(of["friction"], s.time->friction[static_cast<std::size_t>(level)]);
    EXPECT_EQ(of["outcomes"]["held"], expected);
    EXPECT_EQ(of["held"]["low"].get<double>(), clopper_pearson(expected, n).low);
    EXPECT_EQ(of["bands"]["alive"][0], n);
    EXPECT_NEAR(of["bands"]["drift"]["q50"][0].get<double>() / (1e-3 * static_cast<double>(1 + level)), 1, kHalfBin);
    in_hand += expected;
    low += static_cast<double>(n) / static_cast<double>(total.count) * clopper_pearson(expected, n).low;
  }
  EXPECT_EQ(j["held"]["probability"].get<double>(), static_cast<double>(in_hand) / static_cast<double>(total.count));
  EXPECT_DOUBLE_EQ(j["held"]["low"].get<double>(), low);
  EXPECT_EQ(j["convergence"]["low"].back(), j["held"]["low"]);
  EXPECT_EQ(j["convergence"]["samples"].size(), 3u);
  const auto middle = clopper_pearson(j["levels"][1]["outcomes"]["held"].get<std::int64_t>(), 701);
  EXPECT_EQ(study.widest_interval(total), middle.high - middle.low);
  // Within the middle level the first input decides all; the others have nothing to decide.
  EXPECT_GT(j["inputs"][0]["influence"].get<double>(), 0.9);
  EXPECT_DOUBLE_EQ(j["inputs"][0]["noise"].get<double>(), 2 * std::sqrt(2.0 * 19) / 701);
  EXPECT_LT(j["inputs"][1]["influence"].get<double>(), 2 * j["inputs"][1]["noise"].get<double>());
  EXPECT_EQ(j["inputs"][0]["bins"]["decided"].size(), 20u);
}

TEST(GraspTimeStudy, SaysWhichContactSlippedFirst) {
  std::vector<TrajectoryEnd> trajectory_ends(5, ended(MotionEnd::kSlipped, 1, 0.3));
  for (std::size_t i = 0; i < 4; ++i) trajectory_ends[i].t.slipped_first = i == 1 ? 0 : 1;
  trajectory_ends[4] = held();
  trajectory_ends[3].t.end = MotionEnd::kDropped;
  trajectory_ends[3].t.slip[1] = 0.02;
  const Json contacts = summary_of(make_uncertainty(trajectory_ends))["contacts"];
  EXPECT_EQ(contacts[0]["slipped_first"], 1);
  EXPECT_EQ(contacts[1]["slipped_first"], 3);
  EXPECT_EQ(contacts[1]["name"], "contact 1");
  EXPECT_NEAR(contacts[1]["slip_path"]["mean"].get<double>(), 0.02 / 5, 1e-15);
}

TEST(GraspTimeStudy, RanksEarliestLossesThenLargestDrifts) {
  std::vector<TrajectoryEnd> trajectory_ends;
  for (int i = 0; i < 30; ++i) {
    trajectory_ends.push_back(i % 5 == 0 ? ended(MotionEnd::kDropped, 0.9 - 0.02 * i) : held());
    trajectory_ends.back().t.peak_drift = 1e-4 * i;
    trajectory_ends.back().t.slip[1] = 1e-5 * i;
  }
  trajectory_ends[7] = ended(MotionEnd::kUnsolved, 0.01);
  trajectory_ends[8] = ended(MotionEnd::kUnreachable, 0);
  const Json j = summary_of(make_uncertainty(trajectory_ends));
  const auto samples = [&](const char* key) {
    std::vector<int> list;
    for (const Json& e : j[key]) list.push_back(e["sample"]);
    return list;
  };
  EXPECT_EQ(samples("worst"), (std::vector<int>{25, 20, 15, 10, 5, 0, 29, 28, 27, 26}));
  EXPECT_EQ(samples("closest"), (std::vector<int>{29, 28, 27, 26, 24, 23, 22, 21, 19, 18}));
  EXPECT_EQ(j["worst"][0]["outcome"], "dropped");
  EXPECT_EQ(j["worst"][0]["end_time"].get<double>(), 0.9 - 0.02 * 25);
  EXPECT_EQ(j["closest"][1]["peak_drift"].get<double>(), 1e-4 * 28);
  EXPECT_EQ(j["closest"][1]["slip"].get<double>(), 1e-5 * 28);
}

TEST(GraspTimeStudy, AuditsTheWorstOfItsDecidedSamples) {
  std::vector<TrajectoryEnd> trajectory_ends(4, held());
  trajectory_ends[1].t.energy_balance = 3e-3;
  trajectory_ends[2].t.worst_gap = 2e-7;
  trajectory_ends[2].t.unstable_steps = 5;
  trajectory_ends[2].t.worst_ratio = 1.5;
  trajectory_ends[3] = ended(MotionEnd::kUnsolved, 0.5);
  trajectory_ends[3].t.energy_balance = 9;
  Json audit = summary_of(make_uncertainty(trajectory_ends))["audit"];
  EXPECT_EQ(audit["energy_balance"], 3e-3);
  EXPECT_EQ(audit["worst_gap"], 2e-7);
  EXPECT_TRUE(audit["worst_ratio"].is_null());
  EXPECT_TRUE(audit["unstable_share"].is_null());
  Scenario s = scenario(4);
  s.time->scheme = Scheme::kExplicit;
  const Json j =
      summary_of(make_uncertainty(s, [&](std::int64_t i) { return trajectory_ends[static_cast<std::size_t>(i)]; }));
  EXPECT_EQ(j["audit"]["worst_ratio"], 1.5);
  EXPECT_EQ(j["audit"]["unstable_share"], 5.0 / 400);
  EXPECT_EQ(j["solver"]["mean_iterations"], 1.5);
  EXPECT_EQ(j["solver"]["steps"], 400);
}

TEST(GraspTimeStudy, KeepsRowsOfWhatIsNotHeld) {
  Scenario s = scenario(300);
  const TrajectoryEnds trajectory_end = [](std::int64_t i) {
    TrajectoryEnd f = i % 100 == 7 ? ended(MotionEnd::kDropped, 0.5, 0.25) : ended(MotionEnd::kSlipped, 1, 0.75);
    f.t.peak_force[1] = 12;
    f.t.peak_torque[0] = 0.75;
    f.t.peak_torque[1] = NAN;  // this finger has no limits
    return f;
  };
  const TimeStudy study = make_uncertainty(s, trajectory_end);
  const study::Tally tally = study.run(0, 300, kOne);
  const std::size_t row = study.shape().row;
  ASSERT_EQ(tally.kept.size(), 3 * row);
  const std::vector<double> second(tally.kept.data() + row, tally.kept.data() + 2 * row);
  EXPECT_EQ(second[0], 107);
  EXPECT_EQ(second[2], static_cast<double>(MotionEnd::kDropped));
  std::size_t width = 0;
  std::map<std::string, double> value;
  for (const study::RowColumn& c : study.columns()) {
    EXPECT_EQ(c.first, width);
    width += c.width;
    value[c.name] = second[c.first];
  }
  EXPECT_EQ(value["slip_time"], 0.25);
  EXPECT_EQ(value["peak_force"], 12);
  EXPECT_EQ(value["peak_torque"], 0.75);
  EXPECT_EQ(value["inputs"], 1.5);  // the median of the mass
  EXPECT_EQ(width, row);
  s.plan.keep = "all";
  EXPECT_EQ(make_uncertainty(s, trajectory_end).run(0, 300, kOne).kept.size(), 300 * row);
  s.plan.keep = "none";
  EXPECT_EQ(summary_of(make_uncertainty(s, trajectory_end))["failures_kept"], 0);
}

/// Fates of all kinds with numbers that rounding shows in.
TrajectoryEnd mixed(std::int64_t i) {
  const double u = uniform(i, 0), v = uniform(i, 1);
  TrajectoryEnd f = u < 0.5    ? held()
                    : u < 0.7  ? ended(MotionEnd::kSlipped, 1, v)
                    : u < 0.9  ? ended(MotionEnd::kDropped, v, 0.5 * v)
                    : u < 0.95 ? ended(MotionEnd::kJointLimit, v)
                    : u < 0.97 ? ended(MotionEnd::kUnreachable, 0)
                    : u < 0.99 ? ended(MotionEnd::kUnsolved, v)
                               : ended(MotionEnd::kNonFinite, v);
  f.drift = f.t.peak_drift = 1e-2 * v / 3;
  f.force = 30 * u;
  f.t.peak_turn = u / 7;
  f.t.slip[0] = v / 300;
  f.t.peak_force[0] = 10 / (0.1 + u);
  f.t.slipped_first = f.t.slip_time < kNever ? static_cast<int>(2 * v) : -1;
  f.u[0] = u;
  f.u[1] = v;
  return f;
}

TEST(GraspTimeStudy, HasTheSameSummaryHoweverItIsComputed) {
  for (const std::int64_t samples :
       {std::int64_t{1}, std::int64_t{127}, std::int64_t{129}, std::int64_t{1024}, std::int64_t{4221}}) {
    Scenario s = scenario(samples, 11);
    s.time->friction = {0.2, 0.4, 0.6};
    const TimeStudy study = make_uncertainty(s, mixed);
    const auto text = [&](std::int64_t chunk, int threads) {
      return study.summary(total_of(study, chunk, {Executor::kLanes, threads}), "samples");
    };
    const std::string one = text(8192, 1);
    EXPECT_EQ(one, text(8192, 3)) << samples;
    EXPECT_EQ(one, text(1024, 2)) << samples;
    EXPECT_EQ(one, text(3072, 1)) << samples;
    EXPECT_EQ(study.run(0, samples, {Executor::kLanes, 1}).kept, study.run(0, samples, {Executor::kLanes, 3}).kept);
  }
}

TEST(GraspTimeStudy, MergesItsChunksInAnyOrderButForSums) {
  const TimeStudy study = make_uncertainty(scenario(3000, 11), mixed);
  const study::Tally a = study.run(0, 1024, kOne), b = study.run(1024, 1024, kOne), c = study.run(2048, 952, kOne);
  study::Total forward{}, backward{};
  for (const study::Tally* t : {&a, &b, &c}) forward.add(*t, study.shape());
  for (const study::Tally* t : {&c, &b, &a}) backward.add(*t, study.shape());
  EXPECT_EQ(forward.counts, backward.counts);
  EXPECT_TRUE(forward.buckets == backward.buckets);
  EXPECT_EQ(forward.least, backward.least);
  const Json x = Json::parse(study.summary(forward, "samples")), y = Json::parse(study.summary(backward, "samples"));
  for (const char* key : {"held", "outcomes", "inputs", "audit", "worst", "closest"}) EXPECT_EQ(x[key], y[key]) << key;
}

TEST(GraspTimeStudy, CountsTheTrajectoriesOfItsScenarioWhateverTheExecutor) {
  constexpr std::int64_t kSamples = 131;  // one piece and a little more
  Scenario s = io::read_scenario(test::source_folder() + "/data/scenarios/three_puma_sphere.toml", {});
  s.time = InTime{};
  s.time->duration = 0.02;
  s.time->instants = 5;
  s.time->slip = 1e-4;
  s.time->friction = {0.05, 0.5};
  s.plan.samples = kSamples;
  s.plan.keep = "all";
  const TimeStudy study(s);
  const study::Total total = total_of(study);
  const std::string summary = study.summary(total, "samples");
  test::expect_study_same_on_every_executor(study, {1024});
  const std::vector<double> rows = study.run(0, kSamples, kOne).kept;
  const std::size_t width = study.shape().row;
  ASSERT_EQ(rows.size(), kSamples * width);
  for (const std::int64_t sample : {std::int64_t{0}, kSamples - 1}) {
    const MotionSeries again = study.motion().series(sample, 2);
    const double* row = rows.data() + static_cast<std::size_t>(sample) * width;
    EXPECT_EQ(row[0], static_cast<double>(sample));
    EXPECT_EQ(row[2], static_cast<double>(again.trajectory.end));
    EXPECT_EQ(row[5], again.trajectory.peak_drift);
    EXPECT_EQ(std::vector<double>(row + width - again.inputs.size(), row + width), again.inputs);
  }
  const Json j = Json::parse(summary);
  EXPECT_LT(j["levels"][0]["no_slip"]["high"], j["levels"][1]["no_slip"]["low"]);
  EXPECT_EQ(study::unsolved_share(study.decisions(total)), 0);
}

}  // namespace
}  // namespace garra::grasp
