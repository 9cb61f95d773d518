// Decides whether contact forces can balance a wrench, as an operation on rows. Host and device. D: 3, or 4 (soft); R:
// 0, or solvers::kPads.
#pragma once

#include "garra/solvers/wrench_balance.hpp"

namespace garra::contact {

/// Operation that decides the wrench balance of one problem with N contacts.
template <int N, int D = 3, int R = 0>
struct BalanceOp : solvers::TorqueRows<double, N, R, 1, D> {
  template <class S>
  struct In {
    Mat<S, 6, D * N> W;
    Vec<S, 6> w;
    Vec<S, N> mu, limit;

    static constexpr auto parts() { return std::tuple{&In::W, &In::w, &In::mu, &In::limit}; }
  };
  template <class S>
  struct Out {
    S decision;  ///< ResistanceStatus
    Vec<S, D * N> force;
    Vec<S, 6> wrench;
    S gap, steps;

    static constexpr auto parts() {
      return std::tuple{&Out::decision, &Out::force, &Out::wrench, &Out::gap, &Out::steps};
    }
  };
  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& in) const {
    solvers::WrenchBalance<S, N, R, 1, D> p{{}, in.W, in.w, in.mu, in.limit};
    if constexpr (R == solvers::kPads) p.pad = this->pad;
    const auto a = solvers::balance_wrench(p, Vec<S, D * N>::zero());
    // Without a wrench nothing else looks at W; friction and limits may be infinite, but not NaN.
    S defects = S(0);
    for (int r = 0; r < 6; ++r)
      for (int k = 0; k < extent<D * N>(); ++k) defects += in.W(r, k) - in.W(r, k);
    auto decided = a.balanced == a.balanced && defects == S(0);
    for (int j = 0; j < extent<N>(); ++j) decided = decided && in.mu[j] == in.mu[j] && in.limit[j] == in.limit[j];
    return {select(decided, a.balanced, S(2)), a.c, a.y, a.gap, a.steps};
  }
};

}  // namespace garra::contact
