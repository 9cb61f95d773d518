// Small matrices in whole numbers, where every sum is exact and its order means nothing.
#include <gtest/gtest.h>

#include "garra/core/lanes.hpp"
#include "garra/core/mat.hpp"

namespace garra {
namespace {

/// All different, and of both signs.
template <int R, int C>
Mat<double, R, C> numbers(int start) {
  Mat<double, R, C> a;
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) a(i, j) = (i + 2 * j + start) * ((i + j) % 2 == 0 ? 1 : -1) + 10 * i;
  return a;
}

TEST(Mat, ProductsAreSumsOverTheInnerIndex) {
  const auto a = numbers<2, 3>(1);
  const auto b = numbers<3, 4>(5);
  const Mat<double, 2, 4> ab = a * b;
  const Mat<double, 2, 4> again = transpose_times(transpose(a), b);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += a(i, k) * b(k, j);
      EXPECT_EQ(ab(i, j), sum);
      EXPECT_EQ(again(i, j), sum);
      EXPECT_EQ(transpose(ab)(j, i), sum);
      EXPECT_EQ(column(ab, j)[i], sum);
    }
}

TEST(Mat, CrossProductFollowsTheSignsOfPermutations) {
  const Vec3<double> a{{2, -3, 5}}, b{{7, 11, -13}}, got = cross(a, b);
  for (int i = 0; i < 3; ++i) {
    double sum = 0;
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) sum += (i - j) * (j - k) * (k - i) / 2 * a[j] * b[k];
    EXPECT_EQ(got[i], sum);
  }
}

TEST(Mat, SumsScaleAndLengthAreElementwise) {
  const auto a = numbers<3, 2>(4), b = numbers<3, 2>(-7);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ((a + b).m[i], a.m[i] + b.m[i]);
    EXPECT_EQ((a - b).m[i], a.m[i] - b.m[i]);
    EXPECT_EQ((-a).m[i], -a.m[i]);
    EXPECT_EQ((3.0 * a).m[i], 3 * a.m[i]);
    EXPECT_EQ(select(true, a, b).m[i], a.m[i]);
    EXPECT_EQ(select(false, a, b).m[i], b.m[i]);
    EXPECT_EQ((cast<double>(a).m[i]), a.m[i]);
  }
  const Vec<double, 4> v{{1, -2, 4, -10}}, w{{3, 5, -7, 2}};
  EXPECT_EQ(dot(v, w), 3 - 10 - 28 - 20);
  EXPECT_EQ(norm(v), 11);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(axpy(2.0, w, v)[i], v[i] + 2 * w[i]);
  EXPECT_EQ(tangential_length(vec3(100.0, -3.0, 4.0)), 5);
}

TEST(Mat, IdentityAndZeroAreNeutral) {
  const auto a = numbers<3, 3>(2);
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ((Mat3<double>::identity() * a).m[i], a.m[i]);
    EXPECT_EQ((a + Mat3<double>::zero()).m[i], a.m[i]);
  }
}

TEST(Mat, LanesAreScalarsSideBySide) {
  using S = Lanes<double>;
  Vec3<S> a, b;
  for (int k = 0; k < 3; ++k)
    for (int lane = 0; lane < S::kSize; ++lane) {
      a[k].set(lane, lane - 2 * k);
      b[k].set(lane, 3 * k + lane * lane);
    }
  const Vec3<S> got = cross(a, b);
  for (int lane = 0; lane < S::kSize; ++lane) {
    const Vec3<double> one{{a[0][lane], a[1][lane], a[2][lane]}}, other{{b[0][lane], b[1][lane], b[2][lane]}};
    for (int k = 0; k < 3; ++k) EXPECT_EQ(got[k][lane], cross(one, other)[k]);
  }
}

}  // namespace
}  // namespace garra
