// The fallback solvers after Newton: one solver after another on the problems that are still
// unsolved (docs/theory/contact-solver.md). They are rarely needed and form a separate pass,
// outside of Newton's loop.
#pragma once

#include <type_traits>

#include "garra/solvers/friction_admm.hpp"
#include "garra/solvers/friction_convex.hpp"
#include "garra/solvers/friction_interior.hpp"
#include "garra/solvers/friction_nsgs.hpp"
#include "garra/solvers/friction_path.hpp"
#include "garra/solvers/friction_proofs.hpp"
#include "garra/solvers/friction_proximal.hpp"
#include "garra/solvers/friction_refine.hpp"

namespace garra::solvers {

/// Options of the fallback solvers, in their order; beyond the limits iterations rarely pay.
struct FrictionFallback {
  double tolerance = 1e-8;
  int max_iterations = 3000;    ///< stop: outer iterations of all solvers, Newton's included, >= this
  double most_work = kMaxWork;  ///< stop: work >= this, in Newton steps (step_cost)
  bool searches = true;         ///< false: only proofs, and refinement of another solver's result
  int interior_steps = 60;
  int path_steps = 800;         ///< of each attempt on the path
  int first_steps = 200;        ///< Newton steps of the first proximal attempt
  int pressed_steps = 100;      ///< likewise if the load presses internal forces together
  double near_solution = 0.02;  ///< then: no further attempt if the change of the load after a few steps > this
  int proximal_steps = 6000;    ///< of the further attempts
  int sweeps = 1000;
  int admm_iterations = 2000;
  int convex_steps = 400;
  int polish_steps = 15;        ///< Newton steps from an iterate of a splitting method
  void (*between)() = nullptr;  ///< called after each step on the host; may throw

  /// Work of a thousand ordinary problems of five steps. Only positive definite problems and
  /// problems near the border of solvability come near it. Nearly all others are solved, or proved to have forces
  /// that the load presses together (InternalForce), within 100.
  static constexpr double kMaxWork = 5000, kNoLimit = 1e30;
};

/// Cost of a solver's step, in Newton steps of the same problem.
template <class Solver, int N>
GARRA_HD constexpr double step_cost() {
  if constexpr (std::is_same_v<Solver, FrictionNsgs>) return 4;
  if constexpr (std::is_same_v<Solver, FrictionAdmm> || std::is_same_v<Solver, FrictionPath>) return 2;
  if constexpr (std::is_same_v<Solver, FrictionConvex>) return 30.0 * (extent<N>() + 2);
  return 1;
}

/// Outer iterations of a step.
template <class Solver>
inline constexpr int kIterations = 1;
template <>
inline constexpr int kIterations<FrictionNsgs> = FrictionNsgs{}.sweeps_per_step;
template <>
inline constexpr int kIterations<FrictionAdmm> = FrictionAdmm{}.iterations_per_step;

namespace friction_fallback {

/// State of one problem on its way through the solvers.
template <class Given, int N, int D>
struct Search {
  const FrictionFallback& options;
  const Given& given;
  bool definite;                 ///< A is positive definite and every contact may roll: a solution exists
  Candidate<double, N, D> best;  ///< with the efforts of all solvers
  double error;                  ///< its change of the load
  double work;                   ///< in Newton steps
  bool over;                     ///< converged, or no further solver is tried
  bool solved;                   ///< the best forces are certified
  bool pressed;                  ///< the load presses internal forces together: a solution need not exist

  [[nodiscard]] GARRA_HD bool spent() const { return work >= options.most_work || left() <= 0; }
  /// Remaining outer iterations.
  [[nodiscard]] GARRA_HD int left() const { return static_cast<int>(options.max_iterations - best.effort.outer); }

