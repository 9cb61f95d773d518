// Lemke's method and the enumeration against problems of the literature with known solutions (docs/theory/lcp.md has
// the list).
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <random>

#include "garra/solvers/lcp.hpp"
#include "garra/solvers/lcp_enumeration.hpp"

namespace garra::solvers {
namespace {

constexpr double kExact = 1e-14;  // relative: these problems are well conditioned

template <int N>
LcpSolution<double, N> lemke_of(const LcpProblem<double, N>& p) {
  return Lemke{}.solve(p);
}

template <int N>
bool close(const Vec<double, N>& a, const Vec<double, N>& b, double tolerance = kExact) {
  double distance = 0, size = 1;
  for (int i = 0; i < N; ++i) {
    distance = std::max(distance, std::abs(a[i] - b[i]));
    size = std::max(size, std::abs(b[i]));
  }
  return distance <= tolerance * size;  // false for NaN only where it is not the first: callers check the status too
}

template <int N>
bool found(const LcpEnumeration<N>& e, const Vec<double, N>& z, double tolerance = kExact) {
  for (const auto& s : e.solutions)
    if (close<N>(s.z, z, tolerance)) return true;
  return false;
}

/// The only solution is z, and both methods return it.
template <int N>
void expect_unique(const LcpProblem<double, N>& p, const Vec<double, N>& z, bool degenerate = false) {
  const auto s = lemke_of<N>(p);
  EXPECT_EQ(s.status, double(int(Status::kConverged)));
  EXPECT_TRUE(close<N>(s.z, z));
  const auto e = enumerate_solutions<N>(p);
  EXPECT_EQ(e.decision, LcpStatus::kUnique) << to_string(e.decision);
  ASSERT_EQ(e.solutions.size(), 1u);
  EXPECT_TRUE(found<N>(e, z));
  EXPECT_TRUE(e.solutions[0].proved);
  EXPECT_EQ(e.solutions[0].degenerate, degenerate);
}

template <int N>
LcpProblem<double, N> transposed(LcpProblem<double, N> p) {
  p.M = transpose(p.M);
  return p;
}

LcpProblem<double, 6> murty(const Vec<double, 6>& q) {
  LcpProblem<double, 6> p{Mat<double, 6, 6>::identity(), q};
  for (int i = 0; i < 6; ++i)
    for (int j = i + 1; j < 6; ++j) p.M(i, j) = 2;
  return p;
}

const LcpProblem<double, 3> kKostreva{{{1, 2, 0, 0, 1, 2, 2, 0, 1}}, {{-1, -1, -1}}};
const LcpProblem<double, 3> kCps447{{{0, -1, 2, 2, 0, -2, -1, 1, 0}}, {{-3, 6, -1}}};
const LcpProblem<double, 4> kBimatrix{{{0, 0, 10, 20, 0, 0, 30, 15, 10, 20, 0, 0, 30, 15, 0, 0}}, {{-1, -1, -1, -1}}};
const LcpProblem<double, 3> kPang{{{0, -1, -1, 1, 0, 0, -1, 0, 0}}, {{0, -1, 1}}};

TEST(KnownLcp, Hs35) {
  expect_unique<4>({{{4, 2, 2, 1, 2, 4, 0, 1, 2, 0, 2, 2, -1, -1, -2, 0}}, {{-8, -6, -4, 3}}},
                   {{4.0 / 3, 7.0 / 9, 4.0 / 9, 2.0 / 9}});
}

TEST(KnownLcp, Hs76) {
  const double H[4][4] = {{2, 0, -1, 0}, {0, 1, 0, 0}, {-1, 0, 2, 1}, {0, 0, 1, 1}};
  const double A[3][4] = {{1, 2, 1, 1}, {3, 1, 2, -1}, {0, -1, -4, 0}};
  LcpProblem<double, 7> p{Mat<double, 7, 7>::zero(), {{-1, -3, 1, -1, 5, 4, -1.5}}};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) p.M(i, j) = H[i][j];
    for (int k = 0; k < 3; ++k) p.M(i, 4 + k) = A[k][i], p.M(4 + k, i) = -A[k][i];
  }
  expect_unique<7>(p, {{3.0 / 11, 23.0 / 11, 0, 6.0 / 11, 5.0 / 11, 0, 0}});
}

