// No product is fused into a sum behind the source's back. Compiled as the library is.
#include <gtest/gtest.h>

#include <limits>

namespace {

struct Two {
  double x, y;
};

// The pattern in which GCC 12's vectorizer fuses although -ffp-contract=off.
[[gnu::noipa]] Two difference_and_sum(const Two& a, const Two& b, const Two& c) {
  const double p = a.x * b.x, q = a.y * b.y;
  return {p - c.x, q + c.y};
}

TEST(Contraction, ProductsAreRoundedBeforeTheyAreAddedOrSubtracted) {
  // (1 + e)^2 - (1 + 2 e) is e^2 with one rounding and 0 with two.
  constexpr double e = std::numeric_limits<double>::epsilon();
  const volatile double one_plus = 1 + e;
  const Two a{one_plus, one_plus};
  const Two r = difference_and_sum(a, a, {1 + 2 * e, -(1 + 2 * e)});
  EXPECT_EQ(r.x, 0);
  EXPECT_EQ(r.y, 0);
}

}  // namespace
