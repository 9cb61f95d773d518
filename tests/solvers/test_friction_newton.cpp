// The contact solver against closed forms, reference data, manufactured problems and its own promises.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string_view>

#include "answers.hpp"
#include "contact/batch/solve_batch.hpp"
#include "contact/problems/classes.hpp"
#include "garra/contact.hpp"
#include "garra/solvers/friction_newton.hpp"
#include "reference.hpp"
#include "same_bits.hpp"

namespace garra {
namespace {

using test::same_bits;

using contact::Problems;
using contact::Solutions;

const Device kScalar{Executor::kScalar, 1, 0};
const Device kLanes{Executor::kLanes, 2, 0};

Problems one_contact(double an, double at, Vec3<double> b, double mu) {
  return {1, 1, {an, 0, 0, 0, at, 0, 0, 0, at}, {b[0], b[1], b[2]}, {mu}};
}

double solved_share(const Solutions& s) {
  std::int64_t solved = 0;
  for (const Status status : s.status) solved += status == Status::kConverged;
  return static_cast<double>(solved) / static_cast<double>(s.count);
}

TEST(OneContact, WithDiagonalMatrixFollowsTheClosedForm) {
  std::mt19937_64 g(7);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int k = 0; k < 500; ++k) {
    const double an = 1 + u(g) * 0.9, at = 1 + u(g) * 0.9, mu = 0.5 + 0.5 * u(g);
    const Vec3<double> b{{u(g), u(g), u(g)}};
    const Solutions s = contact::solve(one_contact(an, at, b, mu), {}, kScalar);
    const double cn = b[0] >= 0 ? 0 : -b[0] / an;
    const double bt = std::hypot(b[1], b[2]);
    const double friction = std::min(bt / at, mu * cn);  // stick needs |b_T| / a_t, slip gives mu c_n
    ASSERT_EQ(s.status[0], Status::kConverged);
    EXPECT_NEAR(s.c[0], cn, 1e-7);
    EXPECT_NEAR(s.c[1], -friction * b[1] / bt, 1e-7);
    EXPECT_NEAR(s.c[2], -friction * b[2] / bt, 1e-7);
  }
}

// Table 4 of the papers (mu = 0.1): with b := a - A c the solver must return the printed forces, to the accuracy that
// the print has (reference: 7e-5 in c, 8e-4 in a), whatever the hand's matrix.
TEST(Table4, IsReturnedForAnyHand) {
  const double c[9] = {1.2414, -8.3648e-2, 9.1829e-2, 1.7054, 1.54276e-1, 7.2654e-2, 2.1572, 1.8465e-1, 1.1152e-1};
  const double a[9] = {0, 8.8764e-1, -9.7443e-1, 0, -2.7354, -1.2882, 0, -2.1172, -1.2787};
  const auto chain = test::read_reference_json("grasp/chain.json");
  int hands = 0;
  for (const auto& hand : chain) {
    if (hand.at("n") != 3) continue;
    Problems p{3, 1, {}, std::vector<double>(a, a + 9), {0.1, 0.1, 0.1}};
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 9; ++j) {
        p.A.push_back(hand.at("A")[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]);
        p.b[static_cast<std::size_t>(i)] -= p.A.back() * c[j];
      }
    const Solutions s = contact::solve(p, {}, kLanes);
    ASSERT_EQ(s.status[0], Status::kConverged);
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_NEAR(s.c[i], c[i], 1e-3) << "hand " << hand.at("id");
      EXPECT_NEAR(s.a[i], a[i], 3e-3) << "hand " << hand.at("id");
    }
    ++hands;
  }
  EXPECT_GE(hands, 10);
}

