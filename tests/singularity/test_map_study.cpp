// Maps as a study: what a summary says is counted again from the kept rows, one by one; pictures and pages are held
// against the exact analysis and against forward kinematics.
#include <gtest/gtest.h>
#include <unistd.h>

#include <Eigen/Dense>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "garra/chain_eval.hpp"
#include "garra/io/run_folder.hpp"
#include "garra/io/singularity_scenario.hpp"
#include "places.hpp"
#include "singularity/map/layout.hpp"
#include "singularity/study/map_study.hpp"
#include "study_answer.hpp"

namespace garra::singularity {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kSamples = 20'000;
constexpr int kJoints = 6;

MapScenario puma_scenario(const std::string& tables = "") {
  const std::string robot = test::source_folder() + "/data/robots/puma560.toml";
  return io::parse_singularity_scenario("schema = 1\njob = \"singularity\"\n[robot]\nfile = \"" + robot + "\"\n" +
                                            (tables.empty() ? "[sampling]\nsamples = 20000\nchunk = 4096\n" : tables),
                                        "s.toml");
}

study::Total run(const MapStudy& study, std::int64_t chunk = 4096, const Device& device = {}) {
  study::Total total{};
  const std::int64_t samples = study.plan().samples;
  for (std::int64_t i = 0; i < samples; i += chunk) {
    const study::Tally t = study.run(i, std::min(chunk, samples - i), device);
    total.add(t, study.shape());
    total.kept.insert(total.kept.end(), t.kept.begin(), t.kept.end());
  }
  return total;
}

/// A kept row, read by the names of its columns.
struct Row {
  const MapStudy& study;
  const double* numbers;

  double operator()(const std::string& name, std::size_t k = 0) const {
    for (const study::RowColumn& c : study.columns())
      if (c.name == name) return numbers[c.first + k];
    ADD_FAILURE() << "no column " << name;
    return 0;
  }
};

/// One PUMA map for all tests that only read it.
struct PumaMap {
  MapStudy study{puma_scenario()};
  study::Total total = run(study);
  Json summary = Json::parse(study.summary(total, "samples"));
  std::vector<Row> rows;

  PumaMap() {
    const std::size_t width = study.shape().row;
    for (std::size_t at = 0; at < total.kept.size(); at += width) rows.push_back({study, total.kept.data() + at});
  }
};
const PumaMap& puma() {
  static const PumaMap map;
  return map;
}

std::uint32_t to_set(const Json& joints) {
  std::uint32_t set = 0;
  for (const auto& j : joints) set |= 1u << j.get<int>();
  return set;
}

/// Screws of a configuration about their natural center in their natural length, and their singular values by Eigen:
/// from the tool point's Jacobian and the definition in docs/theory/singularity-maps.md alone.
struct EigenScrews {
  Eigen::Matrix<double, 6, kJoints> columns;
  Eigen::JacobiSVD<Eigen::Matrix<double, 6, kJoints>> svd;