TEST(KnownLcp, KostrevasPMatrix) {
  expect_unique<3>(kKostreva, {{1.0 / 3, 1.0 / 3, 1.0 / 3}});
  EXPECT_EQ(is_p_matrix<3>(kKostreva.M), PMatrix::kYes);
}

TEST(KnownLcp, CottlePangStone447) { expect_unique<3>(kCps447, {{0, 1, 3}}); }

TEST(KnownLcp, CottlePangStone4) {
  const Mat<double, 4, 4> M{{11, 0, 10, -1, 0, 11, 10, -1, 10, 10, 21, -1, 1, 1, 1, 0}};
  expect_unique<4>({M, {{50, 50, 10, -6}}}, {{2, 2, 2, 92}});
  expect_unique<4>({M, {{50, 50, 23, -6}}}, {{3, 3, 0, 83}}, true);  // w_3 = 0 as well
}

TEST(KnownLcp, Deudeu) { expect_unique<2>({{{2, 1, 1, 2}}, {{-5, -6}}}, {{4.0 / 3, 7.0 / 3}}); }

TEST(KnownLcp, PangsIsolatedSolution) { expect_unique<3>(kPang, {{1, 0, 0}}, true); }

// K. G. Murty, Computational complexity of complementary pivot methods, Math. Prog. Study 7 (1978): 2^n pivots. q = -1
// takes two, and read row-major where column-major was meant the answer is the first unit vector.
TEST(KnownLcp, MurtysExponentialProblem) {
  const Vec<double, 6> easy{{-1, -1, -1, -1, -1, -1}}, hard{{-126, -124, -120, -112, -96, -64}};
  expect_unique<6>(murty(easy), {{0, 0, 0, 0, 0, 1}});
  expect_unique<6>(murty(hard), {{0, 0, 0, 0, 0, 64}});
  EXPECT_EQ(lemke_of<6>(murty(hard)).pivots, 64);
  EXPECT_EQ(is_p_matrix<6>(murty(hard).M), PMatrix::kYes);
  expect_unique<6>(transposed<6>(murty(easy)), {{1, 0, 0, 0, 0, 0}});
  expect_unique<6>(transposed<6>(murty(hard)), {{126, 0, 0, 0, 0, 0}});
}

TEST(KnownLcp, MurtysProblemHitsASmallerPivotLimit) {
  const LcpProblem<double, 6> p = murty({{-126, -124, -120, -112, -96, -64}});
  const auto s = Lemke{1e-8, 63}.solve(p);
  EXPECT_EQ(s.status, double(int(Status::kIterationLimit)));
  EXPECT_TRUE(std::isnan(s.z[0]));
  EXPECT_EQ((Lemke{1e-8, 64}.solve(p).status), double(int(Status::kConverged)));
}

// Lemke's scheme I with a positive covering vector ends on a ray at once for every bimatrix game with positive costs:
// the diagonal of M is zero, so nothing limits the first driving variable.
TEST(KnownLcp, BimatrixGameHasThreeSolutionsAndLemkeFindsNone) {
  const auto e = enumerate_solutions<4>(kBimatrix);
  EXPECT_EQ(e.decision, LcpStatus::kSeveral);
  ASSERT_EQ(e.solutions.size(), 3u);
  EXPECT_TRUE(found<4>(e, {{0.1, 0, 0.1, 0}}));
  EXPECT_TRUE(found<4>(e, {{0, 1.0 / 15, 0, 1.0 / 15}}));
  EXPECT_TRUE(found<4>(e, {{1.0 / 90, 2.0 / 45, 1.0 / 90, 2.0 / 45}}));
  EXPECT_EQ(e.p_matrix, PMatrix::kNo);
  EXPECT_EQ(lemke_of<4>(kBimatrix).status, double(int(Status::kStalled)));
}

