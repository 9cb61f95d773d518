// contact::balance: closed forms, the same bits on every executor, sizes that do not fit. The decision itself is tested
// against linear programs in tests/grasp.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "contact/problems/classes.hpp"
#include "garra/core/error.hpp"
#include "garra/wrench_balance.hpp"
#include "on_every_executor.hpp"

namespace garra::contact {
namespace {

/// Two contacts that face each other along x, 0.1 m apart, z up; n, t, o of the first are x, y, z. Moments about the
/// middle over 0.05 m.
std::vector<double> facing_contacts() {
  constexpr int k = 6;
  std::vector<double> W(6 * k, 0.0);
  const auto set = [&](int row, int column, double value) { W[static_cast<std::size_t>(row * k + column)] = value; };
  for (int side = 0; side < 2; ++side) {
    const double sign = side == 0 ? 1 : -1;  // the normals point inwards from x = -0.05 and x = 0.05
    set(0, 3 * side, sign);
    set(1, 3 * side + 1, sign);
    set(2, 3 * side + 2, 1);
    // Moments p x f with p = (-sign 0.05, 0, 0): of f_y about z, of f_z about y.
    set(5, 3 * side + 1, -1);
    set(4, 3 * side + 2, sign);
  }
  return W;
}

TEST(WrenchBalance, TwoFacingContactsResistAllButTheMomentAboutTheirLine) {
  const std::vector<double> once = facing_contacts(), mu = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
  std::vector<double> W;
  for (int i = 0; i < 3; ++i) W.insert(W.end(), once.begin(), once.end());
  const std::vector<double> w = {0, 0, -9, 0, 0, 0,   // a weight
                                 0, 0, 0,  1, 0, 0,   // about the line
                                 0, 0, 0,  0, 1, 1};  // across it
  const Balances free = balance({2, 3, W, w, mu});
  EXPECT_EQ(free.decision[0], ResistanceStatus::kPossible);
  EXPECT_EQ(free.decision[1], ResistanceStatus::kImpossible);
  EXPECT_EQ(free.decision[2], ResistanceStatus::kPossible);
  // Half of the weight each: the least normal force is 4.5 / 0.5 = 9.
  EXPECT_GE(free.force[0], 9 - 1e-6);
  EXPECT_NEAR(free.force[2] + free.force[5], 9, 1e-7);
  EXPECT_NEAR(std::abs(free.wrench[6 + 3]), 1, 1e-9) << "what separates: the moment about the line";
  const std::vector<double> little = {8.9, 8.9, 8.9, 8.9, 8.9, 8.9}, enough = {9.1, 9.1, 9.1, 9.1, 9.1, 9.1};
  EXPECT_EQ(balance({2, 3, W, w, mu, little}).decision[0], ResistanceStatus::kImpossible);
  EXPECT_EQ(balance({2, 3, W, w, mu, enough}).decision[0], ResistanceStatus::kPossible);
}

// As many contacts on either side, each of which presses with its share.
TEST(WrenchBalance, ManyContactsCanDoWhatFewStrongerOnesCan) {
  const std::vector<double> once = facing_contacts();
  for (const int times : {5, 6, 8, 11, 16}) {
    SCOPED_TRACE(2 * times);
    const std::size_t k = 2 * static_cast<std::size_t>(times);
    std::vector<double> W(6 * 3 * k);
    for (std::size_t row = 0; row < 6; ++row)
      for (std::size_t j = 0; j < 3 * k; ++j) W[3 * k * row + j] = once[6 * row + j % 6];
    const std::vector<double> mu(k, 0.5), w = {0, 0, -9, 0, 0, 0};
    // Half of the weight for each side, at the least normal force 9 N in all.
    const std::vector<double> little(k, 8.9 / times), enough(k, 9.1 / times);
    EXPECT_EQ(balance({static_cast<int>(k), 1, W, w, mu, little}).decision[0], ResistanceStatus::kImpossible);
    const Balances found = balance({static_cast<int>(k), 1, W, w, mu, enough});
    ASSERT_EQ(found.decision[0], ResistanceStatus::kPossible);
    double up = 0;
    for (std::size_t j = 0; j < k; ++j) {
      const double* c = found.force.data() + 3 * j;
      EXPECT_LE(c[0], 9.1 / times * (1 + 1e-12));
      EXPECT_LE(std::hypot(c[1], c[2]), 0.5 * c[0] * (1 + 1e-12));
      up += c[2];
    }
    EXPECT_NEAR(up, 9, 1e-7);
  }
}

TEST(WrenchBalance, EveryExecutorGivesTheSameBits) {
  // Kernels pad 9, 15 and 17 contacts to 12, 16 and 24, so that their iterations are not those of the processor.
  for (const int contacts : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 17, 32}) {
    SCOPED_TRACE(contacts);
    bench::Random random(static_cast<std::uint64_t>(contacts));
    const std::int64_t count = contacts > 8 ? 19 : 65;
    std::vector<double> W, w, mu, limit;
    for (std::int64_t i = 0; i < count * 18 * contacts; ++i) W.push_back(random.uniform(-1, 1));
    for (std::int64_t i = 0; i < count * 6; ++i) w.push_back(random.uniform(-1, 1));
    for (std::int64_t i = 0; i < count * contacts; ++i) {
      mu.push_back(random.uniform(0.1, 1));
      limit.push_back(i % 3 == 0 ? std::numeric_limits<double>::infinity() : random.uniform(0.5, 20));
    }
    w[6 * 7] = std::numeric_limits<double>::quiet_NaN();
    const bool padded = contacts == 9 || contacts == 15 || contacts == 17;
    test::expect_same_on(padded ? test::other_host_executors() : test::other_executors(), [&](const Device& d) {
      const Balances b = balance({contacts, count, W, w, mu, limit}, d);
      EXPECT_EQ(b.decision[7], ResistanceStatus::kUndecided);
      return test::Answer()
          .add("verdict", b.decision)
          .add("force", b.force)
          .add("wrench", b.wrench)
          .add("gap", b.gap)
          .add("steps", b.steps);
    });
  }
}

TEST(WrenchBalance, SizesThatDoNotFitAreRefused) {
  const std::vector<double> W(36), w(6), mu(2), one(1);
  EXPECT_NO_THROW((void)balance({2, 1, W, w, mu}));
  EXPECT_THROW((void)balance({2, 1, W, w, one}), Error);
  EXPECT_THROW((void)balance({2, 1, W, w, mu, one}), Error);
  EXPECT_THROW((void)balance({33, 1, W, w, mu}), Error);
  EXPECT_THROW((void)balance({0, 1, {}, w, {}}), Error);
  EXPECT_TRUE(balance({2, 0, {}, {}, {}}).decision.empty());
}

}  // namespace
}  // namespace garra::contact