  /// `jacobian` [6, joints] of the velocity (v, w) of the tool point at `tool`.
  EigenScrews(const double* jacobian, const Eigen::Vector3d& tool) {
    const Eigen::Map<const Eigen::Matrix<double, 6, kJoints, Eigen::RowMajor>> J(jacobian);
    Eigen::Matrix3d normal = Eigen::Matrix3d::Zero();
    Eigen::Vector3d right = Eigen::Vector3d::Zero();
    Eigen::Matrix<double, 3, kJoints> foot;  // of the tool point on each axis
    for (int j = 0; j < kJoints; ++j) {
      const Eigen::Vector3d w = J.col(j).tail<3>(), v = J.col(j).head<3>();
      foot.col(j) = tool + w.cross(v);
      const Eigen::Matrix3d off = Eigen::Matrix3d::Identity() - w * w.transpose();
      normal += off;
      right += off * foot.col(j);
    }
    const Eigen::Vector3d center = normal.ldlt().solve(right);
    double squares = 0;
    for (int j = 0; j < kJoints; ++j) {
      const Eigen::Vector3d w = J.col(j).tail<3>(), arm = foot.col(j) - center;
      squares += w.cross(arm).squaredNorm();
      columns.col(j) << w, w.cross(-arm);
    }
    columns.bottomRows<3>() /= std::sqrt(squares / kJoints);
    svd.compute(columns, Eigen::ComputeFullV);
  }
  [[nodiscard]] double sigma(int k) const { return svd.singularValues()[k]; }
};

/// Of many configurations [n, joints].
std::vector<EigenScrews> screws_by_eigen(const chain::Robot& robot, const std::vector<double>& q) {
  chain::States states;
  states.count = static_cast<std::int64_t>(q.size()) / kJoints;
  states.q = q;
  const auto r = chain::evaluate(robot, states, {chain::Output::kJacobian, chain::Output::kPose});
  std::vector<EigenScrews> out;
  for (std::size_t i = 0; i < q.size() / kJoints; ++i) {
    const double* T = &r.pose[i * r.pose.size() / (q.size() / kJoints)];
    out.emplace_back(&r.jacobian[i * 6 * kJoints], Eigen::Vector3d(T[3], T[7], T[11]));
  }
  return out;
}

/// A histogram of the summary against the numbers that it should hold; one within `edge` of the end of a bin may be in
/// either.
void expect_histogram_of(const std::vector<double>& numbers, const Json& h, double edge) {
  const double low = h["low"], high = h["high"];
  const auto bins = h["counts"].size();
  const double width = (high - low) / static_cast<double>(bins);
  std::vector<std::int64_t> sure(bins + 2), perhaps(bins + 2);  // below, bins, above
  const auto place = [&](double x) {
    return x < low ? std::size_t{0} : std::min(bins + 1, 1 + static_cast<std::size_t>((x - low) / width));
  };
  for (const double x : numbers) {
    const bool alone = place(x - edge) == place(x + edge);
    if (alone) ++sure[place(x)];
    for (std::size_t k = place(x - edge); k <= place(x + edge) && !alone; ++k) ++perhaps[k];
  }
  for (std::size_t k = 0; k < bins + 2; ++k) {
    const std::int64_t count = k == 0 ? h["below"] : k > bins ? h["above"] : h["counts"][k - 1];
    EXPECT_GE(count, sure[k]) << "bin " << k;
    EXPECT_LE(count, sure[k] + perhaps[k]) << "bin " << k;
  }
}

constexpr double kDecomposition = 1e-9;  // of singular values of order 1, in digits of their logarithm down to 1e-6

// No word of the study's own: configurations through the public kinematics and Eigen's singular values, counted here.
TEST(SingularityMapStudy, CountsAreThoseOfAnIndependentDecompositionOfEverySample) {
  const MapScenario& scenario = puma().study.scenario();
  const MapEngine engine(scenario);
  std::vector<double> q;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::vector<double> one = engine.configuration(i);
    q.insert(q.end(), one.begin(), one.end());
  }
  std::vector<double> log_sigma, log_condition, product;
  std::int64_t near = 0, undecided = 0;
  for (const EigenScrews& s : screws_by_eigen(scenario.robot, q)) {
    const double ratio = s.sigma(5) / s.sigma(0);
    near += ratio <= scenario.measure.near;
    undecided += std::abs(ratio - scenario.measure.near) < kDecomposition;
    log_sigma.push_back(std::log10(s.sigma(5)));
    log_condition.push_back(-std::log10(ratio));
    product.push_back(s.svd.singularValues().prod());
  }
  EXPECT_EQ(undecided, 0);
  EXPECT_GT(near, 1000);
  const Json& s = puma().summary;
  EXPECT_EQ(s["outcomes"]["near"], near);
  EXPECT_EQ(s["outcomes"]["singular"], 0);
  EXPECT_EQ(s["outcomes"]["regular"], kSamples - near);
  expect_histogram_of(log_sigma, s["histograms"]["log_sigma"], kDecomposition);
  expect_histogram_of(log_condition, s["histograms"]["log_condition"], kDecomposition);
  expect_histogram_of(product, s["histograms"]["manipulability"], kDecomposition);
}