// Read with rows and columns exchanged, these are other problems: their known solutions do not solve them.
TEST(KnownLcp, ColumnMajorFilesReadRowMajorAreOtherProblems) {
  EXPECT_FALSE(found<3>(enumerate_solutions<3>(transposed<3>(kCps447)), {{0, 1, 3}}));
  EXPECT_FALSE(found<3>(enumerate_solutions<3>(transposed<3>(kPang)), {{1, 0, 0}}));
  EXPECT_FALSE(found<4>(enumerate_solutions<4>(transposed<4>(kBimatrix)), {{1.0 / 90, 2.0 / 45, 1.0 / 90, 2.0 / 45}}));
}

TEST(KnownLcp, CottlePangStone1IsAContinuum) {
  const LcpProblem<double, 2> p{{{1, 1, 1, 1}}, {{-1, -1}}};
  const auto e = enumerate_solutions<2>(p);
  EXPECT_EQ(e.decision, LcpStatus::kContinuum);
  EXPECT_TRUE(found<2>(e, {{1, 0}}));
  EXPECT_TRUE(found<2>(e, {{0, 1}}));
  const auto s = lemke_of<2>(p);
  EXPECT_EQ(s.status, double(int(Status::kConverged)));
  EXPECT_NEAR(s.z[0] + s.z[1], 1, kExact);
}

TEST(Enumeration, FindsARayOfSolutions) {
  const auto e = enumerate_solutions<2>({{{0, 0, 0, 1}}, {{0, -1}}});  // z = (t, 1)
  EXPECT_EQ(e.decision, LcpStatus::kContinuum);
  EXPECT_TRUE(found<2>(e, {{0, 1}}));
}

TEST(Enumeration, OfALineWithOneNonnegativePointIsUniqueWhicheverVariableIsFree) {
  // z_0 + 2 z_1 = 0 and its mirror image: elimination leaves the column of the smaller entry over.
  for (const Mat<double, 2, 2>& M : {Mat<double, 2, 2>{{1, 2, 2, 4}}, Mat<double, 2, 2>{{4, 2, 2, 1}}}) {
    const auto e = enumerate_solutions<2>({M, {{0, 0}}});
    EXPECT_EQ(e.decision, LcpStatus::kUnique) << to_string(e.decision);
    EXPECT_TRUE(found<2>(e, {{0, 0}}));
    // ... and a segment between the axes.
    const auto line = enumerate_solutions<2>({M, {{-M(0, 0), -M(1, 0)}}});
    EXPECT_EQ(line.decision, LcpStatus::kContinuum) << to_string(line.decision);
    EXPECT_TRUE(found<2>(line, {{1, 0}}));
    EXPECT_TRUE(found<2>(line, {{0, M(0, 0) / M(0, 1)}}));
  }
}

TEST(Enumeration, SaysNoSolutionWhereThereIsNone) {
  EXPECT_EQ(enumerate_solutions<2>({{{0, 0, 0, 1}}, {{-1, 1}}}).decision, LcpStatus::kNoSolution);
  EXPECT_EQ(enumerate_solutions<1>({{{-1}}, {{-1}}}).decision, LcpStatus::kNoSolution);
  EXPECT_EQ(lemke_of<1>({{{-1}}, {{-1}}}).status, double(int(Status::kStalled)));
}

// For z = (0, 0.1), w_1 is 0.3 - 3 * 0.1, zero in decimal and some rounding of it here; M is no P-matrix, so nothing
// else settles whether the problem has a solution.
TEST(Enumeration, IsUndecidedWhereASignIsWithinRounding) {
  const LcpProblem<double, 2> p{{{-1, -3, 0, 1}}, {{0.3, -0.1}}};
  const auto e = enumerate_solutions<2>(p);
  EXPECT_EQ(e.decision, LcpStatus::kUndecided) << to_string(e.decision);
  EXPECT_EQ(enumerate_solutions<2>({p.M, {{0.3 + 1e-12, -0.1}}}).decision, LcpStatus::kSeveral);
  EXPECT_EQ(enumerate_solutions<2>({p.M, {{0.3 - 1e-12, -0.1}}}).decision, LcpStatus::kNoSolution);
}

