// Finds all solutions of small linear complementarity problems, problem by problem (docs/theory/lcp.md).
#include "contact/lcp/arrays.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/batch/rows.hpp"
#include "garra/lcp.hpp"

namespace garra::lcp {

namespace {

/// The enumerations of problems of N pairs, appended in order.
template <int N>
void enumerate_all(const Problems& in, int threads, Enumeration& out) {
  // Each problem has its own slot, and slots are appended in order afterwards: answers do not depend on the threads.
  std::vector<solvers::LcpEnumeration<N>> each(static_cast<std::size_t>(in.count));
  batch::parallel_for(threads, in.count, [&](std::int64_t k) {
    each[static_cast<std::size_t>(k)] = solvers::enumerate_solutions<N>(problem_at<N>(in, k));
  });
  for (const auto& e : each) {
    out.decision.push_back(e.decision);
    out.p_matrix.push_back(e.p_matrix);
    out.singular.push_back(e.singular);
    out.undecided.push_back(e.undecided);
    for (const auto& s : e.solutions) {
      out.z.insert(out.z.end(), s.z.m, s.z.m + N);
      out.proved.push_back(s.proved ? 1 : 0);
      out.degenerate.push_back(s.degenerate ? 1 : 0);
    }
    // Offsets, not counts: `first` has count + 1 entries and the solutions of problem k are [first[k], first[k + 1]).
    out.first.push_back(out.first.back() + static_cast<std::int64_t>(e.solutions.size()));
  }
}

}  // namespace

Enumeration enumerate(const Problems& problems, int threads) {
  check_sizes(problems, kMaxEnumerated);
  Enumeration out;
  out.size = problems.size;
  out.count = problems.count;
  out.first.push_back(0);
  const int team = study_threads({.threads = threads});
  batch::with_size<kMaxEnumerated>(problems.size, [&](auto size) { enumerate_all<size>(problems, team, out); });
  return out;
}

}  // namespace garra::lcp
