// Computes contact states and friction margins of a solution (docs/reference/contact-files.md), for every executor.
#pragma once

#include "contact/batch/padded.hpp"
#include "garra/batch/tiles.hpp"
#include "garra/contact.hpp"
#include "garra/solvers/friction_problem.hpp"
#include "garra/systems/grasp/metrics.hpp"

namespace garra::contact {

/// Contact results of one solution; all members are S.
template <class S, int N>
struct ContactDiagnostics {
  S merit;              ///< the papers' (4) at c
  S friction_margin;    ///< smallest of the contacts; NaN if the problem is not solved
  S required_friction;  ///< largest of the contacts; NaN likewise
  Vec<S, N> state;      ///< ContactState
  static constexpr auto parts() {
    return std::tuple{&ContactDiagnostics::merit, &ContactDiagnostics::friction_margin,
                      &ContactDiagnostics::required_friction, &ContactDiagnostics::state};
  }
};

/// The force of an open contact is taken as zero, without its rounding. Contacts from `contacts` on are padding.
template <class S, int N>
GARRA_HD ContactDiagnostics<S, N> compute_diagnostics(const Vec<S, 3 * N>& b, const Vec<S, N>& mu,
                                                      const solvers::SlidingContacts<S, N>& sliding,
                                                      const solvers::FrictionSolution<S, N>& s, int contacts) {
  ContactDiagnostics<S, N> out;
  out.merit = solvers::papers_merit(mu, sliding, s.c, s.a);
  // A contact moves if |a| is above kMotion of the scaled load: rounding of a is relative to b.
  const S eps = S(solvers::kMotion) * solvers::friction_scale<S, 3 * N>([](int) { return S(0); }, b).size_b;
  const auto solved = s.status == S(int(Status::kConverged));
  // Neutral elements of min and max, so that the first contact sets both.
  S margin = S(grasp::kInfinity), critical = S(0);
  for (int j = 0; j < (kTakesFewer<N> ? contacts : extent<N>()); ++j) {
    const S moves = solvers::contact_state(solvers::contact<S, N>(s.a, j), eps);
    const auto open = moves == S(int(ContactState::kOpen));
    // A contact given as sliding never sticks, even if its acceleration is below eps: it has a velocity.
    const S state = select(sliding.slides(j) && !open, S(int(ContactState::kSlip)), moves);
    out.state[j] = select(solved, state, S(int(ContactState::kUnknown)));
    const Vec3<S> c = select(open, Vec3<S>::zero(), solvers::contact<S, N>(s.c, j));
    margin = min(margin, grasp::friction_margin(c, mu[j]));
    critical = max(critical, grasp::required_friction(c));
  }
  const S nan = S(__builtin_nan(""));
  out.friction_margin = select(solved, margin, nan);
  out.required_friction = select(solved, critical, nan);
  return out;
}

/// compute_diagnostics() of problem i in tiles.
template <int N>
struct DiagnosticsKernel {
  const double* problems;
  const double* sliding;  ///< or null: all contacts may roll
  const double* solutions;
  double* diagnostics;
  int contacts = N;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    // Zero directions mean that all contacts may roll.
    const solvers::SlidingContacts<S, N> slips{sliding == nullptr ? Vec<S, 2 * N>::zero()
                                                                  : load_vector<S, 2, N>(sliding, i, contacts)};
    const TileProblem<S, N> p(problems, i, contacts);
    // States come last, so that no column reads those of padding contacts.
    batch::store<S>(
        diagnostics, i,
        compute_diagnostics<S, N>(p.b(), p.mu(), slips, take_solution<S, N>(solutions, i, contacts), contacts));
  }
};

}  // namespace garra::contact