// Every z >= 0 solves w = 0 z + 0: each variable alone is a ray, and both together are a plane, which is counted and
// not searched.
TEST(Enumeration, CountsAPlaneOfSolutionsAsUndecidedBesideItsRays) {
  const auto e = enumerate_solutions<2>({{{0, 0, 0, 0}}, {{0, 0}}});
  EXPECT_EQ(e.decision, LcpStatus::kContinuum) << to_string(e.decision);
  EXPECT_EQ(e.singular, 3);
  EXPECT_EQ(e.undecided, 1);
  EXPECT_TRUE(found<2>(e, {{0, 0}}));
}

// Minors by hand: the diagonal, the determinants of two rows and columns, and that of all three.
TEST(PMatrix, IsToldByTheSignsOfAllPrincipalMinors) {
  EXPECT_EQ(is_p_matrix<2>({{2, 1, 1, 2}}), PMatrix::kYes);        // 2, 2, 3
  EXPECT_EQ(is_p_matrix<2>({{1, -5, 5, 1}}), PMatrix::kYes);       // 1, 1, 26
  EXPECT_EQ(is_p_matrix<2>({{1, 2, 2, 1}}), PMatrix::kNo);         // 1, 1, -3
  EXPECT_EQ(is_p_matrix<2>({{1, 0, 0, -1}}), PMatrix::kNo);        // 1, -1
  EXPECT_EQ(is_p_matrix<2>({{1, 1, 1, 1}}), PMatrix::kUndecided);  // 1, 1, 0: no rounded number proves a zero
  EXPECT_EQ(is_p_matrix<2>({{0, 1, 1, 0}}), PMatrix::kNo);         // 0, 0, -1: what is undecided may still be refused
  const Mat<double, 3, 3> all_three{{1, -0.75, -0.75, -0.75, 1, -0.75, -0.75, -0.75, 1}};
  EXPECT_EQ(is_p_matrix<3>(all_three), PMatrix::kNo);  // 1; 1 - 0.75^2; (1 + 0.75)^2 (1 - 2 * 0.75) < 0
}

TEST(Enumeration, OfAnInvalidProblemIsUndecided) {
  const auto e = enumerate_solutions<2>({{{1, 0, 0, NAN}}, {{-1, -1}}});
  EXPECT_EQ(e.decision, LcpStatus::kUndecided);
  EXPECT_TRUE(e.solutions.empty());
}

/// M = B B' + K - K' + 0.01 I: every principal minor is positive.
template <int N>
LcpProblem<double, N> random_p_problem(std::mt19937_64& g) {
  std::normal_distribution<double> normal;
  Mat<double, N, N> B, K;
  LcpProblem<double, N> p;
  for (double& x : B.m) x = normal(g);
  for (double& x : K.m) x = normal(g);
  for (double& x : p.q.m) x = normal(g);
  p.M = B * transpose(B) + K - transpose(K) + 0.01 * Mat<double, N, N>::identity();
  return p;
}

template <int N>
void lemke_equals_enumeration(int count) {
  std::mt19937_64 g(N);
  for (int k = 0; k < count; ++k) {
    const auto p = random_p_problem<N>(g);
    const auto s = lemke_of<N>(p);
    const auto e = enumerate_solutions<N>(p);
    ASSERT_EQ(e.p_matrix, PMatrix::kYes);
    ASSERT_EQ(e.decision, LcpStatus::kUnique);
    ASSERT_EQ(s.status, double(int(Status::kConverged)));
    ASSERT_EQ(e.solutions.size(), 1u);
    EXPECT_TRUE(close<N>(s.z, e.solutions[0].z, 1e-11)) << N << " problem " << k;  // cond(M) is up to 1e4
  }
}
TEST(RandomPMatrix, LemkeEqualsEnumeration) {
  lemke_equals_enumeration<1>(300);
  lemke_equals_enumeration<2>(300);
  lemke_equals_enumeration<3>(300);
  lemke_equals_enumeration<5>(200);
  lemke_equals_enumeration<8>(100);
}

