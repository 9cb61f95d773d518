// Access to a batch of LCPs in plain arrays, problem by problem.
#pragma once

#include <algorithm>
#include <string>

#include "garra/core/error.hpp"
#include "garra/lcp.hpp"

namespace garra::lcp {

/// Problem k: M row-major, q.
template <int N>
solvers::LcpProblem<double, N> problem_at(const Problems& in, std::int64_t k) {
  solvers::LcpProblem<double, N> p;
  std::copy_n(in.M.data() + k * N * N, N * N, p.M.m);
  std::copy_n(in.q.data() + k * N, N, p.q.m);
  return p;
}

inline void check_sizes(const Problems& in, int most) {
  if (in.size < 1 || in.size > most)
    throw Error(ExitCode::kInvalidFile, "size = " + std::to_string(in.size) + " per problem",
                "between 1 and " + std::to_string(most) + " pairs are supported");
  const auto n = static_cast<std::size_t>(in.count), k = static_cast<std::size_t>(in.size);
  if (in.count < 0 || in.M.size() != n * k * k || in.q.size() != n * k)
    throw Error(ExitCode::kInvalidFile, "M and q do not have the sizes [n,k,k] and [n,k] of n = " +
                                            std::to_string(in.count) + ", k = " + std::to_string(in.size));
}

}  // namespace garra::lcp
