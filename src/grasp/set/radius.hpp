// The resisted force radius of a sample with an ideal hand. Host and device; docs/theory/grasp-sets.md.
#pragma once

#include "garra/solvers/resisted_force_radius.hpp"
#include "grasp/set/set_model.hpp"

namespace garra::grasp {

/// Copies the contacts of a CandidateKernel problem, and merges the copies of a contact again.
template <int N, int D>
GARRA_HD void set_pressing(const SetGrasp<N>& g, const typename contact::BalanceOp<N, D>::template In<double>& p,
                           solvers::PressingContacts& out) {
  const auto scaled = [](double x, int r) { return r < 3 ? x : x / kRadiusLengths; };
  out.count = g.contacts;
  out.dims = D;
  for (int r = 0; r < 6; ++r) out.w[r] = scaled(p.w[r], r);
  for (int j = 0; j < g.contacts; ++j) {
    out.mu[j] = p.mu[j];
    out.limit[j] = 0;
    for (int c = 0; c < D; ++c)
      for (int r = 0; r < 6; ++r) out.column[D * j + c][r] = scaled(p.W(r, D * j + c), r);
  }
  for (int j = 0; j < extent<N>(); ++j) out.limit[j % g.contacts] += p.limit[j];
}

/// Resisted force radius of sample i of `problems`, the i % samples-th of its grasp. S: as in resisted_force_radius().
template <int N, int D>
struct RadiusKernel {
  const SetGrasp<N>* grasps;
  std::int64_t samples;  ///< of each, whole tiles
  const double* problems;

  template <class S>
  GARRA_HD solvers::WrenchRadius of(std::int64_t i, solvers::RadiusSpace& space) const {
    using Problem = typename contact::BalanceOp<N, D>::template In<double>;
    set_pressing<N, D>(grasps[i / samples], batch::load<double, Problem>(problems, i), space.contacts);
    return solvers::resisted_force_radius<S>(space);
  }
};

}  // namespace garra::grasp