// The certificate itself is checked on the identities that the printed digits of Table 4 satisfy.
TEST(Table4, PrintedDigitsSatisfyTheIdentitiesOfTheErrata) {
  const Vec<double, 9> c{{1.2414, -8.3648e-2, 9.1829e-2, 1.7054, 1.54276e-1, 7.2654e-2, 2.1572, 1.8465e-1, 1.1152e-1}};
  const Vec<double, 9> a{{0, 8.8764e-1, -9.7443e-1, 0, -2.7354, -1.2882, 0, -2.1172, -1.2787}};
  const Vec3<double> mu{{0.1, 0.1, 0.1}};
  for (int j = 0; j < 3; ++j) {
    const double ct = std::hypot(c[3 * j + 1], c[3 * j + 2]), at = std::hypot(a[3 * j + 1], a[3 * j + 2]);
    const double sine = (c[3 * j + 1] * a[3 * j + 2] - c[3 * j + 2] * a[3 * j + 1]) / (ct * at);
    EXPECT_LE(std::abs(sine), 2e-5);                       // friction opposes the acceleration
    EXPECT_LE(std::abs(ct / (0.1 * c[3 * j]) - 1), 7e-4);  // on the cone, to 6e-4 only
  }
  EXPECT_LT((solvers::papers_merit<double, 3>(mu, c, a)), 1e-6);
}

/// How far forces c of problem k are from the law of contact (data/reference/README.md), relative to the forces and
/// accelerations that there are or that b asks for; accelerations are computed anew in long double.
double broken_law(const Problems& p, std::size_t k, const double* c) {
  const auto rows = static_cast<std::size_t>(3 * p.contacts);
  long double mobility = 0, size_a = 0, worst_c = 0, worst_a = 0, worst_both = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    mobility = std::max(mobility, static_cast<long double>(p.A[(k * rows + i) * rows + i]));
    size_a = std::max(size_a, std::abs(static_cast<long double>(p.b[k * rows + i])));
  }
  long double size_c = size_a / mobility;
  for (std::size_t j = 0; j < rows; j += 3) {
    long double a[3];
    for (std::size_t i = 0; i < 3; ++i) {
      a[i] = p.b[k * rows + j + i];
      for (std::size_t m = 0; m < rows; ++m)
        a[i] += static_cast<long double>(p.A[(k * rows + j + i) * rows + m]) * c[m];
      size_a = std::max(size_a, std::abs(a[i]));
      size_c = std::max(size_c, std::abs(static_cast<long double>(c[j + i])));
    }
    const long double mu = p.mu[(k * rows + j) / 3], cn = c[j], ct = std::hypot(c[j + 1], c[j + 2]),
                      at = std::hypot(a[1], a[2]);
    worst_c = std::max({worst_c, -cn, ct - mu * cn});
    worst_a = std::max(worst_a, -a[0]);
    // One of the two is zero; friction at its limit is against the acceleration.
    worst_both = std::max({worst_both, std::abs(cn * a[0]), std::abs(mu * cn * a[1] + at * c[j + 1]),
                           std::abs(mu * cn * a[2] + at * c[j + 2])});
  }
  return static_cast<double>(std::max({worst_c / size_c, worst_a / size_a, worst_both / (size_c * size_a)}));
}

// The file holds another solver's forces, to a residual of 1e-12. Where a problem has several solutions (about 6 in
// 10,000) ours may be another one; then it has to obey the law all the same, which every answer is checked by.
class ReferenceRandom : public testing::TestWithParam<int> {};
TEST_P(ReferenceRandom, EveryStoredProblemHasTheForcesOfTheOtherSolver) {
  const int n = GetParam();
  const std::string file = "contact/random_n" + std::to_string(n) + ".h5";
  const auto A = test::read_reference(file, "A"), b = test::read_reference(file, "b"),
             mu = test::read_reference(file, "mu");
  const auto c = test::read_reference(file, "c"), a = test::read_reference(file, "a");
  const Problems p{n, static_cast<std::int64_t>(A.count()), A.values, b.values, mu.values};
  contact::Options options;
  options.tolerance = 1e-12;  // as the other solver
  const Solutions s = contact::solve(p, options, kLanes);
  EXPECT_EQ(solved_share(s), 1.0);
  int other = 0;
  const std::size_t each = c.stride();
  for (std::size_t k = 0; k < A.count(); ++k) {
    double size_c = 0, size_a = 0, off_c = 0, off_a = 0;
    for (std::size_t i = k * each; i < (k + 1) * each; ++i) {
      size_c = std::max(size_c, std::abs(c.values[i]));
      size_a = std::max({size_a, std::abs(a.values[i]), std::abs(b.values[i])});
      off_c = std::max(off_c, std::abs(s.c[i] - c.values[i]));
      off_a = std::max(off_a, std::abs(s.a[i] - a.values[i]));
    }
    EXPECT_LE(broken_law(p, k, c.item(k)), 1e-10) << "the reference's problem " << k;
    EXPECT_LE(broken_law(p, k, &s.c[k * each]), 1e-10) << "problem " << k;
    // Accelerations are as exact as the residual; forces feel the condition of A, up to 1e4 here.
    other += !(off_c <= 1e-8 * size_c && off_a <= 1e-10 * size_a);
  }
  EXPECT_LE(other, 1);
  test::expect_same_on_every_executor([&](const Device& d) { return test::make_answer(contact::solve(p, {}, d)); });
}
INSTANTIATE_TEST_SUITE_P(Contacts, ReferenceRandom, testing::Values(3, 4, 8));

