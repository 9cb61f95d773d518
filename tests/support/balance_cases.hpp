// Wrench balances in tests: what their certificates are made of, and lanes beside scalar code.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "garra/batch/for_each.hpp"
#include "garra/batch/tiles.hpp"
#include "garra/core/lanes.hpp"
#include "garra/solvers/wrench_balance.hpp"
#include "same_bits.hpp"

namespace garra::test {

/// Of a problem and its answer: |w|, |W c + w| and y . w.
struct BalanceSums {
  double size = 0, left = 0, value = 0;
};

template <class Problem, class Answer>
[[nodiscard]] BalanceSums balance_sums(const Problem& p, const Answer& a) {
  BalanceSums s;
  for (int r = 0; r < 6; ++r) {
    double sum = p.w[r];
    for (int k = 0; k < static_cast<int>(sizeof a.c / sizeof(double)); ++k) sum += p.W(r, k) * a.c[k];
    s.size += p.w[r] * p.w[r];
    s.left += sum * sum;
    s.value += a.y[r] * p.w[r];
  }
  return {std::sqrt(s.size), std::sqrt(s.left), s.value};
}

/// The certificate's last word: c balances, or no force of any contact gains against y.
inline void expect_decided(double balanced, const BalanceSums& s) {
  if (balanced == 1)
    EXPECT_LE(s.left, 2e-9 * s.size);
  else
    EXPECT_GT(s.value, 0);
}

template <template <class> class Problem, template <class> class Answer>
struct BalanceKernel {
  const double* problems;
  double* answers;
  template <class S>
  void operator()(std::int64_t i) const {
    const auto p = batch::load<S, Problem<S>>(problems, i);
    batch::store<S>(answers, i, solvers::balance_wrench(p, decltype(Answer<S>::c)::zero()));
  }
};

/// Expects the bits of scalar code from lanes, with a NaN in problem `poisoned`, and that only this one is not decided.
template <template <class> class Problem, template <class> class Answer>
void expect_same_balances_in_lanes(std::vector<Problem<double>> list, std::size_t poisoned) {
  ASSERT_GE(list.size(), 17u);
  list[poisoned].w[2] = NAN;
  const auto n = static_cast<std::int64_t>(list.size());
  batch::Tiles<Problem<double>> problems(n);
  for (std::int64_t i = 0; i < n; ++i) problems.set(i, list[static_cast<std::size_t>(i)]);
  problems.pad();
  batch::Tiles<Answer<double>> one(n), many(n);
  batch::for_each(Executor::kScalar, n, BalanceKernel<Problem, Answer>{problems.data(), one.data()});
  batch::for_each(Executor::kLanes, n, BalanceKernel<Problem, Answer>{problems.data(), many.data()});
  for (std::int64_t i = 0; i < n; ++i) {
    const auto a = one.get(i), b = many.get(i);
    EXPECT_TRUE(
        same_bits(reinterpret_cast<const double*>(&a), reinterpret_cast<const double*>(&b), sizeof a / sizeof(double)))
        << i;
  }
  EXPECT_TRUE(std::isnan(one.get(static_cast<std::int64_t>(poisoned)).balanced));
}

}  // namespace garra::test
