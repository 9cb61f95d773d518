// Proofs of the mode of one row (platform/batch/rows.hpp runs them); nvcc compiles it, too.
#pragma once

#include "garra/core/philox.hpp"
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

/// Another guess about one: attempt k is off by up to (k + 1) / kRestarts of the platform's size `length`, and of a
/// half turn. The same for all samples.
inline constexpr int kRestarts = 24;  ///< of a row whose lengths were not met
template <class S>
GARRA_HD Place<S> guess_about(const Place<S>& guess, int attempt, double length) {
  constexpr std::uint64_t kSeed = 1;  // fixed: the same answer in every call
  const double part = (attempt + 1.0) / kRestarts;
  const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(attempt));
  double u[6];
  for (std::uint32_t d = 0; d < 3; ++d) uniform_pair<double>(kSeed, index, d, u[2 * d], u[2 * d + 1]);
  Place<S> to = guess;
  for (int j = 0; j < 3; ++j) to.r[j] += S(2 * length * part * (2 * u[j] - 1));
  const Vec3<double> turn = (2 * part) * vec3(2 * u[3] - 1, 2 * u[4] - 1, 2 * u[5] - 1);
  to.p = turned_by(guess.p, cast<S>(turn));
  return to;
}

/// Forward kinematics whose `converged` is the guess's pose: rows that Newton's method does not bring to the lengths
/// within a few iterations are continued along a proven path, and start again from other guesses if there is none.
struct LedForwardOp {
  FollowOp follow;
  double plain_iterations;  ///< more of them, or lengths not met: led; negative: no row is

  template <class S>
  using In = ForwardOp::In<S>;
  template <class S>
  using Out = ForwardOp::Out<S>;

  /// Rows that are led.
  template <class S>
  GARRA_HD MaskOf<S> is_slow(const S& iterations, const S& status) const {
    // A smaller iteration limit bounds the effort.
    if (plain_iterations < 0 || follow.forward.rule.max_iterations <= plain_iterations) return S(0) > S(0);
    return !(status == to_number<S>(PoseStatus::kInvalidInput)) &&
           (iterations > S(plain_iterations) || !(status == to_number<S>(PoseStatus::kConverged)));
  }

  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    Out<S> out = follow.forward(m, in);
    const auto slow = is_slow(out.iterations, out.status);
    if (!any(slow)) return out;
    const auto path = follow(m, in);
    const auto follows = slow && path.follows > S(0);
    // The end of a proven path replaces the pose that Newton's method found from far away.
    take(follows, path.pose, out);
    suspect(slow && !follows, out);
    for (int attempt = 0; attempt < kRestarts; ++attempt) {
      const auto left = slow && (out.status == to_number<S>(PoseStatus::kStalled) ||
                                 out.status == to_number<S>(PoseStatus::kIterationLimit));
      if (!any(left)) break;
      const Out<S> again =
          follow.forward(m, In<S>{in.lengths, guess_about(in.guess, attempt, follow.forward.characteristic_length)});
      const auto has_lengths = left && again.found.residual <= S(follow.forward.rule.tolerance);
      take(has_lengths, again, out);
      suspect(has_lengths, out);
    }
    return out;
  }

 private:
  template <class S>
  static GARRA_HD void take(const MaskOf<S>& mask, const Out<S>& from, Out<S>& to) {
    for_each_index<3>([&](auto k) { to.found.place.r[k] = select(mask, from.found.place.r[k], to.found.place.r[k]); });
    for_each_index<4>([&](auto k) { to.found.place.p[k] = select(mask, from.found.place.p[k], to.found.place.p[k]); });
    to.found.residual = select(mask, from.found.residual, to.found.residual);
    to.found.sigma_min = select(mask, from.found.sigma_min, to.found.sigma_min);
    to.status = select(mask, from.status, to.status);
    to.iterations += select(mask, from.iterations, S(0));
  }
  /// A pose with the lengths without a proven path is only one of several.
  template <class S>
  static GARRA_HD void suspect(const MaskOf<S>& mask, Out<S>& of) {
    of.status = select(mask && of.status == to_number<S>(PoseStatus::kConverged),
                       to_number<S>(PoseStatus::kModeSuspect), of.status);
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
  LedForwardOp forward;
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
    out.unique =
        select(valid && out.pose.found.residual <= S(forward.follow.forward.rule.tolerance), proof.unique, S(0));
    out.pose.status = certified_status(out.pose.status, proof.proven > S(0), mode.rule.max_steps > 0);
    return out;
  }
};

}  // namespace garra::platform