  /// Takes forces if they are the best so far, refined if that may help.
  GARRA_HD_CALL void offer(const Vec<double, D * N>& c) {
    Candidate<double, N, D> found = best;
    found.c = c;
    const auto checked = given.certify(found, options.tolerance);
    take(checked, c);
  }
  GARRA_HD void take(const FrictionSolution<double, N, D>& checked, const Vec<double, D * N>& c) {
    const bool converged = checked.status == double(int(Status::kConverged));
    if (!converged && !(checked.residual < error)) return;
    error = checked.residual;
    best.c = c;
    solved = solved || converged;
    over = over || converged;
  }
  /// Whether the best forces solve a solvable problem as well as forces in working precision can.
  GARRA_HD_CALL void end_if_ill_conditioned() {
    if (over || !definite) return;
    Candidate<double, N, D> found = best;
    found.reason = double(int(Status::kIllConditioned));
    if (given.certify(found, options.tolerance).status != found.reason) return;
    best.reason = found.reason;
    over = true;
  }
};

/// Result of Newton from the force of a splitting method.
template <int N, int D>
struct Polished {
  Vec<double, D * N> c;
  double steps;
};
template <int N, int D, class Matrix>
GARRA_HD_CALL Polished<N, D> polished(const FrictionFallback& r, const FrictionProblem<double, N, D, Matrix>& p,
                                      const Vec<double, D * N>& c, int most) {
  FrictionNewton newton;
  newton.tolerance = r.tolerance;
  newton.restarts = false;
  newton.stage_steps = newton.max_iterations = min(r.polish_steps, most);
  FrictionState<double, N, D, Matrix> s;
  friction_proximal::begin_newton(newton, p, c, s);
  while (newton.running(s)) friction_proximal::advance(newton, s);
  return {s.unit * s.c, s.steps};
}

/// The best forces so far, refined.
template <class Given, int N, int D, class Matrix>
GARRA_HD_CALL void refine(Search<Given, N, D>& search, const FrictionProblem<double, N, D, Matrix>& p) {
  if (search.left() <= 0) return;
  const Refined<N, D> better = refined<N>(search.given, p, search.best, search.options.tolerance, search.left());
  search.work += better.steps;
  search.best.effort.outer += better.steps;
  search.take(better.checked, better.c);
  search.end_if_ill_conditioned();
}

/// In place if the solver allows: nvcc copies return values.
template <class Solver, int N, int D, class Matrix>
GARRA_HD auto begun(const Solver& solver, const FrictionProblem<double, N, D, Matrix>& p) {
  if constexpr (std::is_same_v<Solver, FrictionInterior>) {
    InteriorState<N, D, Matrix> state;
    solver.start(p, state);
    return state;
  } else if constexpr (std::is_same_v<Solver, FrictionPath>) {
    PathState<N, Matrix> state;
    solver.start(p, state);
    return state;
  } else if constexpr (std::is_same_v<Solver, FrictionProximal>) {
    ProximalState<double, N, D, Matrix> state;
    solver.start(p, state);
    return state;
  } else {
    return solver.start(p);
  }
}

/// Runs one solver. Newton starts from its iterate after `polish`, twice, four times, ... as many
/// steps, and at its end. `aside` is the same problem, with memory for Newton's matrices as `p` has
/// for the solver's.
template <class Solver, class Given, int N, int D, class Matrix>
GARRA_HD_CALL void attempt(Search<Given, N, D>& search, const Solver& solver, int polish,
                           const FrictionProblem<double, N, D, Matrix>& p,
                           const FrictionProblem<double, N, D, Matrix>& aside) {
  if (search.over || search.spent()) return;
  auto state = begun(solver, p);
  for (int done = 1, next = polish;; ++done) {
    const bool ended = !solver.running(state) || search.spent() || search.left() < kIterations<Solver>;
    if (!ended) {
      const double before = solver.candidate(state).effort.outer;
      solver.step(state);
      search.work += step_cost<Solver, N>();
#if !defined(__CUDA_ARCH__)
      if (search.options.between != nullptr) search.options.between();
#endif
      search.best.effort.outer += solver.candidate(state).effort.outer - before;
    }
    if (!ended && done < next) continue;
    // Newton's cost is negligible beside a step of the convex problems.
    next = std::is_same_v<Solver, FrictionConvex> ? done + 1 : 2 * done;
    const Candidate<double, N, D> found = solver.candidate(state);
    search.offer(found.c);
    if (!search.over && search.left() > 0) {
      const Polished<N, D> newton = polished(search.options, aside, found.c, search.left());
      search.work += newton.steps;
      search.best.effort.outer += newton.steps;
      search.offer(newton.c);
    }
    if (!search.over && search.error <= kRefined * search.options.tolerance) refine(search, aside);
    if (ended || search.over) search.best.effort.stage += 1;
    // If forces diverge in every attempt, the problem has no solution to find.
    if constexpr (std::is_same_v<Solver, FrictionProximal>)
      if (ended && !search.pressed && !search.definite && found.reason == double(int(Status::kStalled)))
        search.over = true;
    if (ended || search.over) return;
  }
}

/// A solver with the tolerance and a limit of its own.
template <class Solver>
GARRA_HD Solver limited(double tolerance, int max_iterations) {
  Solver solver;
  solver.tolerance = tolerance;
  solver.max_iterations = max_iterations;
  return solver;
}

/// Attempt 0, 1 or 2 on the path: with A positive definite, and otherwise, where forces grow along
/// it and its turns are sharper. Later attempts use another start, or shorter steps, because the
/// first lost the path.
GARRA_HD FrictionPath make_path(const FrictionFallback& r, bool definite, int attempt) {
  auto path = limited<FrictionPath>(r.tolerance, r.path_steps);
  path.first_force = attempt == 2 ? 1 : attempt == 0 ? (definite ? 1e3 : 1e-3) : definite ? 1e4 : 1e-2;
  path.longest = definite ? (attempt == 0 ? 2 : 1) : attempt == 0 ? 1.4 : attempt == 1 ? 2 : 1;
  return path;
}

}  // namespace friction_fallback

/// End of the fallback solvers on one problem.
struct FallbackEnd {
  bool solved;  ///< otherwise the candidate has the reason
  double work;  ///< in Newton steps
};

/// Number of matrices with memory reserved behind those of `p` and `aside` if they are stored
/// elsewhere (FarMat): the proximal method's own, shifted, and Newton's two; Newton's two.
inline constexpr int kFallbackMatrices = 4, kPolishMatrices = 2;

/// Runs the fallback solvers where FrictionNewton has reached its limit: first proofs, then
/// refinement of Newton's result, then one solver after another as far as the options allow. `p`:
/// the problem with its sliding contacts eliminated; `aside`: as in attempt(). Soft contacts (D = 4)
/// have proofs, refinement, interior points and the proximal point.
template <class Given, int N, int D, class Matrix>
GARRA_HD_CALL FallbackEnd fallback(const FrictionFallback& r, const Given& given,
                                   const FrictionProblem<double, N, D, Matrix>& p,
                                   const FrictionProblem<double, N, D, Matrix>& aside, Candidate<double, N, D>& best) {
  using namespace friction_fallback;
  constexpr int kNever = 1 << 30, kSoon = 4;
  Search<Given, N, D> search{r, given, false, best, double(__builtin_huge_val()), 0, false, false, false};
  search.offer(best.c);
  if (search.over) return {true, 0};
  const Definiteness kind = friction_proofs::definiteness(given, aside.A);
  if (kind == Definiteness::kIndefinite) {
    best.c = Vec<double, D * N>::zero();
    best.reason = double(int(Status::kInvalidInput));
    return {false, 0};
  }
  if (kind == Definiteness::kSemidefinite && friction_proofs::closes(given)) {
    best.reason = double(int(Status::kNoSolution));
    return {false, 0};
  }
  search.definite = kind == Definiteness::kDefinite && given.all_may_roll();
  const bool symmetric = kind != Definiteness::kUnsymmetric && given.all_may_roll();
  if (search.error <= kRefined * r.tolerance) refine(search, aside);
  if (!r.searches) search.over = true;
  const auto run = [&](const auto& solver, int polish) { attempt(search, solver, polish, p, aside); };
  // Solvers with code for point contacts alone.
  const auto run_points = [&](const auto& solver, int polish) {
    if constexpr (D == 3) run(solver, polish);
  };
  const bool one = extent<N>() == 1;
  if (one) run_points(limited<FrictionNsgs>(r.tolerance, 8), kNever);  // one sweep is exact
  run(limited<FrictionInterior>(r.tolerance, r.interior_steps), kNever);
  if (!search.over && symmetric && !search.definite && r.most_work < r.kNoLimit) {
    const auto pressed = internal_force(aside, r.interior_steps);
    search.work += pressed.steps;
    search.pressed = pressed.found;
  }
  if (!one && search.pressed) {
    // Most have no solution. Nearly all that have one are near it after four steps, and a tenth of the others.
    auto brief = limited<FrictionProximal>(r.tolerance, 4);
    brief.max_runaways = 1;
    run(brief, kNever);
    search.over = search.over || search.error > r.near_solution;
    brief.max_iterations = r.pressed_steps;
    run(brief, kNever);
    run_points(limited<FrictionNsgs>(r.tolerance, 40), kSoon);
    run_points(limited<FrictionAdmm>(r.tolerance, 80), kSoon);
    if (!search.solved) search.best.reason = double(int(Status::kStalled));
    search.over = true;
  }
  // The last attempt for problems with sliding contacts.
  auto proximal = limited<FrictionProximal>(r.tolerance, r.first_steps);
  run(proximal, kNever);
  // The other solvers need symmetric problems. Unsolved problems with sliding contacts have no
  // solution, as far as any solver here can tell (of 400,000, 3 and 4 contacts).
  search.over = search.over || !symmetric;
  // Most solvable problems are solved here, ill-conditioned or near the border of solvability.
  for (int k = 0; k < 3; ++k) run_points(make_path(r, search.definite, k), kNever);
  run_points(limited<FrictionAdmm>(r.tolerance, r.admm_iterations), kSoon);
  proximal.max_iterations = r.proximal_steps;
  proximal.first_attempt = 1;
  run(proximal, kNever);
  if (!one) {
    run_points(limited<FrictionNsgs>(r.tolerance, r.sweeps), kSoon);
    // With full effort: solves the most of the problems whose load presses internal forces together.
    run_points(limited<FrictionConvex>(r.tolerance, r.convex_steps), 1);
  }
  search.end_if_ill_conditioned();
  best = search.best;
  return {search.solved, search.work};
}

}  // namespace garra::solvers
