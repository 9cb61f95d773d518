// The resisted force radius of a sample with an ideal hand. Host and device; docs/theory/grasp-sets.md.
#pragma once

#include <algorithm>
#include <cmath>

#include "garra/solvers/resisted_force_radius.hpp"
#include "grasp/set/set_model.hpp"

namespace garra::grasp {

/// Copies the contacts of a CandidateKernel problem, and merges the copies of a contact again. `pad`: null without
/// pads.
template <int N, int D>
GARRA_HD void set_pressing(const SetGrasp<N>& g, const typename contact::BalanceOp<N, D>::template In<double>& p,
                           const int* pad, solvers::PressingContacts& out) {
  const auto scaled = [](double x, int r) { return r < 3 ? x : x / kRadiusLengths; };
  out.count = g.contacts;
  out.dims = D;
  out.exactly = false;
  for (int r = 0; r < 6; ++r) out.w[r] = scaled(p.w[r], r);
  for (int j = 0; j < g.contacts; ++j) {
    out.mu[j] = p.mu[j];
    out.limit[j] = 0;
    out.pad[j] = pad == nullptr ? j : pad[j];
    for (int c = 0; c < D; ++c)
      for (int r = 0; r < 6; ++r) out.column[D * j + c][r] = scaled(p.W(r, D * j + c), r);
  }
  for (int j = 0; j < extent<N>(); ++j) out.limit[j % g.contacts] += p.limit[j];
}

/// Turns contacts into one pad that presses with what a hand of a single joint commands: f . c = |f|^2 of all contacts,
/// with the command's forces f on contacts that do not move, which are proportional to the Jacobian. A hyperbolic
/// rotation of each cone maps f . c to the normal number. Where f leaves some force of a cone without work, a narrower
/// cone stands for it, and a contact that f does not press takes no part: the radius stays a lower bound.
template <int D, int M>
void press_by_command(const Vec<double, M>& f, solvers::PressingContacts& out) {
  constexpr double kNarrow = 0.99;
  out.exactly = true;
  int first = -1;
  for (int j = 0; j < out.count; ++j) {
    double across = 0;
    for (int k = 1; k < D; ++k) across = std::hypot(across, f[D * j + k]);
    const double mu = std::min(out.mu[j], across > 0 ? kNarrow * f[D * j] / across : out.mu[j]);
    out.pad[j] = -1;
    if (!(f[D * j] > 0) || !(mu >= 0)) continue;
    if (first < 0) first = j;
    out.pad[j] = first;
    out.limit[j] = dot(f, f);
    out.mu[j] = 1;
    Vec<double, D> boost;  // its axis, as (cosh, sinh)
    const double size = std::sqrt(f[D * j] * f[D * j] - mu * mu * across * across);
    for (int k = 0; k < D; ++k) boost[k] = (k == 0 ? 1 : mu) * f[D * j + k] / size;
    for (int r = 0; r < 6; ++r) {
      double given[D], along = 0;
      for (int k = 0; k < D; ++k) given[k] = out.column[D * j + k][r] * (k == 0 ? 1 : mu);
      for (int k = 1; k < D; ++k) along += boost[k] * given[k];
      for (int k = 0; k < D; ++k)
        out.column[D * j + k][r] =
            (k == 0 ? boost[0] * given[0] - along : given[k] + boost[k] * (along / (1 + boost[0]) - given[0])) / size;
    }
  }
}

/// Resisted force radius of sample i of `problems`, the i % samples-th of its grasp. S: as in resisted_force_radius().
template <int N, int D>
struct RadiusKernel {
  const SetGrasp<N>* grasps;
  std::int64_t samples;  ///< of each, whole tiles
  const double* problems;
  const int* pads = nullptr;  ///< [grasp][contacts], on the host

  template <class S>
  GARRA_HD solvers::WrenchRadius of(std::int64_t i, solvers::RadiusSpace& space) const {
    using Problem = typename contact::BalanceOp<N, D>::template In<double>;
    const SetGrasp<N>& g = grasps[i / samples];
    const int* pad = pads == nullptr ? nullptr : pads + i / samples * g.contacts;
    set_pressing<N, D>(g, batch::load<double, Problem>(problems, i), pad, space.contacts);
    return solvers::resisted_force_radius<S>(space);
  }
};

}  // namespace garra::grasp
