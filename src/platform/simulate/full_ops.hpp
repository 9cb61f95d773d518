// Trajectories in the full form as operations on rows (platform/batch/rows.hpp). For files that nvcc compiles, too.
#pragma once

#include "platform/batch/dynamics_ops.hpp"
#include "platform/simulate/full_steps.hpp"

namespace garra::platform {

/// A sample and what a row of the output wants of it.
template <class S>
struct FullSample {
  FullState<S> state;
  Energy<S> energy;
  Vec<S, 6> lengths;
};

template <class S, class T>
GARRA_HD FullSample<S> sample_of(const Model<T>& m, const FullState<S>& state) {
  FullSample<S> s{state, full_energy(m, state.q), Vec<S, 6>::zero()};
  // Lengths that the links have, not those of the pose: between corrections they differ by the drift.
  for (int i = 0; i < kLegs; ++i) s.lengths[i] = driven_length(m.leg[i], state.q.at, i);
  return s;
}

struct FullStartOp {
  HybridWatch ends;  ///< what a start beyond a limit ends by

  template <class S>
  struct In {
    Place<S> place;
    Twist6<S> twist;
    Vec<S, 6> force;  ///< the first one's, to be looked at
    Wrench6<S> wrench;
    Limits<S> limits;
  };
  template <class S>
  using Out = FullSample<S>;

  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    // Computed for bad input as well, where it gives NaN, and marked afterwards: lanes cannot leave.
    FullState<S> s = hybrid_start(m, in.limits, ends, place_of(in.place), in.twist);
    S nothing = fma(dot(in.force, in.force), S(0), S(0) * (dot(in.place.r, in.place.r) + dot(in.twist.v, in.twist.v)));
    nothing = fma(dot(in.wrench.force, in.wrench.force) + dot(in.wrench.moment, in.wrench.moment), S(0), nothing);
    nothing = fma(dot(in.place.p, in.place.p) + dot(in.twist.w, in.twist.w), S(0), nothing);
    const auto good = nothing == S(0) && dot(in.place.p, in.place.p) > S(0);
    s.status = select(good, s.status, S(static_cast<double>(MotionStatus::kInvalidInput)));
    return sample_of(m, s);
  }
};

/// Steps between two moments at which a sample must be.
struct FullStepsOp {
  std::int64_t steps;
  StepOf first;  ///< step size, and the way along the forces
  HybridRule rule;
  HybridWatch ends;
  Friction friction;

  template <class S>
  struct In {
    FullState<S> state;
    ForceSpan<S> force;
    Wrench6<S> wrench;
    Limits<S> limits;
  };
  template <class S>
  using Out = FullSample<S>;

  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    FullState<S> s = in.state;
    const Loads<S> loads{Vec<S, 6>::zero(), in.wrench, friction};
    for (std::int64_t k = 0; k < steps; ++k) {
      if (!any(s.status == S(0))) break;
      // Share by share from the first one: no sum of rounding errors over many steps.
      const StepOf step{first.h, fma(static_cast<double>(k), first.share_of_step, first.share), first.share_of_step};
      hybrid_step(m, in.limits, loads, in.force, step, rule, ends, s);
    }
    return sample_of(m, s);
  }
};

}  // namespace garra::platform
