// Batches in which some problems are no numbers.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "answers.hpp"
#include "contact/problems/classes.hpp"
#include "garra/contact.hpp"

namespace garra::test {

/// Solves 13 random grasps, then poisons three of them: they are invalid, and the bits of the others stay.
inline void expect_nan_touches_no_other(int contacts, const contact::Options& options) {
  const auto k = static_cast<std::size_t>(contacts);
  contact::Problems p = bench::random_grasps({contacts, 13, 0});
  const contact::Solutions before = contact::solve(p, options, kReference);
  p.A[2 * 9 * k * k + 5] = std::nan("");
  p.b[7 * 3 * k + 3 * k - 1] = std::numeric_limits<double>::infinity();  // the last number of the last contact
  p.mu[12 * k + k - 1] = -1;
  for (const Device& device : {kReference, Device{Executor::kLanes, 1, 0}}) {
    const contact::Solutions found = contact::solve(p, options, device);
    for (std::size_t i = 0; i < 13; ++i) {
      if (i == 2 || i == 7 || i == 12) {
        EXPECT_EQ(found.status[i], Status::kInvalidInput) << i;
        continue;
      }
      EXPECT_EQ(found.status[i], before.status[i]);
      for (std::size_t j = 3 * k * i; j < 3 * k * (i + 1); ++j)
        EXPECT_TRUE(found.c[j] == before.c[j] || std::isnan(before.c[j])) << i;
    }
  }
}

}  // namespace garra::test
