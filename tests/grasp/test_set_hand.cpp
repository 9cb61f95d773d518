// Sets of grasps with compliant and whole hands: against the grasp study with the same hand, closed forms, and
// themselves on every executor.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "garra/core/error.hpp"
#include "garra/grasp_set.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/sample/fingers.hpp"
#include "grasp/study/grasp_study.hpp"
#include "on_every_executor.hpp"
#include "places.hpp"

namespace garra::grasp {
namespace {

using study::Distribution;

void add(std::vector<double>& to, const Vec3<double>& v) { to.insert(to.end(), v.m, v.m + 3); }
void add(std::vector<double>& to, const Mat3<double>& m) { to.insert(to.end(), m.m, m.m + 9); }

/// A sample of a study as a grasp of its own: the whole hand as it stands there, object axes.
class Exporter {
 public:
  explicit Exporter(const Study& study) : m_(study.model()), joints_(0) {
    for (int j = 0; j < m_.contacts; ++j) joints_ += make_joints(j);
    whole.first = compliant.first = {0};
  }

  void add_sample(std::int64_t sample) {
    const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(sample));
    Inputs<double> in;
    draw_inputs<double>(m_, index, nullptr, in);
    const Pose<double> object = object_pose(m_, in);
    const ObjectLoad<double> load = object_load(m_, in, object);
    mass_matrix_.assign(static_cast<std::size_t>(joints_ * joints_), 0);
    first_joint_ = 0;
    for (int j = 0; j < m_.contacts; ++j) add_finger(finger_task(m_, in, object, j), object, j);
    whole.mass_matrix.insert(whole.mass_matrix.end(), mass_matrix_.begin(), mass_matrix_.end());
    for (GraspSet* s : {&whole, &compliant}) {
      s->first.push_back(s->first.back() + m_.contacts);
      s->mass.push_back(load.body.mass);
      add(s->inertia, transpose(object.R) * load.body.inertia * object.R);
      add(s->gravity, transpose_times(object.R, m_.gravity));
      add(s->wrench, transpose_times(object.R, vec3(load.wrench[0], load.wrench[1], load.wrench[2])));
      add(s->wrench, transpose_times(object.R, vec3(load.wrench[3], load.wrench[4], load.wrench[5])));
    }
  }

  GraspSet whole, compliant;

 private:
  [[nodiscard]] int make_joints(int j) const {
    int joints = 0;
    with_finger_size(m_.finger[j].size, [&](auto, auto size) { joints = finger_chain<size>(m_.finger[j]).joints; });
    return joints;
  }

  void add_contact(const FingerTask<double>& task, const Pose<double>& object, double limit) {
    const Mat3<double> E = transpose(object.R) * task.place.E;
    for (GraspSet* s : {&whole, &compliant}) {
      add(s->point, transpose_times(object.R, task.place.p - object.p));
      add(s->normal, column(E, 0));
      add(s->tangent, column(E, 1));
      s->friction.push_back(task.friction);
      s->force_limit.push_back(limit);
    }
  }

  void add_finger(const FingerTask<double>& task, const Pose<double>& object, int j) {
    add_contact(task, object, m_.force_limit[j]);
    const FingerModel& f = m_.finger[j];
    with_finger_size(f.size, [&](auto kind, auto size) {
      double reached = 0;
      const auto stance = finger_stance<kind, size>(f, task, false, reached);
      const FingerChain<size>& chain = finger_chain<size>(f);
      const auto t = finger_terms<kind>(chain, task.place, FingerState<double, size>{stance.q, stance.qd, false},
                                        TorqueCommand<double, size>{false, {}, task.compensation, task.force});
      const Mat3<double> R_OC = transpose(object.R) * task.place.E;
      const Mat<double, 3, size> J = R_OC * t.Jc;
      for (int r = 0; r < 3; ++r)
        for (int i = 0; i < joints_; ++i) {
          const int own = i - first_joint_;
          whole.jacobian.push_back(own >= 0 && own < chain.joints ? J(r, own) : 0);
        }
      const Vec<double, size> push = transpose_times(t.Jc, transpose_times(task.place.E, task.force));
      for (int i = 0; i < chain.joints; ++i) {
        whole.torque.push_back(task.compensation * t.gravity[i] + push[i]);
        whole.bias.push_back(t.gravity[i]);
        if (m_.torque_limited) whole.torque_limit.push_back(f.torque_limit[i]);
        for (int k = 0; k < chain.joints; ++k)
          mass_matrix_[static_cast<std::size_t>((first_joint_ + i) * joints_ + first_joint_ + k)] = t.M(i, k);
      }
      add(compliant.mobility, R_OC * t.A * transpose(R_OC));
      // What it presses with on a contact that does not move.
      add(compliant.force, -(inverse_spd(t.A).inverse * t.drift));
      first_joint_ += chain.joints;
    });
  }