// A arrival is a configuration whose smallest singular value is rounding; dependent are the joints of its null vector;
// the way there is as long as it says; and the share of each set is what a count of such sets says.
TEST(SingularityMapStudy, SingularitiesAreThoseOfAnIndependentDecompositionOfEverySearchStatus) {
  std::vector<double> q;
  std::vector<const Row*> converged;
  for (const Row& row : puma().rows) {
    if (row("search_status") != 0) continue;
    converged.push_back(&row);
    for (std::size_t j = 0; j < kJoints; ++j) q.push_back(row("singular_q", j));
  }
  std::map<std::uint32_t, std::int64_t> sets;
  const std::vector<EigenScrews> screws = screws_by_eigen(puma().study.scenario().robot, q);
  for (std::size_t i = 0; i < converged.size(); ++i) {
    const EigenScrews& s = screws[i];
    EXPECT_LE(s.sigma(5), 1e-9 * s.sigma(0)) << i;
    std::uint32_t dependent = 0;
    double length = 0;
    for (int j = 0; j < kJoints; ++j) {
      double weight = 0;
      for (int k = 0; k < kJoints; ++k)
        if (s.sigma(k) <= 1e-9 * s.sigma(0)) weight = std::max(weight, std::abs(s.svd.matrixV()(j, k)));
      if (weight > 1e-7) dependent |= 1u << j;
      length += std::pow((*converged[i])("singular_q", static_cast<std::size_t>(j)) -
                             (*converged[i])("q", static_cast<std::size_t>(j)),
                         2);
    }
    ++sets[dependent];
    EXPECT_EQ(dependent, static_cast<std::uint32_t>((*converged[i])("dependent_joints"))) << i;
    EXPECT_NEAR((*converged[i])("distance"), std::sqrt(length), 1e-12) << i;
  }
  const Json& said = puma().summary["nearest"]["dependent_joints"];
  ASSERT_EQ(said.size(), sets.size());
  for (const auto& row : said) {
    const std::int64_t n = std::ssize(converged), count = sets[to_set(row["joints"])];
    const study::Interval interval = study::clopper_pearson(count, n);
    EXPECT_EQ(row["count"], count);
    EXPECT_NEAR(row["share"], static_cast<double>(count) / static_cast<double>(n), 1e-15);
    EXPECT_EQ(row["low"], interval.low);
    EXPECT_EQ(row["high"], interval.high);
  }
}

TEST(SingularityMapStudy, RowsAreAsWideAsTheirColumns) {
  std::size_t width = 0;
  for (const study::RowColumn& c : puma().study.columns()) {
    EXPECT_EQ(c.first, width) << c.name;
    width += c.width;
  }
  EXPECT_EQ(width, puma().study.shape().row);
}

TEST(SingularityMapStudy, TheSummaryCountsWhatTheRowsHold) {
  const Json& s = puma().summary;
  std::int64_t converged = 0, lost = 0, near = 0, singular = 0;
  std::map<std::uint32_t, std::int64_t> sets, examples;
  std::map<std::pair<int, int>, std::int64_t> escapes;
  for (const Row& row : puma().rows) {
    near += row("outcome") == 1;
    singular += row("outcome") == 2;
    (row("search_status") == 0 ? converged : lost) += 1;
    if (row("search_status") != 0) continue;
    const auto set = static_cast<std::uint32_t>(row("dependent_joints"));
    ++sets[set];
    examples.try_emplace(set, static_cast<std::int64_t>(row("index")));
    ++escapes[{static_cast<int>(row("escape_joint")), static_cast<int>(row("escape_order"))}];
  }
  ASSERT_GT(converged, 500);
  EXPECT_EQ(s["outcomes"]["near"], near);
  EXPECT_EQ(s["outcomes"]["singular"], singular);
  EXPECT_EQ(s["outcomes"]["regular"], kSamples - near - singular);
  EXPECT_EQ(s["nearest"]["converged"], converged);
  EXPECT_EQ(s["nearest"]["diverged"], lost);
  ASSERT_EQ(s["nearest"]["dependent_joints"].size(), sets.size());
  std::int64_t before = kSamples;
  for (const auto& row : s["nearest"]["dependent_joints"]) {
    EXPECT_EQ(row["count"], sets[to_set(row["joints"])]);
    EXPECT_EQ(row["example"], examples[to_set(row["joints"])]) << "the first sample";
    EXPECT_LE(row["count"].get<std::int64_t>(), before);
    before = row["count"];
    EXPECT_LT(row["low"], row["share"]);
    EXPECT_GT(row["high"], row["share"]);
  }
  for (const auto& row : s["nearest"]["escape"]) {
    EXPECT_EQ(row["order_1"], (escapes[{row["joint"].get<int>(), 1}]));
    EXPECT_EQ(row["order_2"], (escapes[{row["joint"].get<int>(), 2}]));
  }
}

