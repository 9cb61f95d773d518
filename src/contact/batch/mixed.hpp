// Bodies of mixed precision (garra/solvers/friction_mixed.hpp), before and after Newton's own. Host and device.
#pragma once

#include <cstddef>
#include <type_traits>

#include "contact/batch/body.hpp"
#include "garra/solvers/friction_mixed.hpp"

namespace garra::contact {

/// Computes initial guesses for Newton, with double, or with lanes of floats, two registers of doubles at a time.
template <int N>
struct SingleKernel {
  solvers::FrictionMixed solver;
  const double* problems;  ///< as IterateKernel has them
  const double* sliding;
  double* guesses;  ///< tiles of Vec<S, 3 N>, written: NaN if single precision solves nothing

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    using F = std::conditional_t<std::is_same_v<S, double>, float, S>;
    using D = typename DoublesOf<F>::type;
    constexpr int kParts = kWidth<F> / kWidth<D>;
    solvers::FrictionProblem<D, N> given[kParts];
    for (int p = 0; p < kParts; ++p) given[p] = load_problem<D, N>(problems, sliding, i + p * kWidth<D>, extent<N>());
    Vec<D, 3 * N> force[kParts];
    solvers::solve_in_single<F, N>(solver, given, force);
    for (int p = 0; p < kParts; ++p) batch::store<D>(guesses, i + p * kWidth<D>, force[p]);
  }
};

/// Marks problems that began anew: their start in single precision counts as a failed one.
template <int N>
struct StallKernel {
  const double* guesses;
  double* candidates;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    using Candidate = solvers::Candidate<S, N>;
    constexpr int kAfterForces = static_cast<int>(
        (offsetof(Candidate, effort) + offsetof(solvers::Effort<S>, stalls) - sizeof(Candidate::c)) / sizeof(S));
    const S force = batch::load<S, S>(batch::tile_at<S, Vec<S, 3 * N>>(guesses, i), 0);
    double* stalls = const_cast<double*>(batch::tile_at<S, Candidate>(candidates, i)) +
                     (extent<3 * N>() + kAfterForces) * batch::kTile;
    batch::store<S>(stalls, 0, select(is_finite(force), S(0), S(1)));
  }
};

}  // namespace garra::contact
