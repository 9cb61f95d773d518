// The ladder beyond Newton's rungs: one solver after another on the problems that are still unsolved
// (docs/contact-solver.md). Rare, so it is a pass of its own and stays out of the loop that Newton runs in.
#pragma once

#include <type_traits>

#include "garra/solve/friction_admm.hpp"
#include "garra/solve/friction_convex.hpp"
#include "garra/solve/friction_extragradient.hpp"
#include "garra/solve/friction_nsgs.hpp"
#include "garra/solve/friction_proximal.hpp"

namespace garra::solvers {

/// The solvers of the ladder beyond Newton, in their order, with as many iterations as are worth their time: a problem
/// without solution may pay for all of them.
struct FrictionRescue {
  double tol = 1e-8;
  int first_steps = 200;      ///< Newton steps of the first proximal attempt, all that an unsymmetric problem gets
  int proximal_steps = 6000;  ///< of the further attempts
  int sweeps = 1000;
  int admm_iterations = 2000;
  int extragradient_iterations = 2000;
  int convex_steps = 400;
  int polish_steps = 15;  ///< Newton steps from an iterate of a splitting method
};

/// Contacts with which the last solver is tried: its time grows with their fourth power, to minutes, and of larger
/// problems the others have left none (docs/contact-solver.md).
inline constexpr int kMostConvex = 8;

namespace friction_rescue {

/// Whether the certificate takes these forces.
template <class S, int N, class Matrix>
GARRA_HD_CALL MaskOf<S> solves(const FrictionProblem<S, N, 3, Matrix>& p, const Vec<S, 3 * N>& c, double tol) {
  const Candidate<S, N> found = candidate_of<S, N>(c, S(int(Status::kStalled)), Effort<S>::none());
  return certify(p, found, tol).status == S(int(Status::kConverged));
}

/// Where `better`, the force that was found; the efforts add up, and the rung goes up by one.
template <class S, int N>
GARRA_HD void take(const MaskOf<S>& tried, const MaskOf<S>& better, const Candidate<S, N>& found,
                   Candidate<S, N>& best) {
  best.c = select(better, found.c, best.c);
  best.effort.outer += select(tried, found.effort.outer, S(0));
  best.effort.stage += select(tried, S(1), S(0));
}

/// Newton from the force of a splitting method.
template <class S, int N, class Matrix>
GARRA_HD_CALL Vec<S, 3 * N> polished(const FrictionRescue& r, const FrictionProblem<S, N, 3, Matrix>& p,
                                     const Vec<S, 3 * N>& c) {
  FrictionNewton newton;
  newton.tol = r.tol;
  newton.ladder = false;
  newton.stage_steps = newton.max_iterations = r.polish_steps;
  FrictionState<S, N, 3, Matrix> s;
  friction_proximal::begin(newton, p, c, s);
  while (any(newton.running(s))) friction_proximal::advance(newton, s);
  return s.unit * s.c;
}

/// One solver on the lanes that wait, Newton trying from its iterate after `polish`, twice, four times, ... as many
/// steps and at its end. `aside` is the same problem, with room for Newton's matrices where `p` has room for the
/// solver's.
template <class Solver, class S, int N, class Matrix>
GARRA_HD_CALL void attempt(const FrictionRescue& r, const Solver& solver, int polish,
                           const FrictionProblem<S, N, 3, Matrix>& p, const FrictionProblem<S, N, 3, Matrix>& aside,
                           Candidate<S, N>& best, MaskOf<S>& waiting) {
  if (!any(waiting)) return;
  decltype(solver.start(p)) state;
  if constexpr (requires { solver.start(p, state); })
    solver.start(p, state);
  else
    state = solver.start(p);
  for (int done = 1, next = polish;; ++done) {
    state.running = select(waiting, state.running, S(0));
    const bool over = !any(solver.running(state));
    if (!over) solver.step(state);
    if (!over && done < next) continue;
    // Newton costs nothing beside a step of the convex problems.
    next = std::is_same_v<Solver, FrictionConvex> ? done + 1 : 2 * done;
    Candidate<S, N> found = solver.candidate(state);
    const Vec<S, 3 * N> newton = polished(r, aside, found.c);
    const auto itself = solves(p, found.c, r.tol);
    const auto better = waiting && (itself || solves(p, newton, r.tol));
    found.c = select(itself, found.c, newton);
    take(better || (waiting && MaskOf<S>(over)), better, found, best);
    waiting = waiting && !better;
    // Where forces run away whatever the attempt, there is nothing to be found.
    if constexpr (std::is_same_v<Solver, FrictionProximal>)
      waiting = waiting && !(MaskOf<S>(over) && found.reason == S(int(Status::kStalled)));
    if (over || !any(waiting)) return;
  }
}

/// Sliding contacts, once eliminated, leave an unsymmetric matrix. Of such problems those that the first attempt leaves
/// unsolved have no solution, as far as any solver here can tell (of 400,000, 3 and 4 contacts).
template <class S, int N, class Matrix>
GARRA_HD MaskOf<S> symmetric(const FrictionProblem<S, N, 3, Matrix>& p) {
  S largest = S(0), skew = S(0);
  for (int i = 0; i < 3 * N; ++i) {
    largest = max(largest, abs(p.A(i, i)));
    for (int k = 0; k < i; ++k) skew = max(skew, abs(p.A(i, k) - p.A(k, i)));
  }
  return skew <= S(1e-6) * largest;
}

/// A solver with the tolerance and a limit of its own.
template <class Solver>
GARRA_HD Solver limited(double tol, int max_iterations) {
  Solver solver;
  solver.tol = tol;
  solver.max_iterations = max_iterations;
  return solver;
}

}  // namespace friction_rescue

/// Matrices that there is to be room for behind those of `p` and of `aside`, where they are elsewhere (FarMat): the
/// proximal method's own, shifted, and Newton's two; Newton's two.
inline constexpr int kRescueMatrices = 4, kPolishMatrices = 2;

/// Goes on where FrictionNewton has come to its limit. One contact is solved exactly by one sweep of Gauss-Seidel.
/// `aside`: attempt()'s.
template <class S, int N, class Matrix>
GARRA_HD void rescue(const FrictionRescue& r, const FrictionProblem<S, N, 3, Matrix>& p,
                     const FrictionProblem<S, N, 3, Matrix>& aside, Candidate<S, N>& best) {
  using namespace friction_rescue;
  constexpr int kNever = 1 << 30, kSoon = 4;
  auto waiting = best.reason == S(int(Status::kIterationLimit)) && !solves(p, best.c, r.tol);
  const auto nsgs = limited<FrictionNsgs>(r.tol, r.sweeps);
  if constexpr (N == 1) attempt(r, nsgs, kNever, p, aside, best, waiting);
  auto proximal = limited<FrictionProximal>(r.tol, r.first_steps);
  attempt(r, proximal, kNever, p, aside, best, waiting);
  waiting = waiting && symmetric(p);
  // Half of what the first attempt leaves, in a fifth of the time that the further ones take.
  attempt(r, limited<FrictionAdmm>(r.tol, r.admm_iterations), kSoon, p, aside, best, waiting);
  proximal.max_iterations = r.proximal_steps;
  proximal.first_attempt = 1;
  attempt(r, proximal, kNever, p, aside, best, waiting);
  if constexpr (N > 1) attempt(r, nsgs, kSoon, p, aside, best, waiting);
  attempt(r, limited<FrictionExtragradient>(r.tol, r.extragradient_iterations), kSoon, p, aside, best, waiting);
  if constexpr (N > 1 && N <= kMostConvex)
    attempt(r, limited<FrictionConvex>(r.tol, r.convex_steps), 1, p, aside, best, waiting);
}

}  // namespace garra::solvers