TEST(SingularityMapStudy, EveryHistogramHoldsItsSamples) {
  const auto held = [](const Json& h) {
    std::int64_t n = h["below"].get<std::int64_t>() + h["above"].get<std::int64_t>();
    for (const auto& c : h["counts"]) n += c.get<std::int64_t>();
    return n;
  };
  const Json& s = puma().summary;
  for (const char* name : {"log_sigma", "log_condition", "manipulability"})
    EXPECT_EQ(held(s["histograms"][name]), kSamples);
  EXPECT_EQ(held(s["nearest"]["distance"]), s["nearest"]["converged"]);
  // Near is a condition number of 50 or more: the histogram says the same as the counter, to a bin.
  const Json& h = s["histograms"]["log_condition"];
  const double width = (h["high"].get<double>() - h["low"].get<double>()) / static_cast<double>(h["counts"].size());
  std::int64_t above = h["above"], edge = 0;
  for (std::size_t k = 0; k < h["counts"].size(); ++k) {
    const double low = h["low"].get<double>() + width * static_cast<double>(k);
    if (low >= std::log10(50)) above += h["counts"][k].get<std::int64_t>();
    if (low < std::log10(50) && low + width >= std::log10(50)) edge = h["counts"][k];
  }
  const std::int64_t near = s["outcomes"]["near"].get<std::int64_t>() + s["outcomes"]["singular"].get<std::int64_t>();
  EXPECT_GE(near, above);
  EXPECT_LE(near, above + edge);
}

TEST(SingularityMapStudy, TheEstimateIsNearByDecidedWithItsInterval) {
  const study::Estimate e = puma().study.estimate(puma().total);
  const std::int64_t near = puma().summary["outcomes"]["near"].get<std::int64_t>();
  EXPECT_EQ(e.probability, static_cast<double>(near) / kSamples);
  const study::Interval interval = study::clopper_pearson(near, kSamples);
  EXPECT_EQ(e.interval.low, interval.low);
  EXPECT_EQ(e.interval.high, interval.high);
  EXPECT_EQ(puma().study.widest_interval(puma().total), e.interval.high - e.interval.low);
  EXPECT_EQ(study::unsolved_share(puma().study.decisions(puma().total)), 0);
  EXPECT_TRUE(std::isnan(puma().study.estimate({}).probability));
}

TEST(SingularityMapStudy, TheWorstAreTheSmallestOfTheRows) {
  std::vector<std::pair<double, std::int64_t>> rows;
  for (const Row& row : puma().rows)
    rows.emplace_back(row("inverse_condition"), static_cast<std::int64_t>(row("index")));
  std::sort(rows.begin(), rows.end());
  ASSERT_EQ(puma().summary["worst"].size(), 10u);
  for (std::size_t k = 0; k < 10; ++k) {
    EXPECT_EQ(puma().summary["worst"][k]["sample"], rows[k].second);
    EXPECT_EQ(puma().summary["worst"][k]["inverse_condition"], rows[k].first);
  }
}

TEST(SingularityMapStudy, ThreadsChunksAndExecutorsChangeNoByte) {
  test::expect_study_same_on_every_executor(puma().study, {16384, 1024});
}

