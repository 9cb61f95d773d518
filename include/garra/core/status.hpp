// Status of a solved problem, stored as a number of the problem's own scalar type: a batch of
// solutions is then a struct whose members are all S.
#pragma once

#include "garra/core/hd.hpp"

namespace garra {

enum class Status : int {
  kConverged = 0,       ///< the answer solves the problem exactly for a load within the tolerance
  kStalled = 1,         ///< the iteration stagnates at a point that is no solution (merit > 0)
  kIterationLimit = 2,  ///< every stage of the solver used up its iterations
  kInvalidInput = 3,    ///< NaN or infinity in the problem, or a negative friction coefficient
  kNoSolution = 4,      ///< proved: this problem has no solution
  kOutOfReach = 5,      ///< a finger cannot reach its contact: there is no problem to solve
  kIllConditioned = 6,  ///< solved as well as rounding of the forces allows, which is less than the tolerance
};
inline constexpr int kStatusCount = 7;

/// Name of a status as it appears in files, on the terminal and in Python.
constexpr const char* to_string(Status s) {
  switch (s) {
    case Status::kConverged:
      return "converged";
    case Status::kStalled:
      return "stalled";
    case Status::kIterationLimit:
      return "iteration_limit";
    case Status::kInvalidInput:
      return "invalid_input";
    case Status::kNoSolution:
      return "no_solution";
    case Status::kOutOfReach:
      return "out_of_reach";
    case Status::kIllConditioned:
      return "ill_conditioned";
  }
  return "unknown";
}

}  // namespace garra
