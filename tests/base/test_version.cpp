// Which versions have the same results.
#include <gtest/gtest.h>

#include <string>

#include "garra/core/version.hpp"

namespace garra {
namespace {

TEST(Version, RunsOfEqualMajorAndMinorNumberHaveTheSameResults) {
  EXPECT_TRUE(same_results("0.2.0", "0.2.0"));
  EXPECT_TRUE(same_results("0.2.0", "0.2.17"));
  EXPECT_TRUE(same_results("0.2", "0.2.1"));
  EXPECT_FALSE(same_results("0.1.0", "0.2.0"));
  EXPECT_FALSE(same_results("1.2.0", "0.2.0"));
  EXPECT_FALSE(same_results("0.2.0", "0.20.0"));
  EXPECT_FALSE(same_results("0.2.0", ""));
  EXPECT_FALSE(same_results("0.2.0", "0"));
  EXPECT_TRUE(same_results("unknown", "unknown"));
}

TEST(Version, ResultsAreNamedByTheFirstTwoNumbers) {
  EXPECT_TRUE(same_results(version(), results_version()));
  EXPECT_EQ(std::string(version()).rfind(results_version() + ".", 0), 0u);
}

}  // namespace
}  // namespace garra
