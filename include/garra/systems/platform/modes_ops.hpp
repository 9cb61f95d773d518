// Proofs of the mode of one row (platform/batch/rows.hpp runs them): also read by nvcc.
#pragma once

#include "garra/systems/platform/modes.hpp"

namespace garra::platform {

struct ModeOp {
  ModeRule rule;
  template <class S>
  struct In {
    Vec<S, 6> lengths;
    Place<S> guess, end;
  };
  template <class S>
  struct Out {
    S proven;  ///< 1 or 0
    S unique;  ///< radius [m]
    S steps;   ///< of the path
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const ModeTask<S> task{{in.guess.r, normalized(in.guess.p)}, {in.end.r, normalized(in.end.p)}, in.lengths};
    const ModeState<S> state = mode_proof(m, rule, task);
    return {state.proven, state.unique, state.steps};
  }
};

}  // namespace garra::platform
