// contact::gradients: closed forms, the same bits on every executor, sizes that do not fit. Differences of solved
// problems are in tests/python/contact/test_gradients.py.
#include <gtest/gtest.h>

#include "contact/problems/classes.hpp"
#include "garra/contact_gradient.hpp"
#include "garra/core/error.hpp"
#include "on_every_executor.hpp"

namespace garra::contact {
namespace {

std::vector<std::uint8_t> regimes_of(const Solutions& s) {
  std::vector<std::uint8_t> regimes;
  for (const ContactState state : s.state) regimes.push_back(static_cast<std::uint8_t>(state));
  return regimes;
}

TEST(ContactGradients, OfOneContactInClosedForm) {
  // A = diag(2, 4, 4): sticks with c = -b / A; slips with c_n = -b_n / 2, c_t = -mu c_n.
  const std::vector<double> A = {2, 0, 0, 0, 4, 0, 0, 0, 4, 2, 0, 0, 0, 4, 0, 0, 0, 4};
  const Problems p{1, 2, A, {-2, 0.4, 0, -2, 8, 0}, {0.5, 0.5}};
  const Solutions s = solve(p);
  const std::vector<double> along_t = {0, 1, 0, 0, 1, 0};
  const Gradients g = gradients({1, 2, p.A, p.mu, s.c, s.a, regimes_of(s), along_t});
  const double expected[6] = {0, -0.25, 0, 0.25, 0, 0};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(g.b[i], expected[i], 1e-12) << i;
  EXPECT_NEAR(g.mu[0], 0, 1e-12);
  EXPECT_NEAR(g.mu[1], -1, 1e-12);
  EXPECT_GT(g.margin[0], 0.1);
  EXPECT_GT(g.margin[1], 0.1);
}

TEST(ContactGradients, EveryExecutorGivesTheSameBits) {
  for (int contacts = 1; contacts <= kMaxOwnSize; ++contacts) {
    SCOPED_TRACE(contacts);
    const Problems p = bench::random_grasps({contacts, 65, 0});
    const Solutions s = solve(p);
    const std::vector<std::uint8_t> regime = regimes_of(s);
    std::vector<double> cotangent;
    for (std::size_t i = 0; i < p.b.size(); ++i) cotangent.push_back(static_cast<double>(i % 7) - 3);
    test::expect_same_on_every_executor([&](const Device& d) {
      const Gradients g = gradients({contacts, p.count, p.A, p.mu, s.c, s.a, regime, cotangent}, d);
      return test::Answer().add("b", g.b).add("mu", g.mu).add("margin", g.margin);
    });
  }
}

TEST(ContactGradients, SizesThatDoNotFitAreRefused) {
  const std::vector<double> A(9), three(3), one(1), two(2);
  const std::vector<std::uint8_t> regime(1);
  EXPECT_NO_THROW((void)gradients({1, 1, A, one, three, three, regime, three}));
  EXPECT_THROW((void)gradients({1, 1, A, two, three, three, regime, three}), Error);
  EXPECT_THROW((void)gradients({1, 1, A, one, three, three, regime, two}), Error);
  EXPECT_THROW((void)gradients({9, 1, A, one, three, three, regime, three}), Error);
}

}  // namespace
}  // namespace garra::contact
