// A friction problem whose matrix stays in its tile: a GPU thread has registers for the matrices of at most three
// contacts.
#pragma once

#include "garra/batch/tiles.hpp"
#include "garra/solvers/friction_problem.hpp"

namespace garra::grasp {

/// Whether scalar code, as in a GPU thread, leaves the matrices of N contacts in their tiles.
template <class S, int N>
inline constexpr bool kStaysInTile = N > 3 && kWidth<S> == 1;

/// Problem i of tiles of FrictionProblem.
template <int N>
struct ProblemInTile {
  solvers::FrictionProblem<double, N, 3, FarMat<double, 3 * N, 3 * N, batch::kTile>> friction;

  GARRA_HD ProblemInTile(double* problems, std::int64_t i) {
    friction.A.at = const_cast<double*>(batch::tile_at<double, solvers::FrictionProblem<double, N>>(problems, i));
  }
  /// Stores b and mu, which follow the matrix.
  GARRA_HD void write_rest() const {
    for (int k = 0; k < extent<3 * N>(); ++k) behind(k) = friction.b[k];
    for (int j = 0; j < extent<N>(); ++j) behind(3 * N + j) = friction.mu[j];
  }
  GARRA_HD void read_b() {
    for (int k = 0; k < extent<3 * N>(); ++k) friction.b[k] = behind(k);
  }

 private:
  [[nodiscard]] GARRA_HD double& behind(int k) const { return friction.A[9 * N * N + k]; }
};

}  // namespace garra::grasp