TEST(GraspProblems, AgreeWithTheReferenceSolutionsWhereTheyAreUnique) {
  int compared = 0;
  for (const auto& e : test::read_reference_json("grasp/problems.json")) {
    bool all_roll = true;
    for (const bool roll : e.at("roll")) all_roll = all_roll && roll;
    if (!all_roll) continue;  // sliding contacts come with the mixed solver
    const int n = e.at("n");
    Problems p{n, 1, {}, e.at("b"), e.at("mu")};
    for (const auto& row : e.at("A"))
      for (const double v : row) p.A.push_back(v);
    contact::Options options;
    options.tolerance = 1e-12;  // forces are compared at 1e-9
    const Solutions s = contact::solve(p, options, kLanes);
    ASSERT_EQ(s.status[0], Status::kConverged) << e.at("id");
    if (e.at("n_distinct_found") > 1) continue;
    double size = 1, worst = 0;
    for (std::size_t i = 0; i < s.c.size(); ++i) {
      size = std::max(size, 1 + std::abs(e.at("c")[i].get<double>()));
      worst = std::max(worst, std::abs(s.c[i] - e.at("c")[i].get<double>()));
    }
    EXPECT_LE(worst, 1e-9 * size) << "problem " << e.at("id");
    ++compared;
  }
  EXPECT_GE(compared, 70);
}

struct ClassCase {
  const char* name;
  bench::ManufacturedClass kind;
  double share;
};
class Manufactured : public testing::TestWithParam<ClassCase> {};
TEST_P(Manufactured, SolvedShareIsAsPromisedAndEveryExecutorGivesTheSameBits) {
  const auto made = bench::manufactured(GetParam().kind, bench::Mode::mixed, {3, 20000, 1});
  EXPECT_GE(solved_share(contact::solve(made.problems, {}, kLanes)), GetParam().share);
  EXPECT_GE(solved_share(contact::solve(made.problems, {.full_effort = true}, kLanes)), 0.9999);
  test::expect_same_on_every_executor(
      [&](const Device& d) { return test::make_answer(contact::solve(made.problems, {}, d)); });
}
INSTANTIATE_TEST_SUITE_P(Classes, Manufactured,
                         testing::Values(ClassCase{"compliant", bench::ManufacturedClass::compliant, 0.9999},
                                         ClassCase{"rigid", bench::ManufacturedClass::rigid, 0.997}),
                         [](const auto& info) { return info.param.name; });

class BatchSize : public testing::TestWithParam<std::int64_t> {};
TEST_P(BatchSize, DoesNotChangeTheBitsOfAnAnswer) {
  const std::int64_t n = GetParam();
  const Problems all = bench::random_grasps({3, 1003, 0});
  Problems p{3,
             n,
             {all.A.begin(), all.A.begin() + n * 81},
             {all.b.begin(), all.b.begin() + n * 9},
             {all.mu.begin(), all.mu.begin() + n * 3}};
  const Solutions whole = contact::solve(all, {}, kLanes), part = contact::solve(p, {}, kLanes);
  EXPECT_EQ(part.count, n);
  EXPECT_TRUE(same_bits(part.c, {whole.c.begin(), whole.c.begin() + n * 9}));
}
INSTANTIATE_TEST_SUITE_P(Edges, BatchSize, testing::Values(0, 1, 7, 8, 9, 31, 32, 33, 255, 256, 257, 1003));

