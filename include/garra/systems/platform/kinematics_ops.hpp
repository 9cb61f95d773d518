// Forward kinematics of one row (platform/batch/rows.hpp runs them); nvcc compiles it, too.
#pragma once

#include "garra/systems/platform/forward.hpp"
#include "garra/systems/platform/status.hpp"

namespace garra::platform {

struct ForwardOp {
  ForwardRule rule;
  double characteristic_length;
  double near_singular = 1e-4;  ///< near singular: scaled sigma_min <= this
  template <class S>
  struct In {
    Vec<S, 6> lengths;
    Place<S> guess;
  };
  /// The lengths must be positive: Newton's method uses their squares and would accept -l for l.
  template <class S>
  static GARRA_HD MaskOf<S> is_usable(const In<S>& in) {
    auto valid = usable(in.guess) && all_finite<S>(in.lengths) == S(1);
    for (int i = 0; i < kLegs; ++i) valid = valid && in.lengths[i] > S(0);
    return valid;
  }
  template <class S>
  struct Found {
    Place<S> place;
    S residual, sigma_min;
  };
  template <class S>
  struct Out {
    Found<S> found;
    S iterations, status;
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const ForwardState<S> state = forward_solve(m, rule, in.lengths, in.guess);
    const Mat<S, 6, 6> J = length_jacobian(legs_at(m, state.place));
    const S sign = select(state.place.p[0] < S(0), S(-1), S(1));
    Out<S> out;
    out.found = {{state.place.r, sign * state.place.p}, state.residual, sigma_min(J, S(characteristic_length))};
    out.iterations = state.iterations;
    // Whether det J has the same sign as at the guess.
    const auto same_sign = newton_step(length_equations(m, state.place, in.lengths)).determinant *
                               newton_step(length_equations(m, in.guess, in.lengths)).determinant >
                           S(0);
    out.status = status(out.found, state.still, same_sign);
    const auto valid = is_usable(in);
    out.status = select(valid, out.status, to_number<S>(PoseStatus::kInvalidInput));
    out.iterations = select(valid, out.iterations, S(0));
    blank_unless<S>(valid, out.found);
    return out;
  }

 private:
  template <class S>
  GARRA_HD S status(const Found<S>& found, const S& still, const MaskOf<S>& same_sign) const {
    const S converged = select(same_sign, to_number<S>(PoseStatus::kConverged), to_number<S>(PoseStatus::kModeSuspect));
    // Stagnation at other lengths is a stationary point: more iterations would not help.
    const S not_converged =
        select(still >= S(kStandstill), to_number<S>(PoseStatus::kStalled), to_number<S>(PoseStatus::kIterationLimit));
    return select(found.residual <= S(rule.tolerance),
                  select(found.sigma_min <= S(near_singular), to_number<S>(PoseStatus::kNearSingular), converged),
                  not_converged);
  }
};

/// Runs Op, which gets ForwardOp::In, from one guess for all rows.
template <class Op>
struct FromOneGuess {
  Op op;
  Place<double> guess;
  template <class S>
  struct In {
    Vec<S, 6> lengths;
  };
  template <class S>
  using Out = typename Op::template Out<S>;
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    return op(m, ForwardOp::In<S>{in.lengths, {cast<S>(guess.r), cast<S>(guess.p)}});
  }
};

}  // namespace garra::platform
