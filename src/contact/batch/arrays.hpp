// Reads and writes single problems and solutions in the plain arrays of contact.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "contact/batch/diagnostics.hpp"
#include "garra/batch/rows.hpp"
#include "garra/contact.hpp"
#include "garra/core/one_nan.hpp"
#include "garra/lcp.hpp"
#include "garra/solvers/friction_problem.hpp"

namespace garra::contact {

/// Types for any number of contacts, in a thread that has set that number (ContactsInUse).
using Problem = solvers::FrictionProblem<double, kAnyContacts>;
using Slips = solvers::SlidingContacts<double, kAnyContacts>;
using Solution = solvers::FrictionSolution<double, kAnyContacts>;

/// Problem k of the batch: A row-major [1/kg], b [m/s^2], contact-major (n, t, o).
inline Problem problem_at(const ProblemView& in, std::int64_t k) {
  const std::int64_t n = in.contacts;
  Problem p;
  std::copy_n(in.A.data() + k * 9 * n * n, 9 * n * n, p.A.m);
  std::copy_n(in.b.data() + k * 3 * n, 3 * n, p.b.m);
  std::copy_n(in.mu.data() + k * n, n, p.mu.m);
  return p;
}

/// Whether contact j of problem k slides.
inline bool slides(const ProblemView& in, std::int64_t k, int j) {
  return !in.mode.empty() && in.mode[static_cast<std::size_t>(k * in.contacts + j)] != 0;
}

/// The direction of a slip velocity. A sliding contact without one gets NaN, which the certificate reports as invalid.
inline std::array<double, 2> unit_slip(const double* v) {
  // hypot: the square of a speed below 1e-154 m/s would vanish, and with it the direction.
  const double speed = std::hypot(v[0], v[1]);
  return {v[0] / speed, v[1] / speed};
}

/// Unit slip directions of problem k, (0, 0) for a contact that may roll.
inline Slips sliding_at(const ProblemView& in, std::int64_t k) {
  Slips out{Vec<double, 2 * kAnyContacts>::zero()};
  if (in.slip_velocity.empty()) return out;
  for (int j = 0; j < in.contacts; ++j) {
    if (!slides(in, k, j)) continue;
    const auto slip = unit_slip(in.slip_velocity.data() + 2 * (k * in.contacts + j));
    for (int i = 0; i < 2; ++i) out.v[2 * j + i] = slip[static_cast<std::size_t>(i)];
  }
  return out;
}

/// Unit slip directions of all problems [n][k][2]; empty if the problems have none.
[[nodiscard]] std::vector<double> slip_directions(const ProblemView& in, int threads);

/// Stores one solution into the arrays that `out` has. Whole blocks go through Block of solve_batch.hpp.
inline void store_solution(const ProblemView& in, std::int64_t k, const Solution& s, Solutions& out) {
  const auto at = static_cast<std::size_t>(k);
  // From the problem as given, not as eliminated: the results concern all contacts, sliding ones included.
  const auto problem = problem_at(in, k);
  const auto diagnostics =
      compute_diagnostics<double, kAnyContacts>(problem.b, problem.mu, sliding_at(in, k), s, in.contacts);
  // Unwanted arrays are empty (make_room); the others have space for every problem. Forces and margins are numbers, or
  // NaN for none.
  const int n = in.contacts;
  if (!out.c.empty()) std::copy_n(s.c.m, 3 * n, out.c.data() + k * 3 * n);
  if (!out.a.empty()) std::copy_n(s.a.m, 3 * n, out.a.data() + k * 3 * n);
  out.residual[at] = with_one_nan(s.residual);
  out.contact_residual[at] = with_one_nan(s.contact_residual);
  out.minimum[at] = with_one_nan(s.minimum);
  out.projected_gradient[at] = with_one_nan(s.projected_gradient);
  out.iterations[at] = static_cast<std::int32_t>(s.effort.outer);
  out.evaluations[at] = static_cast<std::int32_t>(s.effort.evaluations);
  out.inner[at] = static_cast<std::int32_t>(s.effort.inner);
  out.products[at] = static_cast<std::int32_t>(s.effort.products);
  out.stage[at] = static_cast<std::int32_t>(s.effort.stage);
  out.stalls[at] = static_cast<std::int32_t>(s.effort.stalls);
  out.status[at] = static_cast<Status>(static_cast<int>(s.status));
  if (!out.merit.empty()) out.merit[at] = with_one_nan(diagnostics.merit);
  // State and margins are wanted together or not at all.
  if (out.state.empty()) return;
  for (int j = 0; j < n; ++j)
    out.state[static_cast<std::size_t>(k * n + j)] = static_cast<ContactState>(static_cast<int>(diagnostics.state[j]));
  out.friction_margin[at] = diagnostics.friction_margin;
  out.required_friction[at] = diagnostics.required_friction;
}

/// Arrays of the right sizes, with nothing solved yet.
[[nodiscard]] Solutions unsolved(const ProblemView& problems);

/// The same in `out`, whose memory is reused; numbers of an earlier call may stay. Unwanted arrays are left out.
void make_room(const ProblemView& problems, const Wanted& wanted, Solutions& out);

/// contact::check_solution into the arrays that `out` has; the sizes must match.
void check_solution(const ProblemView& problems, std::span<const double> c, double tolerance, int threads,
                    Solutions& out);

/// Throws Error(kInvalidFile) if the sizes of the arrays do not match.
void check_sizes(const ProblemView& problems);
/// Throws Error(kUsage) if mixed precision does not support the method or the number of contacts.
void check_precision(int contacts, const Options& options);

/// For problems whose contacts all slide, tries all 2^k bases. Fills `solutions` on request, proves
/// Status::kNoSolution, and for Method::kAuto takes a solution that the iteration has not found.
void add_diagnostics(const ProblemView& problems, const Options& options, const Device& device, Solutions& out);

/// The linear complementarity problems of problems whose contacts all slide: M = A~_nn, q = b_n      (papers, 46 and
/// 24)
[[nodiscard]] lcp::Problems normal_problems(const ProblemView& problems);

}  // namespace garra::contact