TEST(Neighbors, OfAPoisonedProblemKeepTheirBits) {
  const Problems clean = bench::random_grasps({3, 40, 0});
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  Problems bad = clean;
  bad.A[5 * 81 + 3] = nan;
  bad.b[12 * 9] = inf;
  bad.mu[20 * 3 + 1] = -0.1;
  bad.mu[21 * 3] = nan;
  const Solutions a = contact::solve(clean, {}, kLanes), b = contact::solve(bad, {}, kLanes);
  for (std::size_t i = 0; i < 40; ++i) {
    const bool poisoned = i == 5 || i == 12 || i == 20 || i == 21;
    EXPECT_EQ(b.status[i], poisoned ? Status::kInvalidInput : Status::kConverged) << i;
    for (std::size_t k = 9 * i; k < 9 * i + 9; ++k) {
      if (poisoned)
        EXPECT_TRUE(std::isnan(b.c[k]));
      else
        EXPECT_EQ(std::memcmp(&a.c[k], &b.c[k], 8), 0);
    }
  }
}

TEST(Degenerate, FiniteProblemsGetAStatusAndAFiniteResidual) {
  std::vector<std::pair<const char*, Problems>> cases;
  Problems base = bench::random_grasps({3, 1, 3});
  auto add = [&](const char* name, auto change) {
    Problems p = base;
    change(p);
    cases.emplace_back(name, p);
  };
  add("no friction", [](Problems& p) { std::fill(p.mu.begin(), p.mu.end(), 0.0); });
  add("friction 10", [](Problems& p) { std::fill(p.mu.begin(), p.mu.end(), 10.0); });
  add("A = 0", [](Problems& p) { std::fill(p.A.begin(), p.A.end(), 0.0); });
  add("b = 0", [](Problems& p) { std::fill(p.b.begin(), p.b.end(), 0.0); });
  add("huge", [](Problems& p) {
    for (double& v : p.A) v *= 1e100;
  });
  add("tiny", [](Problems& p) {
    for (double& v : p.b) v *= 1e-100;
  });
  add("contact far away", [](Problems& p) {
    for (int i = 0; i < 9; ++i) p.A[static_cast<std::size_t>(9 * i + 4)] *= 1e8;
  });
  add("rank one", [](Problems& p) { std::fill(p.A.begin(), p.A.end(), 1.0); });
  add("negative definite", [](Problems& p) {
    for (double& v : p.A) v = -v;
  });
  for (const auto& [name, p] : cases)
    for (const Device& device : {kScalar, kLanes}) {
      const Solutions s = contact::solve(p, {}, device);
      EXPECT_TRUE(std::isfinite(s.residual[0])) << name;
      EXPECT_EQ(s.status[0] == Status::kInvalidInput, std::string_view(name) == "negative definite") << name;
      if (s.status[0] != Status::kConverged) continue;
      EXPECT_LE(s.residual[0], 1e-8) << name;
      for (const double c : s.c) EXPECT_TRUE(std::isfinite(c)) << name;
    }
}

TEST(Degenerate, ContactThatNothingMovesAndThatApproachesHasNoSolution) {
  Problems p = one_contact(0, 0, {{-1, 0, 0}}, 0.5);
  EXPECT_EQ(contact::solve(p, {}, kScalar).status[0], Status::kNoSolution);
  EXPECT_EQ(contact::solve(p, {}, kLanes).status[0], Status::kNoSolution);
  p.b[0] = 1;  // separating: no force is needed
  const Solutions s = contact::solve(p, {}, kLanes);
  EXPECT_EQ(s.status[0], Status::kConverged);
  EXPECT_EQ(s.c[0], 0);
}

