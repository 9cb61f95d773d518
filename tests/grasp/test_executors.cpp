// Hands of all numbers of contacts and all sizes of fingers on every executor: each is an instance, and a kernel, of
// its own. Few samples of each, since a simulated GPU takes its time.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../../bench/grasp_time_cases.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/study/grasp_study.hpp"
#include "grasp/time/time_study.hpp"
#include "rails.hpp"
#include "study/summary.hpp"
#include "study_answer.hpp"

namespace garra::grasp {
namespace {

std::int64_t count(const Study& study, const study::Total& total, Outcome outcome) {
  return study::at(total, study.layout().outcome + static_cast<int>(outcome));
}

/// On every executor, and among its samples are held ones and others that `lost` names.
void expect_same_and_mixed(const Scenario& s, Outcome lost) {
  const Study study(s);
  test::expect_study_same_on_every_executor(study, {1024});
  const study::Total total = test::total_of(study, test::kReference, 1024);
  EXPECT_GT(count(study, total, Outcome::kHeld), s.plan.samples / 10);
  EXPECT_GT(count(study, total, lost), s.plan.samples / 10);
  EXPECT_EQ(count(study, total, Outcome::kUnsolved), 0);
}

/// The same of trajectories; `lost` is the word of a summary.
void expect_same_motion_and_mixed(const Scenario& s, const char* lost) {
  const TimeStudy study(s);
  test::expect_study_same_on_every_executor(study, {1024});
  const study::Total total = test::total_of(study, test::kReference, 1024);
  const auto outcomes = nlohmann::json::parse(study.summary(total, "samples"))["outcomes"];
  EXPECT_GT(outcomes["held"], s.plan.samples / 10);
  EXPECT_GT(outcomes[lost], s.plan.samples / 10);
  EXPECT_EQ(study::unsolved_share(study.decisions(total)), 0);
}

constexpr double kWeight = 9.81;  ///< of the 1 kg that the hands on rails are made for [N]

/// Fingers on rails whose command carries 1 kg; what they hold weighs more or less.
Scenario on_rails(const std::vector<test::Touching>& fingers) {
  Scenario s = test::body_held_by(fingers, 1);
  s.time.reset();
  s.gravity = {{0, 0, -9.81}};
  s.object.mass = Distribution::uniform(0.9, 1.1);
  s.nominal_mass = 1;
  s.plan.samples = 40;
  s.plan.keep = "all";
  test::set_friction(s, 0.5);
  return s;
}

/// A body that stands on the tip of one finger.
Scenario pillar() { return on_rails({{{{0, 0, -0.1}}, {{0, 0, 1}}, 0, 2}}); }

/// A body between the tips of two.
Scenario pinch() {
  Scenario s = on_rails({{{{0.1, 0, 0}}, {{-1, 0, 0}}, 0, 2}, {{{-0.1, 0, 0}}, {{1, 0, 0}}, 0, 2}});
  s.grip_force = Distribution::constant(30);
  return s;
}

TEST(HandsOfAllSizes, OfOneContactCarryABodyUpToItsLimitOnEveryExecutor) {
  Scenario s = pillar();
  s.contacts[0].force_limit = kWeight;
  expect_same_and_mixed(s, Outcome::kNotResisted);
}

/// More blocks than a ranking has places, the last one not whole: a GPU looks for the ten among the least of each.
constexpr std::int64_t kManyBlocks = 12 * study::kBlock + 7;

TEST(ManyBlocks, HaveTheSameRankingsAndFailuresInOneBatchOnEveryExecutor) {
  Scenario s = pillar();
  s.contacts[0].force_limit = kWeight;
  s.plan.samples = kManyBlocks;
  s.plan.keep = "failures";
  const Study study(s);
  test::expect_study_same_on_every_executor(study, {kManyBlocks, 4 * study::kBlock});
  const study::Total total = test::total_of(study, test::kReference, kManyBlocks);
  EXPECT_EQ(total.closest.list().size(), study::Ranking::kLimit);
  EXPECT_GT(total.kept.size() / study.shape().row, 1024u);
}

TEST(ManyBlocks, OfEqualSamplesRankTheFirstOnesOnEveryExecutor) {
  Scenario s = pillar();
  s.object.mass = Distribution::constant(1);
  s.plan.samples = kManyBlocks;
  s.plan.keep = "none";
  const Study study(s);
  test::expect_study_same_on_every_executor(study, {kManyBlocks});
  const study::Total total = test::total_of(study, test::kReference, kManyBlocks);
  for (const study::Ranking* ranking : {&total.closest, &total.worst}) {
    ASSERT_EQ(ranking->list().size(), study::Ranking::kLimit);
    for (std::size_t k = 0; k < study::Ranking::kLimit; ++k)
      EXPECT_EQ(ranking->list()[k].sample, static_cast<std::int64_t>(k));
  }
}

TEST(HandsOfAllSizes, OfOneAndTwoContactsCarryABodyUpToTheirMotorsLimitsOnEveryExecutor) {
  Scenario one = pillar(), two = pinch();
  one.fingers[0].torque_limit = {kWeight, 1e3, 1e3};  // of the rails along z, y and x
  for (Finger& f : two.fingers) f.torque_limit = {kWeight / 2, 1e3, 1e3};
  expect_same_and_mixed(one, Outcome::kNotResisted);
  expect_same_and_mixed(two, Outcome::kNotResisted);
}

/// A sphere between n PUMA arms, at an instant.
Scenario ring(int n) {
  Scenario s = bench::puma_ring(n, 1e-3);
  s.time.reset();
  s.plan.samples = 24;
  s.plan.keep = "all";
  return s;
}

TEST(HandsOfAllSizes, OfFiveToEightContactsSlipAlikeOnEveryExecutor) {
  for (int n = 5; n <= kMaxContacts; ++n) {
    SCOPED_TRACE(n);
    Scenario s = ring(n);
    const double needed = 9.81 / (15 * n);  // of each contact: its share of the weight over the squeeze
    for (Contact& c : s.contacts) c.friction = Distribution::uniform(0.9 * needed, 1.9 * needed);
    s.held_acceleration = 1e-6;  // what slips is not held, however slowly
    expect_same_and_mixed(s, Outcome::kSlipping);
  }
}

/// n PUMAs whose motors can carry some 0.4 kg each besides themselves.
Scenario weak_arms(int n) {
  Scenario s = ring(n);
  for (Contact& c : s.contacts) c.friction = Distribution::uniform(0.8, 1.2);
  for (Finger& f : s.fingers) f.torque_limit = {10, 33, 5.25, 1.05, 0.63, 0.525};
  s.object.mass = Distribution::uniform(0.2 * n, 0.6 * n);
  s.held_imbalance = 10;  // all that stick are held
  return s;
}

TEST(HandsOfAllSizes, OfArmsWithLimitedTorquesCarryAlikeOnEveryExecutor) {
  for (int n = 3; n <= kMaxContacts; ++n) {
    SCOPED_TRACE(n);
    expect_same_and_mixed(weak_arms(n), Outcome::kNotResisted);
  }
}

TEST(HandsOfAllSizes, WhatTorqueLimitsAllowIsDecidedForEverySampleAndTheSamePerArm) {
  // Each arm has its share of the weight: however many there are, the same samples are too heavy.
  std::int64_t too_heavy = 0;
  for (int n = 3; n <= kMaxContacts; ++n) {
    SCOPED_TRACE(n);
    Scenario s = weak_arms(n);
    s.plan.samples = 1024;
    s.plan.keep = "none";
    const Study study(s);
    const study::Total total = test::total_of(study, {Executor::kLanes, 0, 0}, 1024);
    EXPECT_EQ(count(study, total, Outcome::kUnsolved), 0);
    const std::int64_t lost = count(study, total, Outcome::kNotResisted);
    EXPECT_EQ(lost, n == 3 ? lost : too_heavy);
    too_heavy = lost;
  }
  EXPECT_GT(too_heavy, 256);
  EXPECT_LT(too_heavy, 768);
}

/// A bottle between four small fingers, with so many joints more at their fingertips: one finger of each size that is
/// not an arm of six revolute joints, and one of sixteen joints.
Scenario four_sizes() {
  Scenario s = bench::four_small_fingers(1e-3);
  const std::size_t joints[4] = {4, 7, 10, 16};
  for (std::size_t j = 0; j < 4; ++j) {
    chain::DhJoint tip;
    tip.alpha = 0.5;
    tip.link.body.mass = 1e-3;
    tip.link.armature = 1e-5;
    s.fingers[j].joints.resize(joints[j], tip);
  }
  s.plan.keep = "all";
  return s;
}

TEST(HandsOfAllSizes, OfFingersOfAnyNumberOfJointsMoveAlikeOnEveryExecutor) {
  Scenario s = four_sizes();
  s.time->duration = 0.02;
  s.time->slip = 1e-5;
  s.time->friction = {0.05, 0.6};
  s.plan.samples = 20;
  expect_same_motion_and_mixed(s, "slipped");
}

TEST(HandsOfAllSizes, OfFingersOfAnyNumberOfJointsWithLimitedTorquesCarryAlikeOnEveryExecutor) {
  Scenario s = four_sizes();
  s.time.reset();
  s.plan.samples = 40;
  s.held_imbalance = 10;
  for (Finger& f : s.fingers) f.torque_limit.assign(f.joints.size(), 0.08);
  expect_same_and_mixed(s, Outcome::kNotResisted);
}

TEST(HandsOfAllSizes, OfOneContactMoveAlikeOnEveryExecutor) {
  Scenario s = pillar();
  s.force_magnitude = Distribution::uniform(0, 20);  // of any direction: aside there is nothing that holds the body
  s.time = InTime{};
  s.time->duration = 0.02;
  s.time->drop = 5e-4;
  s.time->instants = 3;
  expect_same_motion_and_mixed(s, "dropped");
}

}  // namespace
}  // namespace garra::grasp
