// Counters of an iterative solver's work, as the papers print them (their Tables 1 and 3).
#pragma once

#include "garra/core/scalar.hpp"

namespace garra::solvers {

inline constexpr int kNotCounted = -1;  ///< a counter that has no meaning for a solver

/// Work of a solver: whole numbers stored as S, so that they travel with the problems of a batch.
template <class S>
struct Effort {
  S outer;        ///< outer iterations: BoxIt of the papers, Newton steps, sweeps
  S evaluations;  ///< evaluations of the minimized function: FunEval
  S inner;        ///< iterations inside the subproblems: QuacanIt
  S products;     ///< products of a matrix with a vector: MatxVec
  S stage;        ///< number of restarts, or of starts used before this one
  S stalls;       ///< starts that ended at a stationary point that is no solution

  static GARRA_HD Effort none() {
    const S not_counted = S(kNotCounted);
    return {S(0), not_counted, not_counted, not_counted, S(0), S(0)};
  }
  static GARRA_HD Effort zero() { return {S(0), S(0), S(0), S(0), S(0), S(0)}; }
};

}  // namespace garra::solvers