  const GraspModel& m_;
  int joints_, first_joint_ = 0;
  std::vector<double> mass_matrix_;
};

Outcome classify_outcome(const Ranking& r, std::size_t g) {
  for (int k = 0; k < kOutcomes; ++k)
    if (r.outcomes[g][static_cast<std::size_t>(k)] == 1) return static_cast<Outcome>(k);
  return Outcome::kUnreachable;
}

/// Agrees to ten digits, or both are infinite or not defined.
void expect_same(double found, double expected) {
  if (std::isfinite(expected))
    EXPECT_NEAR(found, expected, 1e-7 * (1 + std::abs(expected)));
  else
    EXPECT_EQ(std::isinf(found), std::isinf(expected));
}

TEST(SetHand, SamplesOfAStudyThatAreGraspsOfASetGetTheStudysStates) {
  const std::string folder = test::source_folder() + "/data/scenarios/";
  const std::string weak = "hand.torque_limit=[10,33.6,5.25,1.05,0.63,0.525]";
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"three_puma_sphere", {weak}},
      {"three_puma_sphere", {weak, "load.compensation={uniform=[0.8,1.2]}", "object.mass={uniform=[0.5,2]}"}},
      {"three_puma_sphere", {"load.wrench={force_radius=\"6 N\",torque_radius=\"0.1 N*m\"}", "held.imbalance=0.5"}},
      {"three_puma_sphere", {"load.compensation={uniform=[0.9,1.1]}", "contacts.force_limit=\"9 N\""}},
      {"four_finger_box", {}},
      {"two_finger_cylinder", {}}};
  std::map<Outcome, int> seen;
  int weakened = 0;  // samples whose outcome motor limits change
  for (const auto& [name, overrides] : cases) {
    SCOPED_TRACE(name);
    const Study study(io::read_scenario(folder + name + ".toml", overrides));
    Exporter exported(study);
    constexpr std::int64_t kSamples = 400;
    for (std::int64_t i = 0; i < kSamples; ++i) exported.add_sample(i);
    SetStudy one;
    one.samples = one.friction_samples = 1;
    const Ranking whole = rank(exported.whole, one), compliant = rank(exported.compliant, one);
    // A compliant hand has no motors.
    const bool limited = !exported.whole.torque_limit.empty();
    EXPECT_EQ(whole.hand, Hand::kWhole);
    EXPECT_EQ(compliant.hand, Hand::kCompliant);
    if (limited) {
      GraspSet strong = exported.whole;
      strong.torque_limit = {};
      const Ranking r = rank(strong, one);
      for (std::size_t i = 0; i < kSamples; ++i)
        weakened += classify_outcome(r, i) != classify_outcome(whole, i) ? 1 : 0;
    }
    for (std::size_t i = 0; i < kSamples; ++i) {
      const Replay expected = study.replay(static_cast<std::int64_t>(i));
      ++seen[expected.outcome];
      ASSERT_EQ(whole.status[i], GraspStatus::kRanked);
      EXPECT_EQ(classify_outcome(whole, i), expected.outcome) << i;
      if (!limited) {
        EXPECT_EQ(classify_outcome(compliant, i), expected.outcome) << i;
      }
      expect_same(whole.margin[i][1], expected.metric[metric("friction_margin")]);
      expect_same(whole.required_friction[i][1], expected.metric[metric("required_friction")]);
      expect_same(whole.resisted_force_radius[i], expected.metric[metric("resisted_force_radius")]);
      if (!limited) expect_same(compliant.margin[i][1], expected.metric[metric("friction_margin")]);
      if (i % 40 > 0) continue;
      const SetReplay r = replay(exported.whole, one, static_cast<std::int64_t>(i), 0);
      EXPECT_EQ(r.outcome, expected.outcome);
      expect_same(r.imbalance, expected.metric[metric("imbalance")]);
      for (std::size_t k = 0; k < expected.c.size(); ++k)
        if (std::isfinite(expected.c[k])) {
          EXPECT_NEAR(r.force[k], expected.c[k], 1e-5);
        }
    }
  }
  for (const Outcome o : {Outcome::kHeld, Outcome::kNotResisted, Outcome::kCommandInsufficient, Outcome::kSlipping})
    EXPECT_GT(seen[o], 20) << to_string(o);
  EXPECT_GT(weakened, 50);
}