TEST(SingularityMapStudy, AChunkFileKeepsEveryCount) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / ("garra_map_study_" + std::to_string(::getpid()));
  auto run_folder = io::RunFolder::create(folder.string(), "job = \"singularity\"\n");
  run_folder.expect({puma().study.shape(), puma().study.columns(), 4096, "test"});
  study::Total t{};
  t.add(puma().study.run(0, 4096, {}), puma().study.shape());
  EXPECT_EQ(run_folder.write_chunk(0, t), io::RunFolder::Written::kNew);
  EXPECT_EQ(run_folder.write_chunk(0, t), io::RunFolder::Written::kSame);
  const auto read = run_folder.read_chunk(0);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->counts, t.counts);
  EXPECT_EQ(read->least, t.least);
  EXPECT_EQ(read->kept.size(), t.kept.size());
  fs::remove_all(folder);
}

// A person, or a clean-up of the cluster, removes chunks while two processes compute the same one.
TEST(SingularityMapStudy, AChunkThatIsRemovedBetweenTwoLooksIsMissingAndNoError) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / ("garra_removed_chunk_" + std::to_string(::getpid()));
  auto run_folder = io::RunFolder::create(folder.string(), "job = \"singularity\"\n");
  run_folder.expect({puma().study.shape(), puma().study.columns(), 16, "test"});
  study::Total t{};
  t.add(puma().study.run(0, 16, {}), puma().study.shape());
  std::atomic<bool> over = false;
  std::thread remover([&] {
    for (std::uint32_t k = 1; !over; k = k * 1664525 + 1013904223) {
      std::this_thread::sleep_for(std::chrono::microseconds(k >> 24));
      run_folder.remove_chunk(0);
    }
  });
  int unlike = 0;
  for (int k = 0; k < 25; ++k) {
    for (int again = 0; again < 2; ++again)
      EXPECT_NO_THROW(unlike += run_folder.write_chunk(0, t) == io::RunFolder::Written::kOther);
    io::RunFolder::Chunk state{};
    EXPECT_NO_THROW(static_cast<void>(run_folder.read_chunk(0, &state)));
    unlike += state != io::RunFolder::Chunk::kPresent && state != io::RunFolder::Chunk::kMissing;
  }
  over = true;
  remover.join();
  EXPECT_EQ(unlike, 0);
  fs::remove_all(folder);
}

TEST(SingularityMapStudy, AReplayedSampleIsItsRow) {
  for (std::size_t k = 0; k < puma().rows.size(); k += 97) {
    const Row& row = puma().rows[k];
    const MapSample s = puma().study.sample(static_cast<std::int64_t>(row("index")));
    EXPECT_EQ(static_cast<double>(s.outcome), row("outcome"));
    EXPECT_EQ(s.measures.sigma_min[0], row("sigma_min"));
    EXPECT_EQ(s.measures.inverse_condition[0], row("inverse_condition"));
    EXPECT_EQ(s.nearest.dependent_joints[0], static_cast<std::uint32_t>(row("dependent_joints")));
    for (std::size_t j = 0; j < kJoints; ++j) {
      EXPECT_EQ(s.q[j], row("q", j));
      if (row("search_status") == 0) {
        EXPECT_EQ(s.nearest.singular_q[j], row("singular_q", j));
      }
    }
  }
}

