// What an iterative solver did, in the counters that the papers print (their Tables 1 and 3).
#pragma once

#include "garra/core/scalar.hpp"

namespace garra::solvers {

inline constexpr int kNotCounted = -1;  ///< a counter that means nothing for a solver

/// Whole numbers stored as S, so that they travel with the problems of a batch.
template <class S>
struct Effort {
  S outer;        ///< outer iterations: BoxIt of the papers, Newton steps, sweeps
  S evaluations;  ///< evaluations of the function that is minimised: FunEval
  S inner;        ///< iterations inside the subproblems: QuacanIt
  S products;     ///< products of a matrix with a vector: MatxVec
  S stage;        ///< rung of a ladder, or number of starts used before this one
  S stalls;       ///< starts that ended at a stationary point that is no solution

  static GARRA_HD Effort none() {
    const S not_counted = S(kNotCounted);
    return {S(0), not_counted, not_counted, not_counted, S(0), S(0)};
  }
  static GARRA_HD Effort zero() { return {S(0), S(0), S(0), S(0), S(0), S(0)}; }
};

}  // namespace garra::solvers
