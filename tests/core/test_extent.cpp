// Sizes that are known when a program runs give the bits of sizes that are known before.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "garra/batch/tiles.hpp"
#include "garra/core/factor.hpp"
#include "garra/core/lanes.hpp"
#include "garra/solvers/friction_problem.hpp"

namespace garra {
namespace {

/// Numbers without pattern, the same for every kind of matrix.
double number(int i, int j) { return 0.37 * ((7 * i + 3 * j) % 11) - 1.5 + (i == j ? 9 : 0); }

template <class Matrix>
Matrix filled(int rows, int columns) {
  Matrix a;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) a(i, j) = number(i, j);
  return a;
}

/// Product, transposed product, scalar product and solution of a system with 3 N rows.
template <int N>
std::vector<double> answers(int contacts) {
  const int rows = 3 * contacts;
  const auto A = filled<Mat<double, 3 * N, 3 * N>>(rows, rows);
  const auto b = filled<Vec<double, 3 * N>>(rows, 1);
  const auto Ab = A * b, again = transpose_times(A, b), x = solve(factor_ldlt(A), b), y = solve(factor_lu(A), b);
  std::vector<double> out{dot(b, Ab), norm(b - 2.0 * Ab)};
  for (int i = 0; i < rows; ++i) out.insert(out.end(), {Ab[i], again[i], x[i], y[i], (-b + Ab)[i]});
  return out;
}

template <int N>
void expect_the_same_bits() {
  const ContactsInUse many(N);
  EXPECT_EQ(answers<kAnyContacts>(N), answers<N>(N)) << N << " contacts";
}

TEST(SizesOfTheRun, GiveTheBitsOfSizesOfTheCompilation) {
  expect_the_same_bits<1>();
  expect_the_same_bits<2>();
  expect_the_same_bits<3>();
  expect_the_same_bits<4>();
  expect_the_same_bits<9>();
  expect_the_same_bits<32>();
}

TEST(SizesOfTheRun, HaveTheSameTilesAsSizesOfTheCompilation) {
  constexpr int N = 5;
  using Fixed = solvers::FrictionProblem<double, N>;
  using Any = solvers::FrictionProblem<double, kAnyContacts>;
  const ContactsInUse many(N);
  EXPECT_EQ((batch::fields<double, Any>()), (batch::fields<double, Fixed>()));
  batch::Tiles<Fixed> tiles(40);
  for (int i = 0; i < 40; ++i)
    tiles.set(i, {filled<Mat<double, 15, 15>>(15, 15), filled<Vec<double, 15>>(15, 1),
                  Vec<double, N>{{1, 2, 3, 4, i * 1.0}}});
  const auto p = batch::load<double, Any>(tiles.data(), 37);
  EXPECT_EQ(p.A(14, 3), number(14, 3));
  EXPECT_EQ(p.b[14], number(14, 0));
  EXPECT_EQ(p.mu[4], 37);
  batch::Tiles<Any> back(40);
  back.set(37, p);
  EXPECT_EQ(back.doubles(), tiles.doubles());
  EXPECT_EQ((batch::load<double, Fixed>(back.data(), 37).A(9, 14)), number(9, 14));
}

TEST(SizesOfTheRun, BelongToOneThreadAndToTheInnermostScope) {
  const ContactsInUse outer(7);
  {
    const ContactsInUse inner(2);
    EXPECT_EQ(extent<3 * kAnyContacts>(), 6);
    std::thread([] {
      const ContactsInUse own(32);
      EXPECT_EQ(extent<kAnyContacts>(), 32);
    }).join();
    EXPECT_EQ(extent<kAnyContacts>(), 2);
  }
  EXPECT_EQ(extent<4 * kAnyContacts>(), 28);
}

}  // namespace
}  // namespace garra