TEST(SingularityMapStudy, ToolPointsAndVoxelsAreInTheWorld) {
  const VoxelGrid& grid = puma().study.layout().voxels;
  const VoxelValues v = puma().study.voxels(puma().total);
  std::int64_t count = 0, near = 0;
  for (std::size_t k = 0; k < v.count.size(); ++k) {
    count += v.count[k];
    near += v.near[k];
    if (v.count[k] == 0) {
      EXPECT_TRUE(std::isnan(v.sigma_min[k]) && std::isnan(v.sigma_p50[k]));
    } else {
      EXPECT_LE(v.sigma_min[k], v.sigma_p10[k]);
      EXPECT_LE(v.sigma_p10[k], v.sigma_p50[k]);
      EXPECT_LE(v.sigma_p50[k], v.sigma_max[k]);
    }
  }
  EXPECT_EQ(count, kSamples - puma().summary["voxels"]["outside"].get<std::int64_t>());
  EXPECT_LE(near, puma().summary["outcomes"]["near"].get<std::int64_t>());
  for (std::size_t k = 0; k < puma().rows.size(); k += 53) {
    const Row& row = puma().rows[k];
    chain::States states;
    states.count = 1;
    for (std::size_t j = 0; j < kJoints; ++j) states.q.push_back(row("q", j));
    const auto pose = chain::evaluate(puma().study.scenario().robot, states, {chain::Output::kPose}).pose;
    int place[3];
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(row("tool", c), pose[4 * c + 3], 1e-12);
      place[c] = static_cast<int>(std::floor((row("tool", c) - grid.low[static_cast<int>(c)]) / grid.side));
    }
    if (place[0] < 0 || place[0] >= grid.nx || place[1] < 0 || place[1] >= grid.ny || place[2] < 0 ||
        place[2] >= grid.nz)
      continue;
    const auto voxel = static_cast<std::size_t>(place[0] + grid.nx * (place[1] + grid.ny * place[2]));
    EXPECT_GT(v.near[voxel], 0) << "a near sample lies in it";
    EXPECT_LE(v.sigma_min[voxel], row("sigma_min"));
  }
}

TEST(SingularityMapStudy, PagesShowTheMostFrequentSetsAndTheWorst) {
  const auto chosen = puma().study.configurations(puma().total);
  const auto sets = puma().study.dependent_joints(puma().total);
  ASSERT_EQ(chosen.size(), std::min<std::size_t>(8, sets.size()) + 3);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const MapSample& s = chosen[k].sample;
    ASSERT_TRUE(s.analysis.has_value());
    std::uint32_t exact = 0;
    for (const int j : s.analysis->dependent_joints) exact |= 1u << j;
    EXPECT_EQ(exact, s.nearest.dependent_joints[0]) << "the exact analysis has the same joints";
    EXPECT_TRUE(s.analysis->arm_singular);
    if (k < chosen.size() - 3) {
      EXPECT_EQ(exact, sets[k].joints);
    }
  }
  EXPECT_EQ(chosen.back().sample.sample, puma().summary["worst"][2]["sample"].get<std::int64_t>());
}

TEST(SingularityMapStudy, WithoutASliceOneIsChosenThroughTheMostFrequentSingularity) {
  const auto slices = puma().study.slices(puma().total);
  ASSERT_EQ(slices.size(), 1u);
  std::vector<std::pair<std::int64_t, int>> escapes;
  for (const auto& row : puma().summary["nearest"]["escape"])
    escapes.emplace_back(-row["order_1"].get<std::int64_t>() - row["order_2"].get<std::int64_t>(),
                         row["joint"].get<int>());
  std::sort(escapes.begin(), escapes.end());
  EXPECT_EQ((std::set{slices[0].x, slices[0].y}), (std::set{escapes[0].second, escapes[1].second}));
  EXPECT_EQ(slices[0].x_low, puma().study.scenario().joint[static_cast<std::size_t>(slices[0].x)].low);
  const Measures m = measure(puma().study.scenario().robot, slices[0].q, puma().study.scenario().measure, {});
  EXPECT_LE(m.inverse_condition[0], 1e-10) << "it holds a singular configuration";
  const MapStudy named(
      puma_scenario("[[slice]]\nx = { joint = 0, from = 0, to = 1 }\ny = { joint = 1, from = 0, to = 1 }\n"));
  EXPECT_EQ(named.slices({})[0].x, 0);
}

