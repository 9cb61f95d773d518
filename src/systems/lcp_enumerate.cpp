#include <omp.h>

#include <array>

#include "garra/lcp.hpp"
#include "systems/lcp_arrays.hpp"

namespace garra::lcp {

namespace {

/// The enumerations of problems of N pairs, appended in order.
template <int N>
void enumerate_all(const Problems& in, int threads, Enumeration& out) {
  std::vector<solvers::LcpEnumeration<N>> each(static_cast<std::size_t>(in.count));
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::int64_t k = 0; k < in.count; ++k)
    each[static_cast<std::size_t>(k)] = solvers::enumerate_solutions<N>(problem_at<N>(in, k));
  for (const auto& e : each) {
    out.verdict.push_back(e.verdict);
    out.p_matrix.push_back(e.p_matrix);
    out.singular.push_back(e.singular);
    out.undecided.push_back(e.undecided);
    for (const auto& s : e.solutions) {
      out.z.insert(out.z.end(), s.z.m, s.z.m + N);
      out.proved.push_back(s.proved ? 1 : 0);
      out.degenerate.push_back(s.degenerate ? 1 : 0);
    }
    out.first.push_back(out.first.back() + static_cast<std::int64_t>(e.solutions.size()));
  }
}

}  // namespace

Enumeration enumerate(const Problems& problems, int threads) {
  check_sizes(problems);
  Enumeration out;
  out.size = problems.size;
  out.count = problems.count;
  out.first.push_back(0);
  using Run = void (*)(const Problems&, int, Enumeration&);
  static constexpr std::array<Run, kMaxSize> runs = {enumerate_all<1>, enumerate_all<2>, enumerate_all<3>,
                                                     enumerate_all<4>, enumerate_all<5>, enumerate_all<6>,
                                                     enumerate_all<7>, enumerate_all<8>};
  const auto run = runs[static_cast<std::size_t>(problems.size - 1)];
  run(problems, threads > 0 ? threads : omp_get_max_threads(), out);
  return out;
}

}  // namespace garra::lcp
