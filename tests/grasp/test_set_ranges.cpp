// Sets read and ranked a range at a time, out of memory and out of files, against the same in one piece.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>

#include "base/files/hdf5.hpp"
#include "contact/problems/classes.hpp"
#include "garra/core/error.hpp"
#include "garra/io/grasp_set.hpp"
#include "grasp/set/set_study.hpp"

namespace garra::grasp {
namespace {

using study::Distribution;

/// Points around the origin that press on it, 1 to 5 of them, each second one from opposite the one before, every
/// thirteenth grasp without any and every seventh turned away; all that a set may have of contacts and grasps.
GraspSet mixed(std::int64_t grasps) {
  bench::Random random(17);
  GraspSet s;
  s.first = {0};
  for (std::int64_t g = 0; g < grasps; ++g) {
    const std::int64_t contacts = g % 13 == 12 ? 0 : 1 + g % 5;
    Vec3<double> last = Vec3<double>::zero();
    for (std::int64_t j = 0; j < contacts; ++j) {
      Vec3<double> n = random.normal3();
      n = (1 / norm(n)) * n;
      if (j % 2 == 1) n = -last;
      last = n;
      const double side = g % 7 == 6 ? 1 : -1;
      for (int i = 0; i < 3; ++i) s.point.push_back(0.05 * side * n[i] + 0.001 * random.normal());
      s.normal.insert(s.normal.end(), n.m, n.m + 3);
      s.tangent.insert(s.tangent.end(), {n[1] + 1, n[2], -n[0]});
      s.friction.push_back(random.uniform(0.3, 0.9));
      s.curvature.insert(s.curvature.end(), {20, 10});
      s.force_limit.push_back(random.uniform(5, 20));
    }
    s.first.push_back(std::ssize(s.friction));
    s.mass.push_back(random.uniform(0.1, 0.3));
    for (int i = 0; i < 3; ++i) s.com.push_back(0.002 * random.normal());
    s.inertia.insert(s.inertia.end(), {3e-4, 0, 0, 0, 3e-4, 0, 0, 0, 3e-4});
    s.gravity.insert(s.gravity.end(), {0, 0, -9.81});
    for (int i = 0; i < 6; ++i) s.wrench.push_back((i < 3 ? 0.05 : 0.001) * random.normal());
  }
  return s;
}

/// The same with fingertips that slide along three axes each.
GraspSet with_hand(GraspSet s) {
  for (std::int64_t row = 0; row < s.first.back(); ++row) {
    s.force.insert(s.force.end(), {2.0 + static_cast<double>(row % 3), 0, 0});
    const double own = 1 + 1e-3 * static_cast<double>(row);
    s.jacobian.insert(s.jacobian.end(), {own, 0, 0, 0, 1, 0, 0, 0, own});
  }
  for (std::int64_t g = 0; g < s.count(); ++g) {
    s.mass_matrix.insert(s.mass_matrix.end(), {0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.1});
    s.bias.insert(s.bias.end(), {0, 0, 0});
  }
  return s;
}

SetStudy uncertain() {
  SetStudy study;
  study.friction = Distribution::uniform(0.7, 1.3);
  study.slide_t = study.slide_o = Distribution::normal(0, 0.001);
  study.force_radius = 0.5;
  study.samples = 130;  // no whole words
  study.friction_samples = 3;
  return study;
}

class File {
 public:
  explicit File(const GraspSet& set) { io::write_grasp_set(path_, set); }
  ~File() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  /// The test's own: others run beside it.
  std::string path_ =
      testing::TempDir() + "garra_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".h5";
};

template <class T>
void expect_same_bits(const std::vector<T>& a, const std::vector<T>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t g = 0; g < a.size(); ++g)
    EXPECT_EQ(std::memcmp(&a[g], &b[g], sizeof(T)), 0) << what << " of grasp " << g;
}

void expect_same(const Ranking& a, const Ranking& b) {
  expect_same_bits(a.status, b.status, "status");
  expect_same_bits(a.rank, b.rank, "rank");
  expect_same_bits(a.held, b.held, "held");
  expect_same_bits(a.unsolved, b.unsolved, "unsolved");
  expect_same_bits(a.samples, b.samples, "samples");
  expect_same_bits(a.p_held, b.p_held, "p_held");
  expect_same_bits(a.low, b.low, "low");
  expect_same_bits(a.high, b.high, "high");
  expect_same_bits(a.difference, b.difference, "difference");
  expect_same_bits(a.difference_low, b.difference_low, "difference_low");
  expect_same_bits(a.difference_high, b.difference_high, "difference_high");
  expect_same_bits(a.required_friction, b.required_friction, "required_friction");
  expect_same_bits(a.margin, b.margin, "margin");
  expect_same_bits(a.p_no_slip, b.p_no_slip, "p_no_slip");
  expect_same_bits(a.p_resisted, b.p_resisted, "p_resisted");
  expect_same_bits(a.resisted_force_radius, b.resisted_force_radius, "resisted_force_radius");
  expect_same_bits(a.limiting_contact, b.limiting_contact, "limiting_contact");
  expect_same_bits(a.outcomes, b.outcomes, "outcomes");
}

void append_rows(const Ranking& rows, Ranking& to) {
  const auto add = [&](auto column) {
    (to.*column).insert((to.*column).end(), (rows.*column).begin(), (rows.*column).end());
  };
  add(&Ranking::status);
  for (const auto c :
       {&Ranking::rank, &Ranking::held, &Ranking::unsolved, &Ranking::samples, &Ranking::limiting_contact})
    add(c);
  for (const auto c :
       {&Ranking::p_held, &Ranking::low, &Ranking::high, &Ranking::difference, &Ranking::difference_low,
        &Ranking::difference_high, &Ranking::p_no_slip, &Ranking::p_resisted, &Ranking::resisted_force_radius})
    add(c);
  for (const auto c : {&Ranking::required_friction, &Ranking::margin}) add(c);
  add(&Ranking::outcomes);
}

/// As a run folder makes it, of chunks of so many grasps; their order in so many bytes of memory.
Ranking in_chunks(const SetStudy& study, const std::string& file, std::int64_t chunk) {
  SetScenario scenario;
  scenario.study = study;
  scenario.plan.chunk = chunk;
  const GraspSetStudy run(scenario, std::make_unique<io::SetFile>(file));
  std::vector<std::vector<double>> kept;
  for (std::int64_t first = 0; first < run.plan().samples; first += chunk)
    kept.push_back(run.run(first, std::min(chunk, run.plan().samples - first), {}).kept);
  Ranking out;
  run.rank([&](const GraspSetStudy::Rows& hear) { std::for_each(kept.begin(), kept.end(), hear); },
           [&](const Ranking& rows) { append_rows(rows, out); });
  return out;
}

/// The same of which every third contact is soft.
GraspSet softened(GraspSet s) {
  for (std::int64_t row = 0; row < s.first.back(); ++row) s.torsion_radius.push_back(row % 3 == 0 ? 0.005 : 0);
  return s;
}

TEST(SetRanges, AFileGivesTheSameRowsWhateverTheRange) {
  const GraspSet all = softened(with_hand(mixed(60)));
  const File file(all);
  const io::SetFile source(file.path());
  ASSERT_EQ(source.count(), all.count());
  for (const std::int64_t first : {0, 7, 12, 59}) {
    const std::int64_t count = std::min<std::int64_t>(13, all.count() - first);
    const GraspSet here = SetInMemory(all).read(first, count), there = source.read(first, count);
    EXPECT_EQ(there.first, here.first);
    for (const auto array : {&GraspSet::point, &GraspSet::normal, &GraspSet::tangent, &GraspSet::friction,
                             &GraspSet::curvature, &GraspSet::force_limit, &GraspSet::torsion_radius, &GraspSet::mass,
                             &GraspSet::com, &GraspSet::inertia, &GraspSet::gravity, &GraspSet::wrench,
                             &GraspSet::force, &GraspSet::jacobian, &GraspSet::mass_matrix, &GraspSet::bias})
      EXPECT_EQ(there.*array, here.*array) << "from grasp " << first;
    const auto row = static_cast<std::size_t>(all.first[static_cast<std::size_t>(first)]);
    if (here.first.back() > 0) {
      EXPECT_EQ(here.point[0], all.point[3 * row]);
    }
  }
}

TEST(SetRanges, ARunRanksAsOneCallDoesWhateverItsChunks) {
  for (const bool hand : {false, true}) {
    const GraspSet set = hand ? with_hand(mixed(150)) : softened(mixed(600));
    const File file(set);
    SetStudy study = uncertain();
    if (hand) study.samples = 70;
    const Ranking whole = rank(set, study);
    EXPECT_GT(std::count(whole.status.begin(), whole.status.end(), GraspStatus::kNoContact), 5);
    EXPECT_GT(std::count(whole.status.begin(), whole.status.end(), GraspStatus::kOutwardNormals), 2);
    const std::int64_t held = std::accumulate(whole.held.begin(), whole.held.end(), std::int64_t{0});
    EXPECT_GT(held, hand ? 50 : 1000) << "there is something to compare";
    expect_same(rank(io::SetFile(file.path()), study), whole);
    for (const std::int64_t chunk : {1, 7, 64, 1000}) expect_same(in_chunks(study, file.path(), chunk), whole);
  }
}

/// Pinches of equal contacts, each twice as good or bad as chance has it; every hundredth is a bad grasp.
GraspSet pinches(std::int64_t grasps) {
  bench::Random random(4);
  GraspSet s;
  s.first = {0};
  for (std::int64_t g = 0; g < grasps; ++g) {
    const double side = g % 100 == 99 ? -1 : 1;
    s.point.insert(s.point.end(), {-0.03, 0, 0, 0.03, 0, 0});
    s.normal.insert(s.normal.end(), {side, 0, 0, -side, 0, 0});
    s.friction.insert(s.friction.end(), 2, random.uniform(0.1, 0.5));
    s.first.push_back(2 * g + 2);
  }
  s.force_limit.assign(s.friction.size(), 10);
  s.mass.assign(static_cast<std::size_t>(grasps), 0.5);
  return s;
}

TEST(SetRanges, ARunOrdersAHundredThousandGraspsAsRankDoes) {
  const GraspSet set = pinches(100'000);
  const File file(set);
  SetStudy study;
  study.friction = Distribution::uniform(0.5, 1);
  study.samples = 3;  // so that most places are shared, and only the friction needed and the number tell them apart
  study.friction_samples = 1;
  study.radius_samples = 0;
  const Ranking whole = rank(set, study);
  EXPECT_EQ(std::count(whole.status.begin(), whole.status.end(), GraspStatus::kOutwardNormals), 1000);
  expect_same(in_chunks(study, file.path(), 4096), whole);
}

TEST(SetRanges, RowsKnowTheirPlaceBeyondTheFirstRange) {
  // More grasps than are in memory at once; the same grasp again and again, but for one better and one worse.
  constexpr std::int64_t kGrasps = 40'000, kBetter = 33'000, kWorse = 20'000;
  GraspSet s;
  s.first = {0};
  for (std::int64_t g = 0; g < kGrasps; ++g) {
    s.point.insert(s.point.end(), {-0.03, 0, 0, 0.03, 0, 0});
    s.normal.insert(s.normal.end(), {1, 0, 0, -1, 0, 0});
    s.friction.insert(s.friction.end(), 2, g == kBetter ? 0.6 : g == kWorse ? 0.3 : 0.4);
    s.first.push_back(2 * g + 2);
  }
  s.force_limit.assign(2 * kGrasps, 10);
  s.mass.assign(kGrasps, 0.5);
  SetStudy study;
  study.friction = Distribution::uniform(0.5, 1);
  study.samples = 64;
  study.friction_samples = 0;
  const Ranking r = rank(s, study);
  EXPECT_EQ(r.rank[kBetter], 1);
  EXPECT_EQ(r.rank[kWorse], kGrasps);
  EXPECT_EQ(r.rank[0], 2);
  EXPECT_EQ(r.rank[kGrasps - 1], kGrasps - 1);
  EXPECT_EQ(r.held[kGrasps - 1], r.held[0]);
  const File file(s);
  expect_same(rank(io::SetFile(file.path()), study), r);
  study.best = 1;
  study.samples = 10'000;
  const Ranking best = rank(io::SetFile(file.path()), study);
  EXPECT_TRUE(best.decided);
  EXPECT_EQ(best.rank[kBetter], 1);
  expect_same(best, rank(s, study));
}

TEST(SetRanges, WhatIsWrongIsSaidBeforeTheWorkBeginsOrWithItsPlace) {
  GraspSet s = mixed(40);
  s.first[30] = s.first[29] - 1;
  {
    io::Hdf5Writer file;
    const auto m = static_cast<std::uint64_t>(s.first.back());
    file.write("first", {41}, std::span<const std::int64_t>(s.first));
    file.write("point", {m, 3}, std::span<const double>(s.point));
    file.write("normal", {m, 3}, std::span<const double>(s.normal));
    file.commit(testing::TempDir() + "garra_wrong.h5");
  }
  try {
    const io::SetFile file(testing::TempDir() + "garra_wrong.h5");
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kInvalidFile);
    EXPECT_NE(std::string(e.what()).find("first: row 30"), std::string::npos) << e.what();
  }
  std::remove((testing::TempDir() + "garra_wrong.h5").c_str());
  const auto refused = [](const io::Shape& shape, const std::vector<std::int64_t>& first) {
    const std::string path = testing::TempDir() + "garra_first.h5";
    {
      io::Hdf5Writer file;
      const std::vector<double> three(3, 1.0);
      file.write("first", shape, std::span<const std::int64_t>(first));
      file.write("point", {1, 3}, std::span<const double>(three));
      file.write("normal", {1, 3}, std::span<const double>(three));
      file.commit(path);
    }
    try {
      (void)io::SetFile(path).read(0, 1);
      ADD_FAILURE() << "accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::kInvalidFile) << e.what();
    }
    std::remove(path.c_str());
  };
  refused({}, {1});
  refused({1, 2}, {0, 1});
  refused({2}, {0, std::int64_t{1} << 60});
  refused({2}, {0, 2});
  refused({2}, {-1, 1});
  const File file(mixed(40));
  const io::SetFile other(file.path(), "crc32:00000000");
  EXPECT_THROW((void)other.read(0, 1), Error);
  const io::SetFile same(file.path(), io::SetFile::checksum_of(file.path()));
  EXPECT_NO_THROW((void)same.read(0, 1));
}

}  // namespace
}  // namespace garra::grasp
