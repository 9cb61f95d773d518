// Whether forces inside friction cones leave every contact at rest: each answer is checked by its certificate, by the
// definitions alone, and the border against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "garra/solvers/rest_forces.hpp"

namespace garra::solvers {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// A problem as it was given, and memory for the search.
template <int D>
struct Case {
  int n;
  double most;
  std::vector<double> A, b, mu, limit, least, c, room;

  explicit Case(int contacts, double bound = 0.1)
      : n(contacts),
        most(bound),
        A(size(D * n * D * n), 0.0),
        b(size(D * n), 0.0),
        mu(size(n), 0.5),
        limit(size(n), kInf),
        least(size(n), 0.0),
        c(size(D * n), 0.0),
        room(size(RestProblem<D>::room(n)), NAN) {
    for (int i = 0; i < D * n; ++i) A[size(i * D * n + i)] = 1;
  }
  static std::size_t size(int k) { return static_cast<std::size_t>(k); }

  RestAnswer solve() {
    const RestProblem<D> p{n, most, room.data()};
    std::copy(A.begin(), A.end(), room.begin());
    std::copy(b.begin(), b.end(), p.b());
    std::copy(mu.begin(), mu.end(), p.mu());
    std::copy(limit.begin(), limit.end(), p.limit());
    std::copy(least.begin(), least.end(), p.least());
    std::copy(c.begin(), c.end(), p.c());
    return rest_forces(p);
  }
  [[nodiscard]] RestProblem<D> after() { return {n, most, room.data()}; }
};

double length(const double* v, int count) {
  double sum = 0;
  for (int k = 0; k < count; ++k) sum += v[k] * v[k];
  return std::sqrt(sum);
}

/// By (1) and (2) alone.
template <int D>
void check(Case<D>& x, const RestAnswer& answer) {
  const int m = D * x.n;
  ASSERT_TRUE(answer.exists == 0 || answer.exists == 1) << "undecided after " << answer.steps;
  const auto at = [&](int i, int k) { return x.A[static_cast<std::size_t>(i * m + k)]; };
  if (answer.exists == 1) {
    const double* c = x.after().c();
    for (int j = 0; j < x.n; ++j) {
      const auto u = static_cast<std::size_t>(j);
      EXPECT_LE(length(c + D * j + 1, D - 1), x.mu[u] * c[D * j] * (1 + 1e-12) + 1e-15);
      EXPECT_LE(c[D * j], x.limit[u] * (1 + 1e-12));
      EXPECT_GE(c[D * j], x.least[u] * (1 - 1e-12));
      double a[D];
      for (int r = 0; r < D; ++r) {
        a[r] = x.b[static_cast<std::size_t>(D * j + r)];
        for (int k = 0; k < m; ++k) a[r] += at(D * j + r, k) * c[k];
      }
      EXPECT_LE(length(a, D), x.most * (1 + 1e-9)) << "contact " << j;
    }
    return;
  }
  const double* y = x.after().y();
  double value = 0, largest = 0;
  for (int i = 0; i < m; ++i) value += y[i] * x.b[static_cast<std::size_t>(i)];
  for (const double force : x.c) largest = std::max(largest, std::abs(force));
  for (int j = 0; j < x.n; ++j) {
    const auto u = static_cast<std::size_t>(j);
    value -= x.most * length(y + D * j, D);
    double z[D];
    for (int r = 0; r < D; ++r) {
      z[r] = 0;
      for (int k = 0; k < m; ++k) z[r] += at(D * j + r, k) * y[k];
    }
    // Without a limit: what a contact gains may be no more than rounding.
    const double gain = z[0] - x.mu[u] * length(z + 1, D - 1);
    value += gain * (gain < 0 ? std::min(x.limit[u], kMaxRest * (largest > 0 ? largest : 1)) : x.least[u]);
  }
  EXPECT_GT(value, 0);
}

/// Distance of -b to the cone of one contact with A = 1: what no force takes away of b.
double left_of(double bn, double bt, double mu) {
  if (bt <= mu * -bn) return 0;
  if (mu * bt <= bn) return std::hypot(bn, bt);
  return (bt + mu * bn) / std::hypot(1, mu);
}

TEST(RestForces, OneContactIsDecidedUpToTheBorder) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 200; ++i) {
    Case<3> x(1);
    x.mu[0] = 0.5 + 0.5 * uniform(random);
    x.b = {10 * uniform(random), 10 * uniform(random), 10 * uniform(random)};
    const double left = left_of(x.b[0], std::hypot(x.b[1], x.b[2]), x.mu[0]);
    if (left == 0) continue;
    for (const double share : {0.5, 1 - 1e-6, 1 + 1e-6, 2.0}) {
      x.most = share * left;
      const RestAnswer answer = x.solve();
      EXPECT_EQ(answer.exists, share < 1 ? 0 : 1) << i << ' ' << share;
      check(x, answer);
    }
  }
}