/// One motor closes two fingers that face each other along x: 20 N on each of them. `free`: another joint lets both
/// down together, and nothing drives it.
GraspSet parallel_jaw(bool free) {
  GraspSet s;
  s.first = {0, 2};
  s.point = {-0.03, 0, 0, 0.03, 0, 0};
  s.normal = {1, 0, 0, -1, 0, 0};
  s.friction = {0.5, 0.5};
  s.mass = {0.5};
  s.inertia = {2e-4, 0, 0, 0, 2e-4, 0, 0, 0, 2e-4};
  if (free) {
    s.jacobian = {1, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1};
    s.mass_matrix = {0.3, 0, 0, 0.4};
    s.torque = {40, 0};
  } else {
    s.jacobian = {1, 0, 0, -1, 0, 0};
    s.mass_matrix = {0.3};
    s.torque = {40};
  }
  return s;
}

TEST(SetHand, AParallelJawHoldsWhatItsFrictionCarriesAndItsStructureTakesTheRest) {
  SetStudy study;
  study.friction = Distribution::uniform(0.05, 0.25);
  study.friction_is_factor = false;
  study.held_acceleration = 1e-6;  // the border of the closed form, without the tolerance of held
  study.samples = study.friction_samples = 20'000;
  const double needed = 0.5 * 9.81 / (2 * 20);
  const Ranking r = rank(parallel_jaw(false), study);
  const double p = (0.25 - needed) / 0.2;
  EXPECT_NEAR(r.p_held[0], p, 5 * std::sqrt(p * (1 - p) / 20'000));
  EXPECT_EQ(r.p_no_slip[0], r.p_held[0]);
  EXPECT_EQ(r.p_resisted[0], 1);  // by squeezing more
  for (const double mu : r.required_friction[0]) EXPECT_NEAR(mu, needed, 1e-9);
  EXPECT_NEAR(r.margin[0][1], 1 - needed / 0.15, 0.01);
  EXPECT_EQ(r.outcomes[0][static_cast<std::size_t>(Outcome::kHeld)], r.held[0]);
  EXPECT_EQ(r.outcomes[0][static_cast<std::size_t>(Outcome::kSlipping)], 20'000 - r.held[0]);
  // A factor on the motor's torque: held where it is large enough.
  study = {};
  study.friction = Distribution::constant(0.15);
  study.friction_is_factor = false;
  study.command = Distribution::uniform(0.6, 1.2);
  study.samples = 20'000;
  const double least = needed / 0.15, q = (1.2 - least) / 0.6;
  EXPECT_NEAR(rank(parallel_jaw(false), study).p_held[0], q, 5 * std::sqrt(q * (1 - q) / 20'000));
}

/// The share of friction coefficients in [0.05, 0.25] that are at least this.
double above(double least) { return (0.25 - least) / 0.2; }

SetStudy of_any_friction() {
  SetStudy study;
  study.friction = Distribution::uniform(0.05, 0.25);
  study.friction_is_factor = false;
  study.samples = study.friction_samples = 4000;
  return study;
}
constexpr double kFive = 5 * 0.5 / 63;  ///< standard errors of a share of 4000 samples, at most

TEST(SetHand, AMotorBeyondItsLimitIsCutOffThereAndHoldsNoMore) {
  const double weight = 0.5 * 9.81;
  GraspSet s = parallel_jaw(false);
  s.torque_limit = {30};
  const Ranking r = rank(s, of_any_friction());
  EXPECT_NEAR(r.p_held[0], above(weight / 30), kFive);
  EXPECT_NEAR(r.p_no_slip[0], r.p_held[0], 0);
  EXPECT_NEAR(r.p_resisted[0], above(weight / 30), kFive) << "the motor can press no more than it does";
  for (const double mu : r.required_friction[0]) EXPECT_NEAR(mu, weight / 30, 1e-9);
  EXPECT_NEAR(replay(s, {}, 0, 0).command[0], 15, 1e-9);
  // The torque that holds the hand itself is taken from it, or helps.
  for (const double bias : {10.0, -10.0}) {
    s.bias = {bias};
    EXPECT_NEAR(rank(s, of_any_friction()).p_resisted[0], above(weight / (30 - bias)), kFive);
    EXPECT_NEAR(replay(s, {}, 0, 0).command[0], (30 - bias) / 2, 1e-9);
  }
  // Forces in place of torques: the motor is asked for both.
  s.torque = {};
  s.bias = {10};
  s.force = {18, 0, 0, 18, 0, 0};
  EXPECT_NEAR(replay(s, {}, 0, 0).command[0], 10, 1e-9);
  s.bias = {-10};
  EXPECT_NEAR(replay(s, {}, 0, 0).command[0], 18, 1e-9);
  SetStudy firm;
  firm.grip_force_error = Distribution::constant(4);
  EXPECT_NEAR(replay(s, firm, 0, 0).command[0], 20, 1e-9);
  firm.grip_force_error = {};
  firm.command = Distribution::constant(2);
  EXPECT_NEAR(replay(s, firm, 0, 0).command[0], 20, 1e-9);
}

TEST(SetHand, OneMotorThatClosesTwoFingersSharesItsLimitBetweenThem) {
  GraspSet coupled = parallel_jaw(false);
  coupled.wrench = {4, 0, 0, 0, 0, 0};
  GraspSet two = coupled;
  coupled.torque_limit = {40};
  two.jacobian = {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
  two.mass_matrix = {0.3, 0, 0, 0.3};
  two.torque = {20, -20};
  two.torque_limit = {20, 20};
  // 18 N and 22 N with the motor that both share, 16 N and 20 N with two of half its strength. Each finger bears half
  // of the weight, else the object turns.
  EXPECT_NEAR(rank(coupled, of_any_friction()).p_resisted[0], above(0.5 * 9.81 / 36), kFive);
  EXPECT_NEAR(rank(two, of_any_friction()).p_resisted[0], above(0.5 * 9.81 / 32), kFive);
  two.torque_limit[1] = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(rank(two, of_any_friction()).p_resisted[0], above(0.5 * 9.81 / 40), kFive);
}

TEST(SetHand, FingersThatFallWithTheObjectDoNotCarryIt) {
  const Ranking r = rank(parallel_jaw(true), {});
  EXPECT_EQ(r.outcomes[0][static_cast<std::size_t>(Outcome::kCommandInsufficient)], r.samples[0]);
  EXPECT_EQ(r.p_no_slip[0], 1) << "they stick, and fall together";
  EXPECT_EQ(r.p_held[0], 0);
  GraspSet weightless = parallel_jaw(true);
  weightless.gravity = {0, 0, 0};
  EXPECT_EQ(rank(weightless, {}).p_held[0], 1);
}

TEST(SetHand, JointsThatAreCoupledAreNotTwoFingers) {
  // A push along x that one finger alone would yield to: the motor is the other finger's, too, and the pair has no
  // joint that moves both the same way. The structure takes it; two fingers on motors of their own do not.
  GraspSet coupled = parallel_jaw(false);
  coupled.wrench = {12, 0, 0, 0, 0, 0};
  const SetReplay r = replay(coupled, {}, 0, 0);
  EXPECT_EQ(r.outcome, Outcome::kHeld);
  EXPECT_NEAR(r.force[0] - r.force[3], -12, 1e-6);
  EXPECT_NEAR(r.force[0] + r.force[3], 40, 1e-6);
  GraspSet two = coupled;
  two.jacobian = {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
  two.mass_matrix = {0.3, 0, 0, 0.3};
  two.torque = {20, -20};
  EXPECT_EQ(replay(two, {}, 0, 0).outcome, Outcome::kCommandInsufficient);
}

/// Of 2000 samples of a jaw whose two sides press 20 N, each off by up to 2 N: carried where the two errors differ by
/// no more than half of the weight of 0.5 kg.
void expect_carried_unless_errors_differ(const Ranking& r) {
  const double apart = 1 - 0.5 * 0.5 * 9.81 / 4, p = 1 - apart * apart;
  EXPECT_NEAR(r.p_held[0], p, 5 * std::sqrt(p * (1 - p) / 2000));
}

TEST(SetHand, ErrorsOfTheSqueezeAreThoseOfEachContact) {
  GraspSet s = parallel_jaw(false);
  s.jacobian = s.mass_matrix = s.torque = {};
  s.mobility = {0.01, 0.01};
  s.force = {20, 0, 2.4525, 20, 0, -2.4525};  // o = n x t: up at the one, down at the other
  s.tangent = {0, 1, 0, 0, 1, 0};
  SetStudy study;
  study.friction = Distribution::constant(1);
  study.grip_force_error = Distribution::uniform(-2, 2);
  study.samples = 2000;
  const Ranking r = rank(s, study);
  expect_carried_unless_errors_differ(r);
  EXPECT_EQ(r.p_no_slip[0], 1);
  // The object moves with half of what they differ by, the contacts with the rest: forces stay near their mean.
  EXPECT_GT(r.required_friction[0][0], 2.4525 / 22);
  EXPECT_LT(r.required_friction[0][2], 2.4525 / 18);
  EXPECT_LT(r.required_friction[0][0], 2.4525 / 20.5);
  EXPECT_GT(r.required_friction[0][2], 2.4525 / 19.5);
}

/// Grasps of k contacts with hands of more and of fewer joints than they have directions.
GraspSet random_hands(int k, int grasps, int joints_each = 2) {
  GraspSet s;
  s.first = {0};
  const int nq = joints_each * k;
  int drawn = 0;
  const auto number = [&drawn] { return std::fmod(std::sin(12.9898 * ++drawn) * 43758.5453, 1.0); };
  for (int g = 0; g < grasps; ++g) {
    for (int j = 0; j < k; ++j) {
      Vec3<double> n = vec3<double>(number(), number(), number());
      n = (1 / norm(n)) * n;
      add(s.point, -0.05 * n);
      add(s.normal, n);
      s.friction.push_back(0.6 + 0.3 * number());
      s.curvature.insert(s.curvature.end(), {20, 20});
      for (int r = 0; r < 3 * nq; ++r) s.jacobian.push_back(0.1 * number());
    }
    s.first.push_back(s.first.back() + k);
    s.mass.push_back(0.2);
    for (int r = 0; r < nq; ++r) {
      for (int c = 0; c < nq; ++c) s.mass_matrix.push_back(r == c ? 2e-3 : 5e-4);
      s.torque.push_back(0.3 * number());
      s.bias.push_back(0.02 * number());
    }
  }
  return s;
}

/// With motors that some commands, and some wrenches, ask too much of; one joint in five has no limit.
GraspSet random_weak_hands(int k, int grasps) {
  GraspSet s = random_hands(k, grasps);
  for (std::size_t i = 0; i < s.torque.size(); ++i)
    s.torque_limit.push_back(i % 5 == 0 ? std::numeric_limits<double>::infinity()
                                        : 0.15 + 0.1 * std::abs(std::sin(static_cast<double>(i))));
  return s;
}

/// What a replay says was drawn under this name.
double drawn(const SetReplay& r, const std::string& name) {
  for (const auto& [key, value] : r.inputs)
    if (key == name) return value;
  ADD_FAILURE() << name;
  return 0;
}

TEST(SetHand, TorquesThatAreOffAndAGivenWrenchAreAHandWithThoseTorquesAndThatWrench) {
  std::map<Outcome, int> seen;
  for (const bool weak : {false, true}) {
    const GraspSet set = weak ? random_weak_hands(3, 12) : random_hands(3, 12);
    SetStudy off;
    off.friction = Distribution::uniform(0.7, 1.3);
    off.torque_error = Distribution::normal(0.02, 0.1);
    off.wrenches = {{1, 0, 0, 0, 0.01, 0}, {0, -1, 0.5, 0, 0, 0}, {0, 0, 0, 0.02, 0, -0.01}};
    SetStudy exact = off;
    exact.torque_error = Distribution::constant(0);
    exact.wrenches = {};
    for (std::int64_t g = 0; g < set.count(); ++g)
      for (std::int64_t i = 0; i < 5; ++i) {
        const SetReplay r = replay(set, off, g, i);
        GraspSet same = set;
        for (std::int64_t k = 0; k < set.joints(); ++k)
          same.torque[static_cast<std::size_t>(g * set.joints() + k)] +=
              drawn(r, "joint " + std::to_string(k) + " torque error");
        same.wrench.assign(6 * static_cast<std::size_t>(set.count()), 0);
        std::ranges::copy(off.wrenches[static_cast<std::size_t>(drawn(r, "wrench (from 0)"))],
                          same.wrench.begin() + 6 * g);
        const SetReplay expected = replay(same, exact, g, i);
        EXPECT_EQ(r.outcome, expected.outcome) << g << " " << i;
        ++seen[r.outcome];
        for (int k = 0; k < 6; ++k) EXPECT_NEAR(r.wrench[k], expected.wrench[k], 1e-12);
        for (std::size_t k = 0; k < r.command.size(); ++k) expect_same(r.command[k], expected.command[k]);
        expect_same(r.imbalance, expected.imbalance);
        expect_same(r.margin, expected.margin);
      }
  }
  EXPECT_GT(seen.size(), 2u) << "there is something to compare";
}

TEST(SetHand, ErrorsOfTorquesAreThoseOfEachJoint) {
  GraspSet s = parallel_jaw(false);
  s.jacobian = {1, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0};  // each slides along its normal
  s.mass_matrix = {0.3, 0, 0, 0.3};
  s.torque = {20, 20};
  SetStudy study;
  study.friction = Distribution::constant(1);
  study.torque_error = Distribution::uniform(-2, 2);
  study.samples = 2000;
  // The structure carries the weight.
  expect_carried_unless_errors_differ(rank(s, study));
}

TEST(SetHand, MotorLimitsThatAreFarAwayChangeNothing) {
  GraspSet far = random_hands(4, 20), none = far;
  far.torque_limit.assign(far.torque.size(), 1e6);
  SetStudy study;
  study.friction = Distribution::uniform(0.5, 1.5);
  study.force_radius = 1;
  study.samples = 200;
  const Ranking a = rank(far, study), b = rank(none, study);
  EXPECT_EQ(a.outcomes, b.outcomes);
  EXPECT_EQ(a.required_friction, b.required_friction);
  // And near ones do: fewer can be held, and an ideal hand has none.
  const Ranking weak = rank(random_weak_hands(4, 20), study);
  double less = 0;
  for (std::size_t g = 0; g < 20; ++g) less += b.p_resisted[g] - weak.p_resisted[g];
  EXPECT_GT(less, 1);
  for (const std::int64_t unsolved : weak.unsolved) EXPECT_EQ(unsolved, 0);
  study.hand = Hand::kIdeal;
  EXPECT_EQ(rank(random_weak_hands(4, 20), study).held, rank(none, study).held);
}

/// Every contact of a set's is `copies` in the same place, one after another.
GraspSet split(const GraspSet& set, std::int64_t copies) {
  GraspSet out = set;
  const auto repeat = [copies](std::vector<double>& rows, std::size_t width) {
    std::vector<double> all;
    for (std::size_t at = 0; at < rows.size(); at += width)
      for (std::int64_t k = 0; k < copies; ++k)
        all.insert(all.end(), rows.begin() + static_cast<std::ptrdiff_t>(at),
                   rows.begin() + static_cast<std::ptrdiff_t>(at + width));
    rows = all;
  };
  repeat(out.point, 3);
  repeat(out.normal, 3);
  repeat(out.friction, 1);
  repeat(out.curvature, 2);
  repeat(out.jacobian, 3 * static_cast<std::size_t>(set.joints()));
  for (std::int64_t& row : out.first) row *= copies;
  return out;
}

/// With torques that press along the normals, and friction that makes something of it.
GraspSet closing(GraspSet s) {
  const auto nq = static_cast<std::size_t>(s.joints()), k = static_cast<std::size_t>(s.first[1]);
  for (std::size_t i = 0; i < s.torque.size(); ++i) {
    double press = 0;
    for (std::size_t row = 3 * k * (i / nq); row < 3 * k * (i / nq + 1); ++row)
      press += s.jacobian[row * nq + i % nq] * s.normal[row];
    s.torque[i] = 4 * press + 0.1 * s.torque[i];
  }
  for (double& mu : s.friction) mu += 0.7;
  for (double& limit : s.torque_limit) limit *= 1.5;
  return s;
}

TEST(SetHand, AContactThatIsSeveralPointsInOnePlaceIsOneContact) {
  const std::pair<int, int> cases[] = {{2, 2}, {4, 2}, {3, 4}, {4, 3}, {4, 4}, {5, 4}};
  std::map<Outcome, int> seen;
  for (const auto& [k, copies] : cases) {
    SCOPED_TRACE(k * copies);
    SetStudy one;
    one.samples = one.friction_samples = 1;
    for (const bool weak : {false, true}) {
      const int grasps = k * copies > 16 ? 20 : 80;
      const GraspSet few = closing(weak ? random_weak_hands(k, grasps) : random_hands(k, grasps));
      const Ranking a = rank(few, one), b = rank(split(few, copies), one);
      for (std::size_t g = 0; g < static_cast<std::size_t>(grasps); ++g) {
        ASSERT_EQ(b.status[g], GraspStatus::kRanked);
        EXPECT_EQ(b.p_resisted[g], a.p_resisted[g]) << g;
        const Outcome expected = classify_outcome(a, g);
        ++seen[expected];
        // Of several solutions another may be found.
        if (expected == Outcome::kSeveral || expected == Outcome::kUnsolved) continue;
        EXPECT_EQ(classify_outcome(b, g), expected) << g;
        if (g > 2) continue;
        const auto grasp = static_cast<std::int64_t>(g);
        const SetReplay ra = replay(few, one, grasp, 0), rb = replay(split(few, copies), one, grasp, 0);
        ASSERT_EQ(rb.force.size(), static_cast<std::size_t>(3 * k * copies));
        EXPECT_NEAR(rb.imbalance, ra.imbalance, 1e-6 * (1 + ra.imbalance));
        for (std::size_t j = 0; j < static_cast<std::size_t>(k * copies); ++j)
          EXPECT_EQ(rb.state[j], ra.state[j / static_cast<std::size_t>(copies)]);
      }
    }
  }
  for (const Outcome o : {Outcome::kHeld, Outcome::kNotResisted, Outcome::kSlipping})
    EXPECT_GT(seen[o], 10) << to_string(o);
}

// Fewer joints than contacts have directions: forces are not unique, and Newton's restarts alone leaves 35 and 64 of
// these 2,000 samples each.
TEST(SetHand, WhoseManyContactsAreRedundantLeavesNoSampleUnsolved) {
  for (const int contacts : {9, 12}) {
    SCOPED_TRACE(contacts);
    SetStudy study;
    study.friction = Distribution::uniform(0.5, 1);
    study.force_radius = 2;
    study.samples = 100;
    study.check_uniqueness = false;
    std::int64_t unsolved = 0;
    for (const std::int64_t n : rank(closing(random_hands(contacts, 20)), study).unsolved) unsolved += n;
    EXPECT_EQ(unsolved, 0);
  }
}

TEST(SetHand, EveryExecutorGivesTheSameBits) {
  struct Case {
    int contacts;
    bool weak;
    int joints_each = 2;
    bool padded = false;  ///< A kernel pads these contacts, so that its iterations are not those of the processor.
  };
  const Case cases[] = {{1, false},          {2, false},     {3, false},          {5, false},
                        {8, false},          {2, true},      {5, true},           {16, true},
                        {16, false, 2},      {32, false, 1}, {10, true, 2, true}, {10, false, 3, true},
                        {17, false, 1, true}};
  for (const auto& [k, weak, joints_each, padded] : cases) {
    SCOPED_TRACE(k);
    const GraspSet s = weak ? random_weak_hands(k, 3) : random_hands(k, 3, joints_each);
    const int samples = test::gpu_here() ? (k > 8 ? 20 : 40) : 300;
    test::expect_same_on(padded ? test::other_host_executors() : test::other_executors(), [&](const Device& d) {
      SetStudy study;
      study.friction = Distribution::uniform(0.7, 1.3);
      study.per_contact_friction_factor = Distribution::uniform(0.9, 1.1);
      study.mass = Distribution::normal(1, 0.1).truncated(0.5, 2);
      study.com_radius = 0.003;
      study.slide_t = study.slide_o = Distribution::normal(0, 0.001);
      study.tilt = Distribution::cone(0.1);
      study.force_radius = 1;
      study.random_gravity_direction = true;
      study.command = Distribution::uniform(0.8, 1.2);
      study.grip_force_error = Distribution::uniform(-1, 1);
      study.torque_error = Distribution::normal(0, 0.02);
      study.wrenches = {{0.2, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0.01, 0}};
      study.samples = samples;
      study.friction_samples = 40;
      const Ranking r = rank(s, study, d);
      std::vector<double> numbers;
      for (const auto& three : r.margin) numbers.insert(numbers.end(), three.begin(), three.end());
      std::vector<std::int64_t> outcomes;
      for (const auto& n : r.outcomes) outcomes.insert(outcomes.end(), n.begin(), n.end());
      return test::Answer()
          .add("held", r.held)
          .add("outcomes", outcomes)
          .add("margin", numbers)
          .add("resisted_force_radius", r.resisted_force_radius)
          .add("p_no_slip", r.p_no_slip)
          .add("limiting_contact", r.limiting_contact)
          .add("rank", r.rank);
    });
  }
}

TEST(SetHand, SamplesOfAGraspAreThoseThatItsRankCountsAndItsReplayShows) {
  const GraspSet s = random_hands(3, 1);
  SetStudy study = of_any_friction();
  study.samples = 500;
  study.mass = Distribution::uniform(0.5, 2);
  study.force_radius = 1;
  const Ranking r = rank(s, study);
  const std::vector<double> rows = samples(s, study);
  constexpr std::size_t kWidth = kSampleNumbers + 3 * kSampleContactNumbers;
  ASSERT_EQ(rows.size(), 500 * kWidth);
  std::array<std::int64_t, kOutcomes> outcomes{};
  for (std::size_t k = 0; k < 500; ++k) ++outcomes[static_cast<std::size_t>(rows[k * kWidth])];
  EXPECT_EQ(outcomes, r.outcomes[0]);
  for (const std::size_t k : {0, 77, 499}) {
    const SetReplay one = replay(s, study, 0, static_cast<std::int64_t>(k));
    const double* row = rows.data() + k * kWidth;
    EXPECT_EQ(static_cast<double>(static_cast<int>(one.outcome)), row[0]);
    EXPECT_EQ(one.mass, row[1]);
    EXPECT_EQ(one.residual, row[2]);
    for (std::size_t j = 0; j < 3; ++j) {
      const double* contact = row + kSampleNumbers + j * kSampleContactNumbers;
      EXPECT_EQ(one.friction[j], contact[0]);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(one.force[3 * j + c], contact[2 + c]);
    }
  }
  study.hand = Hand::kIdeal;
  EXPECT_THROW((void)samples(s, study), Error);
}

TEST(SetHand, ABadHandSaysSoAndTheOthersGoOn) {
  GraspSet s = random_hands(3, 5);
  const double nan = std::nan("");
  s.mass_matrix[36] = -1;            // of grasp 1: not positive definite
  s.mass_matrix[2 * 36 + 1] = 5e-3;  // of grasp 2: not symmetric
  s.jacobian[3 * 54] = nan;          // of grasp 3
  s.mass[4] = 0;                     // what has no mass has no acceleration
  const Ranking r = rank(s, {});
  EXPECT_EQ(r.status[0], GraspStatus::kRanked);
  EXPECT_EQ(r.status[1], GraspStatus::kBadHand);
  EXPECT_EQ(r.status[2], GraspStatus::kBadHand);
  EXPECT_EQ(r.status[3], GraspStatus::kNotFinite);
  EXPECT_EQ(r.status[4], GraspStatus::kBadMass);
  EXPECT_EQ(r.rank[0], 1);
  EXPECT_TRUE(std::isnan(r.p_no_slip[1]));
  // Neighbors of a bad one are what they are without it.
  const Ranking alone = rank(random_hands(3, 1), {});
  EXPECT_EQ(alone.held[0], r.held[0]);
  // An ideal hand does not look at them.
  SetStudy ideal;
  ideal.hand = Hand::kIdeal;
  EXPECT_EQ(rank(s, ideal).status[1], GraspStatus::kRanked);
  GraspSet many = random_hands(33, 1);
  EXPECT_EQ(rank(many, {}).status[0], GraspStatus::kTooManyContacts);
  GraspSet soft = parallel_jaw(false);
  soft.jacobian = soft.mass_matrix = soft.torque = {};
  soft.mobility = {0.01, -0.01};
  soft.force = {20, 0, 0, 20, 0, 0};
  EXPECT_EQ(rank(soft, {}).status[0], GraspStatus::kBadHand);
  GraspSet weak = random_weak_hands(3, 3);
  weak.torque_limit[6] = 0;
  weak.torque_limit[12] = nan;
  const std::vector<GraspStatus> expected = {GraspStatus::kRanked, GraspStatus::kBadHand, GraspStatus::kNotFinite};
  EXPECT_EQ(rank(weak, {}).status, expected);
}

/// What rank() says of the set.
std::string refusal(const GraspSet& set, const SetStudy& study = {}) {
  try {
    (void)rank(set, study);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

TEST(SetHand, ArraysThatDoNotGoTogetherAreRefusedByName) {
  GraspSet s = parallel_jaw(false);
  s.mass_matrix = {};
  EXPECT_NE(refusal(s).find("mass_matrix is missing"), std::string::npos);
  s = parallel_jaw(false);
  s.torque = {1, 2};
  EXPECT_NE(refusal(s).find("torque has 2 numbers, not 1"), std::string::npos);
  s = parallel_jaw(false);
  s.torque_limit = {1, 2};
  EXPECT_NE(refusal(s).find("torque_limit has 2 numbers, not 1"), std::string::npos);
  s = random_hands(17, 1);
  s.torque_limit.assign(34, 1.0);
  EXPECT_NE(refusal(s).find("torque_limit: 34 joints of grasp 0 have one"), std::string::npos);
  s = parallel_jaw(false);
  s.force = {20, 0, 0, 20, 0, 0};
  EXPECT_NE(refusal(s).find("torque and force"), std::string::npos);
  s.torque = {};
  EXPECT_EQ(refusal(s), "");
  s.force[4] = 1;
  EXPECT_NE(refusal(s).find("force: row 1"), std::string::npos);
  s = parallel_jaw(false);
  s.mobility = {1, 1};
  EXPECT_NE(refusal(s).find("mobility and jacobian"), std::string::npos);
  SetStudy compliant;
  compliant.hand = Hand::kCompliant;
  EXPECT_NE(refusal(s, compliant).find("force is missing"), std::string::npos);
  EXPECT_THROW((void)replay(parallel_jaw(false), {}, 1, 0), Error);
}

}  // namespace
}  // namespace garra::grasp