TEST(SingularityMapStudy, TheCenterOfTheScrewsIsWhereTheScenarioPutsIt) {
  for (const char* center : {"tool", "joint 4"}) {
    const MapStudy study(puma_scenario(std::string("[measure]\ncenter = \"") + center +
                                       "\"\nlength = 0.5\nnear = 0.3\n[sampling]\nsamples = 1024\n"));
    const study::Total total = run(study);
    const auto chosen = study.configurations(total);
    ASSERT_FALSE(chosen.empty());
    for (const auto& c : chosen) {
      if (!c.sample.analysis) continue;
      chain::States states;
      states.count = 1;
      states.q = c.sample.nearest.singular_q;
      const auto r = chain::evaluate(study.scenario().robot, states, {chain::Output::kPose, chain::Output::kLinkPoses});
      const bool tool = center == std::string("tool");
      const std::vector<double>& poses = tool ? r.pose : r.link_poses;
      const std::size_t first = tool ? 0 : 4 * 16;  // d = a = 0 of joint 4: its frame is at the wrist center
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_NEAR(c.sample.analysis->scaling.origin[static_cast<int>(k)], poses[first + 4 * k + 3], 1e-12);
      EXPECT_EQ(c.sample.analysis->scaling.length, 0.5);
      EXPECT_EQ(static_cast<int>(c.sample.analysis->lost_freedoms), c.sample.nearest.lost[0]);
    }
  }
}

TEST(SingularityMapStudy, GridsAndMixedMapsVisitEveryNode) {
  const MapStudy grid(
      puma_scenario("[joints]\n\"0\" = 0\n\"1\" = 0.4\n\"2\" = { grid = [\"-180 deg\", \"180 deg\"], "
                    "points = 5 }\n\"3\" = 0.2\n\"4\" = { grid = [-1, 1], points = 3 }\n\"5\" = 0\n"));
  EXPECT_EQ(grid.plan().samples, 15);
  EXPECT_EQ(Json::parse(grid.summary(run(grid), "samples"))["sampling"]["kind"], "grid");
  for (std::int64_t i = 0; i < 15; ++i) {
    const std::vector<double> q = grid.sample(i).q;
    EXPECT_NEAR(q[2], -M_PI + static_cast<double>(i / 3) * M_PI / 2, 1e-15) << "the last joint runs fastest";
    EXPECT_NEAR(q[4], -1 + static_cast<double>(i % 3), 1e-15);
    EXPECT_EQ(q[1], 0.4);
  }
  const MapStudy mixed(puma_scenario("[joints]\n\"4\" = { grid = [-1, 1], points = 3 }\n"));
  std::set<double> seen, drawn;
  for (std::int64_t i = 0; i < 3; ++i) {
    seen.insert(mixed.sample(i).q[4]);
    drawn.insert(mixed.sample(i).q[1]);
  }
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_EQ(drawn.size(), 3u);
  EXPECT_EQ(Json::parse(mixed.summary(run(mixed), "samples"))["sampling"]["kind"], "mixed");
}

TEST(SingularityMapStudy, ATaskGridIsReachedOrSaidNotToBe) {
  const MapStudy study(
      puma_scenario("[task]\nlow = [0.2, -0.6, 0.4]\nhigh = [0.6, 2, 0.9]\npoints = [3, 2, 2]\n"
                    "orientation = [\"180 deg\", 0, \"30 deg\"]\nstarts = 20\n"));
  const study::Total total = run(study);
  const Json s = Json::parse(study.summary(total, "samples"));
  EXPECT_EQ(s["sampling"]["kind"], "task");
  EXPECT_EQ(s["samples"], 12 * 20);
  const std::int64_t unreached = s["outcomes"]["unreached"];
  EXPECT_GE(unreached, 120) << "half of the targets are two meters away";
  ASSERT_LT(unreached, 240);
  const std::int64_t near = s["outcomes"]["near"].get<std::int64_t>() + s["outcomes"]["singular"].get<std::int64_t>();
  EXPECT_DOUBLE_EQ(study.estimate(total).probability, static_cast<double>(near) / static_cast<double>(240 - unreached));
  EXPECT_EQ(study::unsolved_share(study.decisions(total)), 0) << "a search that fails is no configuration";
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < 240; ++i) {
    const MapSample sample = study.sample(i);
    EXPECT_EQ(sample.q.empty(), sample.outcome == MapOutcome::kUnreached);
    if (sample.q.empty()) continue;
    ++found;
    chain::States states;
    states.count = 1;
    states.q = sample.q;
    const auto pose = chain::evaluate(study.scenario().robot, states, {chain::Output::kPose}).pose;
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 3; ++c)
        EXPECT_NEAR(pose[4 * r + c], (*study.scenario().task->orientation)(static_cast<int>(r), static_cast<int>(c)),
                    1e-9);
    EXPECT_NEAR(pose[3], 0.2 + 0.2 * std::round((pose[3] - 0.2) / 0.2), 1e-9);
    EXPECT_NEAR(pose[7], -0.6, 1e-9);
    EXPECT_LT(std::min(std::abs(pose[11] - 0.4), std::abs(pose[11] - 0.9)), 1e-9);
  }
  EXPECT_EQ(found, 240 - unreached);
}