TEST(RestForces, AnAxisWithoutFrictionTakesNoTangentialLoad) {
  Case<3> x(1);
  x.mu[0] = 0;
  x.b = {-5, 0.2, 0};
  for (const double most : {0.19, 0.21}) {
    x.most = most;
    const RestAnswer answer = x.solve();
    EXPECT_EQ(answer.exists, most < 0.2 ? 0 : 1);
    check(x, answer);
  }
}

TEST(RestForces, AForceLimitKeepsContactsFromStanding) {
  Case<3> x(1);
  x.b = {-5, 0, 0};
  for (const double limit : {4.89, 4.91, 10.0}) {
    x.limit[0] = limit;
    const RestAnswer answer = x.solve();
    EXPECT_EQ(answer.exists, limit < 4.9 ? 0 : 1) << limit;
    check(x, answer);
  }
}

TEST(RestForces, ALeastForceIsAsked) {
  // Contact 2 takes 5 N, up to what the acceleration leaves.
  Case<3> x(2);
  x.b = {-5, 0, 0, -5, 1, 0};
  for (const double least : {0.0, 4.0, 5.09, 5.11, 20.0}) {
    x.least[1] = least;
    const RestAnswer answer = x.solve();
    EXPECT_EQ(answer.exists, least < 5.1 ? 1 : 0) << least;
    check(x, answer);
  }
}

/// Two contacts side by side on one pad, which only bears their sum: forces of one contact alone satisfy the law at
/// rest, and so do equal ones.
TEST(RestForces, ContactsThatOneBodyPressesTogetherShareTheirForce) {
  Case<3> x(2);
  for (int i = 0; i < 6; ++i) x.A[static_cast<std::size_t>(6 * i + (i + 3) % 6)] = 1;
  x.b = {-8, 3.9, 0, -8, 3.9, 0};
  check(x, x.solve());
  EXPECT_EQ(x.solve().exists, 1);
  x.b = {-8, 4.2, 0, -8, 4.2, 0};  // mu 8 is 4, and 0.1 may be left
  EXPECT_EQ(x.solve().exists, 0);
  check(x, x.solve());
}

/// Random problems A = J J^T of a body with six freedoms and of fingers that give way by `soft`.
template <int D>
Case<D> random_case(int n, double soft, double bound, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0, 1);
  Case<D> x(n, bound);
  const int m = D * n;
  std::vector<double> J(static_cast<std::size_t>(m * 6));
  for (double& value : J) value = normal(random);
  std::vector<double> c(static_cast<std::size_t>(m));
  for (int j = 0; j < n; ++j) {
    x.mu[static_cast<std::size_t>(j)] = 0.2 + 0.8 * uniform(random);
    c[static_cast<std::size_t>(D * j)] = 1 + 10 * uniform(random);
    for (int k = 1; k < D; ++k)
      c[static_cast<std::size_t>(D * j + k)] = 0.9 * c[static_cast<std::size_t>(D * j)] * normal(random);
  }
  for (int i = 0; i < m; ++i)
    for (int k = 0; k < m; ++k) {
      double sum = i == k ? soft : 0;
      for (int r = 0; r < 6; ++r)
        sum += J[static_cast<std::size_t>(6 * i + r)] * J[static_cast<std::size_t>(6 * k + r)];
      x.A[static_cast<std::size_t>(m * i + k)] = sum;
    }
  for (int i = 0; i < m; ++i) {
    double sum = 0.02 * normal(random);
    for (int k = 0; k < m; ++k) sum -= x.A[static_cast<std::size_t>(m * i + k)] * c[static_cast<std::size_t>(k)];
    x.b[static_cast<std::size_t>(i)] = sum;
  }
  return x;
}

template <int D>
void decides(double soft) {
  std::mt19937 random(7);
  int yes = 0, no = 0, most = 0;
  for (const int n : {1, 2, 3, 5, 8})
    for (int i = 0; i < 100; ++i) {
      Case<D> x = random_case<D>(n, soft, i % 2 == 0 ? 0.1 : 3, random);
      const RestAnswer answer = x.solve();
      check(x, answer);
      (answer.exists == 1 ? yes : no) += 1;
      most = std::max(most, answer.steps);
    }
  EXPECT_GT(yes, 20);
  EXPECT_GT(no, 20);
  EXPECT_LE(most, 40);
}
TEST(RestForces, EveryAnswerOfCompliantFingersHasItsCertificate) { decides<3>(1.0); }
TEST(RestForces, EveryAnswerOfRigidFingersHasItsCertificate) { decides<3>(0.0); }
TEST(RestForces, EveryAnswerOfSoftContactsHasItsCertificate) { decides<4>(0.1); }

TEST(RestForces, ANumberThatIsNoneDecidesNothing) {
  Case<3> x(2);
  x.b[4] = NAN;
  EXPECT_TRUE(std::isnan(x.solve().exists));
}

}  // namespace
}  // namespace garra::solvers
