// Batches of friction contact problems from plain arrays: the entry for C++ users and for `garra contact solve`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/core/status.hpp"

namespace garra::contact {

inline constexpr int kMaxContacts = 8;

/// `count` problems of `contacts` contacts each, one after another, row-major, contact-major (n, t, o).
/// See solve/friction_problem.hpp for the law, signs and units.
struct Problems {
  int contacts = 0;
  std::int64_t count = 0;
  std::vector<double> A;   ///< [count][3k][3k]  1/kg
  std::vector<double> b;   ///< [count][3k]      m/s^2
  std::vector<double> mu;  ///< [count][k]
};

struct Solutions {
  int contacts = 0;
  std::int64_t count = 0;
  std::vector<double> c;             ///< [count][3k] contact forces [N]; NaN where not converged
  std::vector<double> a;             ///< [count][3k] accelerations [m/s^2]; NaN where not converged
  std::vector<double> residual;      ///< [count] scale-invariant natural-map error
  std::vector<double> residual_raw;  ///< [count] the same without scaling
  std::vector<double> merit;         ///< [count] the papers' merit value (4) at c
  std::vector<std::int32_t> iterations;
  std::vector<Status> status;
};

struct Options {
  double tol = 1e-8;         ///< converged: residual <= tol
  int max_iterations = 400;  ///< Newton steps over all stages of the solver
};

/// Solves every problem; a failed problem is a status, never an exception. Throws Error where sizes do not match
/// or the device cannot run.
[[nodiscard]] Solutions solve(const Problems& problems, const Options& options = {}, const Device& device = {});

}  // namespace garra::contact
