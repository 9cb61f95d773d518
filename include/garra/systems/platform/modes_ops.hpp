// Proofs of the mode of one row (platform/batch/rows.hpp runs them); nvcc compiles it, too.
#pragma once

#include "garra/systems/platform/kinematics_ops.hpp"
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

/// The pose that the path leads to from the guess: ModeRule's path, then Newton's method.
struct FollowOp {
  ForwardOp forward;
  ModeRule rule;
  template <class S>
  using In = ForwardOp::In<S>;
  template <class S>
  struct Out {
    ForwardOp::Out<S> pose;
    S follows;  ///< 1: the path is proven, and its end is within the uniqueness radius of the pose
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const Place<S> guess{in.guess.r, normalized(in.guess.p)};
    const PathEnd<S> path = follow_path(m, rule, guess, in.lengths);
    Out<S> out;
    out.pose = forward(m, In<S>{in.lengths, path.place});
    const ModeTask<S> last{path.place, {out.pose.found.place.r, normalized(out.pose.found.place.p)}, in.lengths};
    const ModeState<S> end = start(m, rule, last);
    const auto arrives =
        path.arrived > S(0) && end.proven > S(0) && out.pose.found.residual <= S(forward.rule.tolerance);
    out.follows = select(arrives, S(1), S(0));
    return out;
  }
};

/// The status of a pose found by forward kinematics, with or without a proof of its mode; the proof
/// overrides the sign of the determinant.
template <class S>
GARRA_HD S certified_status(const S& status, const MaskOf<S>& proven, bool certify_mode) {
  // Near a singular pose the proof may hold although the answer is inaccurate: the warning stays.
  const auto open = status == to_number<S>(PoseStatus::kConverged) || status == to_number<S>(PoseStatus::kModeSuspect);
  const S without = certify_mode ? to_number<S>(PoseStatus::kModeSuspect) : status;
  return select(open, select(proven, to_number<S>(PoseStatus::kCertified), without), status);
}

/// Forward kinematics with the proof.
struct CertifiedForwardOp {
  ForwardOp forward;
  ModeOp mode;
  template <class S>
  using In = ForwardOp::In<S>;
  template <class S>
  struct Out {
    ForwardOp::Out<S> pose;
    S unique;  ///< radius [m]; 0: none proven
  };
  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    Out<S> out;
    out.pose = forward(m, in);
    const auto proof = mode(m, ModeOp::In<S>{in.lengths, in.guess, out.pose.found.place});
    const auto valid = !(out.pose.status == to_number<S>(PoseStatus::kInvalidInput));
    out.unique = select(valid && out.pose.found.residual <= S(forward.rule.tolerance), proof.unique, S(0));
    out.pose.status = certified_status(out.pose.status, proof.proven > S(0), mode.rule.max_steps > 0);
    return out;
  }
};

}  // namespace garra::platform
