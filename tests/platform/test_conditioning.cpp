// Singular values of Jacobians that were made of chosen ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "garra/core/lanes.hpp"
#include "garra/systems/platform/conditioning.hpp"

namespace garra::platform {
namespace {

using Square = Mat<double, 6, 6>;

/// Householder reflections of random vectors make it.
Square random_orthogonal(std::mt19937_64& g) {
  std::normal_distribution<double> normal;
  Square Q = Square::identity();
  for (int k = 0; k < 6; ++k) {
    Vec<double, 6> v;
    for (double& x : v.m) x = normal(g);
    const double square = dot(v, v);
    Square H = Square::identity();
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) H(i, j) -= 2 * v[i] * v[j] / square;
    Q = H * Q;
  }
  return Q;
}

struct Made {
  Square J;
  double least, most;
  Vec<double, 6> free_motion;
};
/// U diag(values) V', of which the last three columns are multiplied by L.
Made made_of(const Vec<double, 6>& values, double L, std::mt19937_64& g) {
  const Square U = random_orthogonal(g), V = random_orthogonal(g);
  Square D = Square::zero();
  for (int i = 0; i < 6; ++i) D(i, i) = values[i];
  Made out{U * (D * transpose(V)), values[0], values[0], {}};
  for (int i = 0; i < 6; ++i) {
    if (values[i] <= out.least) out.least = values[i], out.free_motion = column(V, i);
    out.most = std::max(out.most, values[i]);
    for (int j = 3; j < 6; ++j) out.J(i, j) *= L;
  }
  return out;
}

const std::vector<Vec<double, 6>> kSpectra = {
    {{1, 2, 3, 4, 5, 6}},    {{6, 5, 4, 3, 2, 1}},       {{1, 1, 1, 1, 1, 1}},
    {{2, 2, 2, 0.1, 3, 3}},  {{0.5, 0.5, 2, 2, 2, 2}},   {{1e-3, 1, 1, 1, 1, 1}},
    {{1, 1, 1, 1, 1, 1e-6}}, {{1, 0.01, 0.1, 1, 10, 5}}, {{0, 1, 2, 3, 4, 5}}};

TEST(PlatformConditioning, FindsTheSingularValuesThatAJacobianWasMadeOf) {
  std::mt19937_64 g(1);
  for (const double L : {1.0, 0.2, 7.0})
    for (const auto& values : kSpectra)
      for (int k = 0; k < 5; ++k) {
        const Made m = made_of(values, L, g);
        const auto c = conditioning(m.J, L);
        EXPECT_NEAR(c.sigma_min, m.least, 1e-13 * m.most);
        EXPECT_NEAR(c.sigma_max, m.most, 1e-13 * m.most);
        EXPECT_NEAR(sigma_min(m.J, L), m.least, 1e-7 * m.least + 1e-13 * m.most);
        EXPECT_NEAR(norm(c.free_motion), 1, 1e-13);
        if (std::count(values.m, values.m + 6, m.least) > 1) continue;  // any motion of a plane
        EXPECT_NEAR(std::abs(dot(c.free_motion, m.free_motion)), 1, 1e-10);
      }
}

TEST(PlatformConditioning, OfADiagonalJacobianNeedsNoReflection) {
  Square J = Square::zero();
  for (int i = 0; i < 6; ++i) J(i, i) = i == 2 ? 0.25 : 1 + i;
  EXPECT_NEAR(sigma_min(J, 1.0), 0.25, 1e-15);
}

TEST(PlatformConditioning, InLanesIsThatOfScalarsBesideSingularOnes) {
  using Wide = Lanes<double>;
  std::mt19937_64 g(2);
  for (std::size_t k = 0; k < 2 * kSpectra.size(); ++k) {
    Mat<Wide, 6, 6> J;
    std::vector<double> want;
    for (int lane = 0; lane < kWidth<Wide>; ++lane) {
      const Made m = made_of(kSpectra[(k + static_cast<std::size_t>(lane) * k) % kSpectra.size()], 0.5, g);
      for (int i = 0; i < 36; ++i) J[i].set(lane, m.J[i]);
      want.push_back(sigma_min(m.J, 0.5));
    }
    const Wide got = sigma_min(J, Wide(0.5));
    for (int lane = 0; lane < kWidth<Wide>; ++lane) EXPECT_EQ(got[lane], want[static_cast<std::size_t>(lane)]);
  }
}

}  // namespace
}  // namespace garra::platform
