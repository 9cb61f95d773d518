// Forward kinematics of one row (platform/batch/rows.hpp runs them): also read by nvcc.
#pragma once

#include "garra/systems/platform/forward.hpp"

namespace garra::platform {

struct ForwardOp {
  ForwardRule rule;
  double characteristic_length;
  template <class S>
  struct In {
    Vec<S, 6> lengths;
    Place<S> guess;
  };
  template <class S>
  struct Out {
    Place<S> place;
    S residual, iterations, still, sigma_min;
    S same_sign;  ///< 1 where det J has the sign it has at the guess
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const ForwardState<S> state = forward_solve(m, rule, in.lengths, in.guess);
    const Mat<S, 6, 6> J = length_jacobian(legs_at(m, state.place));
    Out<S> out;
    const S sign = select(state.place.p[0] < S(0), S(-1), S(1));
    out.place = {state.place.r, sign * state.place.p};
    out.residual = state.residual;
    out.iterations = state.iterations;
    out.still = state.still;
    out.sigma_min = sigma_min(J, S(characteristic_length));
    out.same_sign = select(newton_step(length_equations(m, state.place, in.lengths)).determinant *
                                   newton_step(length_equations(m, in.guess, in.lengths)).determinant >
                               S(0),
                           S(1), S(0));
    return out;
  }
};

}  // namespace garra::platform