TEST(SingularityMapStudy, SinglePrecisionSaysWhatItHasMissed) {
  const MapStudy study(puma_scenario("[measure]\nprecision = \"fp32\"\n[sampling]\nsamples = 65536\nchunk = 16384\n"));
  const Json s = Json::parse(study.summary(run(study, 16384), "samples"));
  const MapStudy exact(puma_scenario("[sampling]\nsamples = 65536\nchunk = 16384\n"));
  const Json d = Json::parse(exact.summary(run(exact, 16384), "samples"));
  EXPECT_FALSE(d.contains("single_precision"));
  const Json& single = s["single_precision"];
  EXPECT_EQ(single["rechecked"], 65536 / 16);
  EXPECT_LE(single["missed"].get<int>() + single["false_near"].get<int>(), 2);
  EXPECT_GT(single["largest_error"], 0);
  EXPECT_LT(single["largest_error"], 1e-4);
  EXPECT_NEAR(s["outcomes"]["near"].get<double>(), d["outcomes"]["near"].get<double>(), 10);
}

TEST(SingularityMapStudy, RowsAreKeptOfTheFirstSamplesOnly) {
  const MapStudy study(puma_scenario("[sampling]\nsamples = 20000\nchunk = 4096\n[output]\nkeep_from_first = 3000\n"));
  const study::Total total = run(study);
  std::vector<double> first;
  const std::size_t width = study.shape().row;
  for (std::size_t at = 0; at < puma().total.kept.size() && puma().total.kept[at] < 3000; at += width)
    first.push_back(puma().total.kept[at]);
  ASSERT_EQ(total.kept.size(), first.size() * width);
  for (std::size_t k = 0; k < first.size(); ++k) EXPECT_EQ(total.kept[k * width], first[k]);
  EXPECT_EQ(study.summary(total, "samples"), puma().study.summary(puma().total, "samples")) << "counts are of all";
}

TEST(SingularityMapStudy, EvenSamplesAgreeWithRandomOnes) {
  const MapStudy study(puma_scenario("[sampling]\nsamples = 20000\nchunk = 4096\nsequence = \"even\"\n"));
  const study::Estimate even = study.estimate(run(study)), random = puma().study.estimate(puma().total);
  EXPECT_NEAR(even.probability, random.probability, 4 * std::sqrt(0.1 * 0.9 / kSamples));
  EXPECT_STREQ(sampling_kind(study.scenario()), "even");
}

TEST(SingularityMapStudy, NothingIsKeptOrSearchedWhereNothingIsWanted) {
  const MapStudy study(
      puma_scenario("[measure]\nnearest = false\n[sampling]\nsamples = 2048\n[output]\nkeep = \"none\"\nvoxels = 0\n"));
  const study::Total total = run(study);
  EXPECT_TRUE(total.kept.empty());
  const Json s = Json::parse(study.summary(total, "samples"));
  EXPECT_TRUE(s["nearest"].is_null());
  EXPECT_TRUE(s["voxels"].is_null());
  EXPECT_GT(s["outcomes"]["near"], 0);
  EXPECT_EQ(study.slices(total).size(), 1u);
  EXPECT_TRUE(study.voxels(total).count.empty());
}

}  // namespace
}  // namespace garra::singularity