// Two opposed contacts of a rigid body that both approach: only an infinite internal force would stop them. The
// relative residual alone would call a large enough force a solution.
TEST(Degenerate, ForceThatRunsAwayIsNotCalledConverged) {
  Problems p{2, 1, std::vector<double>(36, 0.0), {-1, 0, 0, -1, 0, 0}, {0.0, 0.0}};
  for (std::size_t i = 0; i < 6; ++i) p.A[7 * i] = 1;
  p.A[3] = p.A[18] = -1;  // a_n1 = c1 - c2 - 1, a_n2 = c2 - c1 - 1: their sum is -2 whatever c
  for (const Device& device : {kScalar, kLanes}) {
    const Solutions s = contact::solve(p, {}, device);
    EXPECT_NE(s.status[0], Status::kConverged);
    EXPECT_TRUE(std::isnan(s.c[0]));
    EXPECT_TRUE(std::isfinite(s.residual[0]));
  }
}

TEST(Degenerate, FrictionlessContactPushesAlongTheNormalOnly) {
  Problems p = bench::random_grasps({3, 50, 0});
  std::fill(p.mu.begin(), p.mu.end(), 0.0);
  const Solutions s = contact::solve(p, {}, kLanes);
  EXPECT_EQ(solved_share(s), 1.0);
  for (std::size_t i = 0; i < s.c.size(); i += 3) EXPECT_LE(std::hypot(s.c[i + 1], s.c[i + 2]), 1e-7);
}

TEST(Invariance, ScalingTheLoadScalesTheAnswer) {
  Problems p = bench::random_grasps({3, 200, 0});
  const Solutions s = contact::solve(p, {}, kLanes);
  for (double& v : p.b) v *= 1024.0;  // a power of two: scaling is exact, so are the answers
  const Solutions big = contact::solve(p, {}, kLanes);
  for (std::size_t i = 0; i < s.c.size(); ++i) EXPECT_EQ(big.c[i], 1024.0 * s.c[i]);
}

TEST(Invariance, TurningTheTangentBasisTurnsTheFrictionForce) {
  const Problems p = bench::random_grasps({3, 100, 0});
  contact::Options options;
  options.tolerance = 1e-12;
  const Solutions s = contact::solve(p, options, kLanes);
  Problems turned = p;
  const double co = std::cos(0.7), si = std::sin(0.7);
  const auto turn = [&](double* v, std::size_t stride) {
    for (int j = 0; j < 3; ++j) {
      double& t = v[static_cast<std::size_t>(3 * j + 1) * stride];
      double& o = v[static_cast<std::size_t>(3 * j + 2) * stride];
      const double t0 = t;
      t = co * t0 + si * o;
      o = -si * t0 + co * o;
    }
  };
  for (std::size_t k = 0; k < 100; ++k) {
    for (std::size_t i = 0; i < 9; ++i) turn(&turned.A[81 * k + i], 9);
    for (std::size_t i = 0; i < 9; ++i) turn(&turned.A[81 * k + 9 * i], 1);
    turn(&turned.b[9 * k], 1);
  }
  const Solutions r = contact::solve(turned, options, kLanes);
  for (std::size_t k = 0; k < 100; ++k) {
    std::vector<double> want(s.c.begin() + static_cast<long>(9 * k), s.c.begin() + static_cast<long>(9 * k + 9));
    turn(want.data(), 1);
    for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(r.c[9 * k + i], want[i], 1e-8 * (1 + std::abs(want[i])));
  }
}

// One block of problems with three contacts, each started from its force of `guess`; empty: without.
Solutions solve_from(const Problems& p, const std::vector<double>& guess, const Device& device) {
  Solutions out = contact::unsolved(p);
  const contact::Options options;
  const contact::ProblemView view = p;  // which the job refers to
  const contact::Job job = contact::make_job(view, options, device, out);
  contact::Block block(job, p.count);
  block.fill({0, p.count});
  batch::Tiles<Vec<double, 9>> guesses(p.count);
  for (std::int64_t i = 0; i < p.count && !guess.empty(); ++i) {
    Vec<double, 9> c;
    std::memcpy(c.m, &guess[static_cast<std::size_t>(9 * i)], sizeof c);
    guesses.set(i, c);
  }
  const double* problems = block.in();
  contact::iterate(device.executor,
                   contact::IterateKernel<solvers::FrictionNewton, kAnyContacts>{
                       {}, problems, block.slips(), block.candidates(), guess.empty() ? nullptr : guesses.data(), 3},
                   p.count);
  contact::certify_tiles(device.executor,
                         contact::CertifyKernel<kAnyContacts>{options.tolerance, problems, block.slips(),
                                                              block.candidates(), block.out(), 3},
                         p.count);
  block.drain({0, p.count});
  return out;
}

