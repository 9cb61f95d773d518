// The helper that all comparisons of executors go through: it sees a single bit, and says where no GPU is.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <limits>

#include "on_every_executor.hpp"

namespace garra::test {
namespace {

TEST(Executors, AGpuIsAmongThem) {
  if (!gpu_here())
    GTEST_SKIP() << "no CUDA device: in all tests, what kernels answer was compared with nothing on this machine";
  EXPECT_EQ(other_executors().back().executor, Executor::kCuda);
}

struct Given {
  std::vector<double> x;
  std::vector<std::uint8_t> flag;
  int count = 0;
};
Answer make_answer(const Given& g) {
  return every_member(g, Member{"x", &Given::x}, Member{"flag", &Given::flag}, Member{"count", &Given::count});
}

TEST(Executors, ThatAnswerAlikePass) {
  expect_same_on_every_executor([](const Device&) {
    return make_answer({{1, std::numeric_limits<double>::quiet_NaN()}, {3}, 2});
  });
}

TEST(Executors, ThatDifferInABitAreNamed) {
  EXPECT_NONFATAL_FAILURE(expect_same_on_every_executor([](const Device& device) {
                            const bool one = device.executor == Executor::kLanes && device.threads == 3;
                            return make_answer({{1, one ? -0.0 : 0.0}, {3}, 2});
                          }),
                          "x[1]: 0, -0");
}

TEST(Answer, TellsWhereAnotherDiffers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Answer a = make_answer({{1, nan}, {3}, 2});
  EXPECT_EQ(a.difference(make_answer({{1, nan}, {3}, 2}), false), "");
  EXPECT_EQ(a.difference(make_answer({{1, -nan}, {3}, 2}), true), "");
  EXPECT_NE(a.difference(make_answer({{1, -nan}, {3}, 2}), false), "");
  EXPECT_EQ(a.difference(make_answer({{1, nan}, {4}, 2}), true), "flag[0]: ...\x03..., ...\x04...");
  EXPECT_EQ(a.difference(make_answer({{1, nan}, {3}, 5}), true), "count[0]: 2, 5");
  EXPECT_EQ(a.difference(make_answer({{1}, {3}, 2}), true), "x of 2, x of 1");
  EXPECT_EQ(Answer().add("s", std::string("ab")).difference(Answer().add("s", std::string("ac")), true),
            "s[1]: ...ab..., ...ac...");
}

TEST(Executors, NothingToCompareIsAFailure) {
  EXPECT_NONFATAL_FAILURE(expect_same_on_every_executor([](const Device&) { return Answer(); }), "nothing to compare");
}

}  // namespace
}  // namespace garra::test