// Copositive-plus and feasible (M = B B' of low rank, q in the range with nonnegative slack): Lemke must solve it (CPS
// 4.4.13), however many ratios tie. Small integers make the ties exact; rows and columns are repeated on purpose.
template <int N>
void never_cycles(int count) {
  std::mt19937_64 g(N);
  std::uniform_int_distribution<int> entry(-2, 2), zero_or_one(0, 1);
  int ties = 0;
  for (int k = 0; k < count; ++k) {
    Mat<double, N, 2> B;
    for (double& x : B.m) x = entry(g);
    for (int c = 0; c < 2; ++c) B(N - 1, c) = B(0, c);
    LcpProblem<double, N> p;
    p.M = B * transpose(B);
    Vec<double, N> z;
    for (int i = 0; i < N; ++i) z[i] = zero_or_one(g);
    const Vec<double, N> Mz = p.M * z;
    for (int i = 0; i < N; ++i) p.q[i] = zero_or_one(g) - Mz[i];
    for (int i = 1; i < N; ++i) ties += p.q[i] == p.q[0];
    const auto s = lemke_of<N>(p);
    ASSERT_EQ(s.status, double(int(Status::kConverged))) << N << " problem " << k << " pivots " << s.pivots;
    EXPECT_LE(s.residual, 1e-12);
  }
  EXPECT_GT(ties, count / 4);
}
TEST(Lemke, NeverCyclesOnDegenerateProblems) {
  never_cycles<2>(500);
  never_cycles<3>(2000);
  never_cycles<5>(2000);
  never_cycles<8>(2000);
}

// Of equal ratios q_i / a_i, in q + (t, t^2, ..) for small t the one with the smaller first coefficient / a_i is less.
TEST(Lemke, BreaksTiesByTheFirstRatioThatDiffers) {
  std::mt19937_64 g(5);
  std::uniform_int_distribution<int> entry(-2, 2);
  LemkeState<double, 4> s{};
  int seen = 0;
  for (int k = 0; k < 500; ++k) {
    for (double& x : s.T.m) x = entry(g);
    for (double& x : s.is_z.m) x = entry(g) > 0;
    const int i = k % 4, row = (i + 1 + k / 4 % 3) % 4;
    const double a = 1 + std::abs(entry(g)), other = 1 + std::abs(entry(g));
    double mine = 0, his = 0;
    for (int power = 0; power < 4 && mine == his; ++power) {
      mine = (s.is_z[power] > 0 ? -s.T(i, power) : double(i == power)) / a;
      his = (s.is_z[power] > 0 ? -s.T(row, power) : double(row == power)) / other;
      if (std::abs(mine - his) < 1e-12) mine = his;
    }
    const lemke::Leaving<double> best{double(row), 0, other};
    EXPECT_EQ((lemke::lexicographically_less<double, 4>(s, i, a, best)), mine < his) << k;
    seen += mine < his;
  }
  EXPECT_GE(seen, 150);
}

TEST(Lemke, AnswersNonnegativeQAtOnce) {
  const auto s = lemke_of<2>({{{-1, 5, 5, -1}}, {{0, 3}}});
  EXPECT_EQ(s.status, double(int(Status::kConverged)));
  EXPECT_EQ(s.pivots, 0);
  EXPECT_EQ(s.residual, 0);
  EXPECT_EQ(s.w[1], 3);
}

TEST(Lemke, UnitsMakeNoDifference) {
  for (const double m : {1e-30, 1e-3, 1e7, 1e40})
    for (const double q : {1e-40, 1e5, 1e60}) {
      const auto s = lemke_of<3>({m * kKostreva.M, q * kKostreva.q});
      ASSERT_EQ(s.status, double(int(Status::kConverged)));
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(s.z[i] / (q / m), 1.0 / 3, 1e-14);
      EXPECT_EQ(s.pivots, lemke_of<3>(kKostreva).pivots);
    }
}

TEST(Lemke, NamesInvalidProblems) {
  EXPECT_EQ(lemke_of<2>({{{1, NAN, 0, 1}}, {{-1, -1}}}).status, double(int(Status::kInvalidInput)));
  EXPECT_EQ(lemke_of<2>({{{1, 0, 0, 1}}, {{-1, HUGE_VAL}}}).status, double(int(Status::kInvalidInput)));
  EXPECT_EQ(lemke_of<2>({{{1, 0, 0, 1}}, {{NAN, 1}}}).status, double(int(Status::kInvalidInput)));
}

}  // namespace
}  // namespace garra::solvers
