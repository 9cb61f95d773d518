// sqrt_by_fma: the processor's correctly rounded root, whatever computes it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "garra/core/lanes.hpp"
#include "garra/core/philox.hpp"
#include "garra/core/square_root.hpp"

namespace garra {
namespace {

using Word = std::uint64_t;

/// Lanes against the scalar root, number by number, in the order given.
template <class R>
void expect_roots(const std::vector<R>& arguments) {
  using S = Lanes<R>;
  for (std::size_t first = 0; first < arguments.size(); first += kWidth<S>) {
    S a(R(2));
    for (int l = 0; l < kWidth<S> && first + static_cast<std::size_t>(l) < arguments.size(); ++l)
      a.set(l, arguments[first + static_cast<std::size_t>(l)]);
    const S root = sqrt_by_fma(a);
    for (int l = 0; l < kWidth<S>; ++l) {
      const R x = a[l], got = root[l], right = std::sqrt(x);
      ASSERT_TRUE(to_bits(got) == to_bits(right) || (std::isnan(got) && std::isnan(right)))
          << std::hexfloat << x << " gives " << got << ", not " << right;
    }
  }
}

/// The even n modulo 2^bits with n^2 + n + j = 0, by Newton's iteration on integers; ~n is the odd one. j is even.
Word root_modulo(int bits, std::int64_t j) {
  Word n = 0;
  for (int doubling = 0; doubling < 7; ++doubling) {
    const Word slope = 2 * n + 1;
    Word inverse = slope;  // right in three bits
    for (int k = 0; k < 5; ++k) inverse *= 2 - slope * inverse;
    n -= (n * n + n + static_cast<Word>(j)) * inverse;
  }
  return n & ((Word{1} << bits) - 1);
}

/// Numbers whose roots lie closest to the middle between two numbers: with the root scaled to n + 1/2, n an integer of
/// 53 bits, they are n^2 + n + j for small j, where that has 53 bits, too. Closer than j / (2 n) there is none.
std::vector<double> closest_to_a_middle(std::int64_t most) {
  __extension__ using Wide = unsigned __int128;
  std::vector<double> arguments;
  for (std::int64_t j = -most; j <= most; j += 2)
    for (const int dropped : {52, 53}) {
      const Word even = root_modulo(dropped, j), all_ones = (Word{1} << dropped) - 1;
      for (const Word low : {even, ~even & all_ones}) {
        const Word n = dropped == 52 ? low + (Word{1} << 52) : low;
        const Wide a = Wide{n} * n + n + static_cast<Wide>(j);
        if (a >> (52 + dropped) != 1) continue;  // another number of bits
        arguments.push_back(std::ldexp(static_cast<double>(static_cast<Word>(a >> dropped)), dropped - 104));
      }
    }
  return arguments;
}

TEST(SquareRootByFma, RoundsCorrectlyWhereTheRootIsClosestToTheMiddleBetweenTwoNumbers) {
  const std::vector<double> arguments = closest_to_a_middle(40000);
  ASSERT_GT(arguments.size(), 40000u);
  expect_roots(arguments);
}

TEST(SquareRootByFma, RoundsCorrectlyForSquaresAndTheirNeighbors) {
  std::vector<double> arguments;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    double u, v;
    uniform_pair(5u, SampleIndex<double>::consecutive(i), 0u, u, v);
    for (const double x : {1 + std::ldexp(std::floor(std::ldexp(u, 26)), -26), 1 + v}) {
      const double square = x * x;
      for (const double a : {square, std::nextafter(square, 0), std::nextafter(square, 8)}) arguments.push_back(a);
    }
  }
  expect_roots(arguments);
}

TEST(SquareRootByFma, RoundsCorrectlyForNumbersOfEverySize) {
  std::vector<double> arguments;
  for (std::uint64_t i = 0; i < 50000; ++i) {
    const auto bits = random_block<double>(7u, SampleIndex<double>::consecutive(i), 0u);
    for (const Word w : bits.word) arguments.push_back(from_bits<double>(w & 0x7fffffffffffffffu));
  }
  for (int exponent = -1074; exponent < 1024; ++exponent)
    for (const double x : {1.0, 1.5, 2 - std::numeric_limits<double>::epsilon()})
      arguments.push_back(std::ldexp(x, exponent));
  expect_roots(arguments);
}

template <class R>
class SquareRootByFmaOf : public testing::Test {};
using Reals = testing::Types<double, float>;
TYPED_TEST_SUITE(SquareRootByFmaOf, Reals);

TYPED_TEST(SquareRootByFmaOf, GivesTheRootsOfZerosInfinitiesAndNanBesideOrdinaryNumbers) {
  using R = TypeParam;
  using L = std::numeric_limits<R>;
  for (const R odd : {R(0), R(-0.0), R(-1), -L::denorm_min(), L::denorm_min(), L::min(), L::max(), -L::max(),
                      L::infinity(), -L::infinity(), L::quiet_NaN()})
    for (std::size_t place = 0; place < kWidth<Lanes<R>>; ++place) {
      std::vector<R> arguments;
      for (int l = 0; l < kWidth<Lanes<R>>; ++l) arguments.push_back(R(0.7) + R(l));
      arguments[place] = odd;
      expect_roots(arguments);
    }
  EXPECT_EQ(sqrt_by_fma(R(2)), std::sqrt(R(2)));
}

}  // namespace
}  // namespace garra
