// Decides which assembly mode a pose belongs to (docs/theory/platform.md). The squares of the
// lengths move on a straight line from those of a guess to the target's. Each step proves that the
// pose changes with them continuously and without a singularity (certificate.hpp). |X F| is convex
// along a step, so that its ends bound it.
#pragma once

#include "garra/systems/platform/certificate.hpp"
#include "garra/systems/platform/forward.hpp"

namespace garra::platform {

struct ModeRule {
  double length;         ///< characteristic [m]
  double max_steps;      ///< of the path; 0: only the certificate at the guess
  double portion = 0.8;  ///< of the largest |X F| that a step takes: more leaves no margin for the next pose
};

/// Input of a mode proof: the target lengths, and the pose that is claimed to have them.
template <class S>
struct ModeTask {
  Place<S> guess;
  Place<S> end;
  Vec<S, 6> target;  ///< lengths [m]
};

template <class S>
struct ModeState {
  Vec<S, 6> from, change;  ///< squares of lengths: from + share change
  Place<S> end;
  S exists;            ///< the target pose is within this distance of `end`
  S unique;            ///< and no other one within this
  Neighborhood<S> at;  ///< about the path's pose so far
  Radii<S> radii;      ///< proven there, for all shares from the last to this one
  S share;
  Place<S> next;  ///< prediction of the pose at `share` by Newton's step
  S steps;
  S proven, running;  ///< 1 or 0
  S follows;          ///< 1: the pose of the last step is proven to be the path's
};

/// Continues as far as the neighborhood of a pose, which is near that at `share`, proves.
template <class S>
GARRA_HD_CALL void reach_out(const ModeRule& rule, const Neighborhood<S>& at, ModeState<S>& state) {
  const S zero(0), one(1), half(0.5);
  const Vec<S, 6> off = newton_correction(at, axpy(state.share, state.change, state.from));
  const Vec<S, 6> drift = at.inverse * (half * state.change);
  const S here = norm(off), speed = norm(drift), left = one - state.share;
  const S most = S(rule.portion) * (half * (at.gap * at.gap) / at.bend) - (here + at.noise);
  const auto ends = most >= left * speed;
  const S by = select(ends, left, max(most, zero) / select(ends, one, speed));
  const S share = select(ends, one, state.share + by);
  const Vec<S, 6> u = axpy(by, drift, -off);
  const S per_length(1 / rule.length);
  state.at = at;
  state.radii = compute_radii(at, fma(by, speed, here));
  state.next = {at.place.r + vec3<S>(u[0], u[1], u[2]), retract(at.place.p, per_length * vec3<S>(u[3], u[4], u[5]))};
  const auto arrives = linked(at, state.radii, state.end, state.exists, S(rule.length)) && share >= one;
  const auto active = state.running > zero;
  const auto moves = by > zero && state.radii.unique > zero && state.steps < S(rule.max_steps);
  state.proven = select(active && arrives, one, state.proven);
  state.running = select(active && !arrives && moves, one, zero);
  state.share = share;
}

template <class S>
GARRA_HD Vec<S, 6> squared_lengths(const Vec<S, 6>& lengths) {
  Vec<S, 6> squares;
  for_each_index<6>([&](auto i) { squares[i] = lengths[i] * lengths[i]; });
  return squares;
}

/// Sets up the straight line of squares of lengths from those of a guess, in the neighborhood `at`;
/// takes no step.
template <class S>
GARRA_HD void draw_line(const Neighborhood<S>& at, const Vec<S, 6>& squares, ModeState<S>& state) {
  state.from = at.squares;
  state.change = squares - at.squares;
  state.share = state.steps = state.proven = state.follows = S(0);
}

template <class S, class T>
GARRA_HD ModeState<S> start(const Model<T>& m, const ModeRule& rule, const ModeTask<S>& task) {
  const S zero(0), one(1), L(rule.length);
  ModeState<S> state;
  const Vec<S, 6> squares = squared_lengths(task.target);
  const Neighborhood<S> end = neighborhood(m, task.end, L);
  const Radii<S> about_end = compute_radii(end, norm(newton_correction(end, squares)));
  state.end = task.end;
  state.exists = about_end.exists;
  state.unique = about_end.unique;
  const Neighborhood<S> at = neighborhood(m, task.guess, L);
  draw_line(at, squares, state);
  state.radii = compute_radii(at, norm(newton_correction(at, squares)));
  const auto direct = linked(at, state.radii, task.end, state.exists, L);
  state.proven = select(direct, one, zero);
  state.running = select(direct || state.unique <= zero, zero, one);
  reach_out(rule, at, state);
  return state;
}

template <class S, class T>
GARRA_HD void step(const Model<T>& m, const ModeRule& rule, ModeState<S>& state) {
  const S zero(0), one(1), L(rule.length);
  state.steps += state.running;
  const Neighborhood<S> at = neighborhood(m, state.next, L);
  const S here = norm(newton_correction(at, axpy(state.share, state.change, state.from)));
  const auto follows = linked(state.at, state.radii, at.place, compute_radii(at, here).exists, L);
  state.running = select(follows && state.running > zero, one, zero);
  state.follows = state.running;
  reach_out(rule, at, state);
}

template <class S>
GARRA_HD MaskOf<S> running(const ModeState<S>& state) {
  return state.running > S(0);
}

/// Begins a path to `target` whose end is unknown: no end is near enough to be proven.
template <class S, class T>
GARRA_HD ModeState<S> start_path(const Model<T>& m, const ModeRule& rule, const Place<S>& guess,
                                 const Vec<S, 6>& target) {
  const S one(1);
  ModeState<S> state;
  const Neighborhood<S> at = neighborhood(m, guess, S(rule.length));
  state.end = guess;
  state.exists = S(std::numeric_limits<RealOf<S>>::infinity());
  state.unique = one;
  draw_line(at, squared_lengths(target), state);
  state.running = one;
  reach_out(rule, at, state);
  return state;
}

template <class S, class T>
GARRA_HD ModeState<S> mode_proof(const Model<T>& m, const ModeRule& rule, const ModeTask<S>& task) {
  ModeState<S> state = start(m, rule, task);
  while (any(running(state))) step(m, rule, state);
  return state;
}

/// The last pose that is proven to be on the path.
template <class S>
struct PathEnd {
  Place<S> place;
  S arrived;  ///< 1: the path's pose at the target, 0: the path ended before
};

/// Follows the path from the guess to the lengths as far as it can be proven.
template <class S, class T>
GARRA_HD PathEnd<S> follow_path(const Model<T>& m, const ModeRule& rule, const Place<S>& guess,
                                const Vec<S, 6>& target) {
  const S zero(0), one(1);
  ModeState<S> state = start_path(m, rule, guess, target);
  PathEnd<S> end = {guess, zero};
  while (any(running(state))) {
    const Place<S> next = state.next;
    const S share = state.share;
    step(m, rule, state);
    const auto follows = state.follows > zero;  // false in ended lanes, whose states still change
    for_each_index<3>([&](auto k) { end.place.r[k] = select(follows, next.r[k], end.place.r[k]); });
    for_each_index<4>([&](auto k) { end.place.p[k] = select(follows, next.p[k], end.place.p[k]); });
    end.arrived = select(follows && share >= one, one, end.arrived);
  }
  return end;
}

}  // namespace garra::platform