// The next problem of a motion: another load, nearly the same.
Problems load_changed_by(double share, Problems p) {
  std::mt19937_64 g(5);
  std::uniform_real_distribution<double> u(-share, share);
  for (double& b : p.b) b *= 1 + u(g);
  return p;
}
double mean_steps(const Solutions& s) {
  double sum = 0;
  for (const int n : s.iterations) sum += n;
  return sum / static_cast<double>(s.count);
}

TEST(WarmStart, FromTheForceOfANearbyLoadFindsTheAnswerInFewerSteps) {
  const Problems before = bench::random_grasps({3, 1003, 0});
  const std::vector<double> guess = solve_from(before, {}, kLanes).c;
  const Problems p = load_changed_by(1e-3, before);
  const Solutions without = solve_from(p, {}, kLanes), with = solve_from(p, guess, kLanes);
  EXPECT_EQ(solved_share(with), 1.0);
  EXPECT_LT(mean_steps(with), 0.85 * mean_steps(without));  // measured 0.76
  int same = 0;
  for (std::size_t i = 0; i < 1003; ++i) {
    double worst = 0;
    for (std::size_t k = 9 * i; k < 9 * i + 9; ++k) worst = std::max(worst, std::abs(with.c[k] - without.c[k]));
    same += worst <= 1e-5;  // a residual of 1e-8 times the condition of A
  }
  EXPECT_GE(same, 1000);  // some problems have two solutions
  const Solutions scalar = solve_from(p, guess, kScalar);
  EXPECT_TRUE(same_bits(with.c, scalar.c));
  EXPECT_EQ(with.iterations, scalar.iterations);
}

TEST(WarmStart, FromTheAnswerTakesNoStep) {
  const Problems p = bench::random_grasps({3, 33, 0});
  const std::vector<double> answer = solve_from(p, {}, kLanes).c;
  for (const int steps : solve_from(p, answer, kLanes).iterations) EXPECT_EQ(steps, 0);
}

TEST(WarmStart, GuessThatSaysNothingIsNoneAndTouchesNoNeighbor) {
  const Problems p = load_changed_by(1e-3, bench::random_grasps({3, 33, 0}));
  const Solutions without = solve_from(p, {}, kLanes);
  const std::vector<double> good = solve_from(bench::random_grasps({3, 33, 0}), {}, kLanes).c;
  const Solutions with = solve_from(p, good, kLanes);
  std::vector<double> guess = good;
  std::fill_n(guess.begin() + 9 * 3, 9, 0.0);
  guess[9 * 12 + 4] = std::numeric_limits<double>::quiet_NaN();
  guess[9 * 32 + 8] = -std::numeric_limits<double>::infinity();
  for (const Device& device : {kScalar, kLanes}) {
    const Solutions s = solve_from(p, guess, device);
    for (std::size_t i = 0; i < 33; ++i) {
      const Solutions& want = i == 3 || i == 12 || i == 32 ? without : with;
      EXPECT_EQ(std::memcmp(&s.c[9 * i], &want.c[9 * i], 9 * sizeof(double)), 0) << i;
      EXPECT_EQ(s.iterations[i], want.iterations[i]) << i;
    }
  }
}

TEST(WarmStart, ServesProblemsWithSlidingContactsToo) {
  const Problems before = bench::sliding_grasps(bench::Sliding::some, {3, 200, 0});
  const Solutions first = solve_from(before, {}, kLanes);
  const Problems p = load_changed_by(1e-3, before);
  const Solutions without = solve_from(p, {}, kLanes), with = solve_from(p, first.c, kLanes);
  EXPECT_GE(solved_share(with), solved_share(without));
  EXPECT_LT(mean_steps(with), mean_steps(without));
  EXPECT_TRUE(same_bits(with.c, solve_from(p, first.c, kScalar).c));
}

}  // namespace
}  // namespace garra
