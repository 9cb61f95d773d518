// Newton's method from a force found in single precision: single during the iteration, double at
// its end (docs/theory/contact-solver.md, "Mixed precision"). The certificate and every answer are
// in double precision. Problems that single precision does not solve restart from the beginning.
#pragma once

#include <limits>

#include "garra/core/single.hpp"
#include "garra/solvers/friction_newton.hpp"

namespace garra::solvers {

/// Newton's method in mixed precision; only its start differs.
struct FrictionMixed : FrictionNewton {
  /// Change of the load at which single precision ends, in the scaled problem. If A c + b cancels
  /// to zero, rounding alone leaves 1e-6. From 1e-5 one step in double suffices: within a piece of
  /// (4) Newton is exact but for slip.
  static constexpr double kSingleTol = 2e-5;

  /// The first start alone: problems that need a restart also need double precision.
  [[nodiscard]] GARRA_HD FrictionNewton single() const {
    FrictionNewton first;
    first.tolerance = kSingleTol;
    first.restarts = false;
    first.max_iterations = first.stage_steps;
    return first;
  }
};

/// Forces of problems given in doubles, computed in F, in the problems' own units; NaN if single
/// precision does not solve a problem.
template <class F, int N, int kParts>
GARRA_HD void solve_in_single(const FrictionMixed& mixed,
                              const FrictionProblem<typename DoublesOf<F>::type, N> (&given)[kParts],
                              Vec<typename DoublesOf<F>::type, 3 * N> (&force)[kParts]) {
  using D = typename DoublesOf<F>::type;
  using Problem = FrictionProblem<F, N>;
  // Scaled in double precision: the sizes of A and b may exceed the range of a float.
  Scaled<D, N> in[kParts];
  for (int p = 0; p < kParts; ++p) in[p] = scaled(given[p]);
  Problem problem;
  const auto narrow_all = [&](const auto& numbers, auto& narrowed) {
    for (int k = 0; k < count_numbers(narrowed); ++k) {
      D number[kParts];
      for (int p = 0; p < kParts; ++p) number[p] = numbers(in[p].problem)[k];
      narrowed[k] = narrow(number);
    }
  };
  narrow_all(
      [](const auto& given) -> const auto& { return given.A; }, problem.A);
  narrow_all(
      [](const auto& given) -> const auto& { return given.b; }, problem.b);
  narrow_all(
      [](const auto& given) -> const auto& { return given.mu; }, problem.mu);
  const FrictionNewton newton = mixed.single();
  FrictionState<F, N> state = newton.start(problem);
  while (any(newton.running(state))) newton.step(state);
  const auto found = check_iterate(state.problem, state.scale, state.c, state.a, newton.tolerance);
  for (int i = 0; i < extent<3 * N>(); ++i) {
    const F c = select(found.solved, state.unit * state.c[i], F(std::numeric_limits<float>::quiet_NaN()));
    D wide[kParts];
    widen(c, wide);
    for (int p = 0; p < kParts; ++p) force[p][i] = in[p].unit * wide[p];
  }
}

}  // namespace garra::solvers
