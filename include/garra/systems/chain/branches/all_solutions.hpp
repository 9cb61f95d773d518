// All joint values of a chain of six joints for a pose of the tool (docs/theory/chain.md, "All solutions"). Candidates
// come from closed forms (spherical.hpp, parallel.hpp, sliding.hpp) or from elimination (elimination.hpp). Newton's
// method on the chain itself polishes each of them, and Newton-Kantorovich tests it.
#pragma once

#include "garra/systems/chain/branches/parallel.hpp"
#include "garra/systems/chain/branches/sliding.hpp"
#include "garra/systems/chain/branches/spherical.hpp"
#include "garra/systems/chain/reach.hpp"

namespace garra::chain::branches {

/// kSpherical: the axes of roles 4 to 6 meet; kParallel: those of roles 1 to 3 are parallel, and 4 and 5 meet;
/// kSliding: three joints slide; kTwoSlides: two do.
enum class Method { kElimination, kSpherical, kParallel, kSliding, kTwoSlides };

/// One way to candidates: links in front of the joints with lengths over a unit. Arms of special geometry, whose
/// equations are dependent, take links that are off by `moved`; their candidates are then near the solutions.
struct Way {
  Pose<double> link[kLoop];  ///< X_{i-1,i} at q_i = 0; of joint 0 in the world
  Pose<double> tool;         ///< in the last kernel frame
  double unit;               ///< of length [m]
  double moved;              ///< size of the change of the links [1]
  Roles roles;
  Method method = Method::kElimination;
  MeetingPoint point = {};           ///< kSpherical: on axes 4 and 6; kParallel: on axes 4 and 5
  SinCos<double> theta[kLoop] = {};  ///< of each joint at q = 0

  /// Eigenvalues with |im| <= this (1 + |x|^2) give a candidate: pairs that the change of the links made complex too.
  [[nodiscard]] GARRA_HD double nearly_real() const { return moved > 0 ? 0.05 : 1e-3; }
};

inline constexpr int kMostWays = 4;

/// Rules of all_solutions().
struct SolutionRule {
  double tolerance = 1e-10;  ///< accepted: norm of the pose error <= tolerance [m and rad]
  double same = 1e-6;        ///< two solutions are one if no joint differs by more [rad or unit of length]
  double doubtful = 1e-3;    ///< a pair of eigenvalues with |im| <= this (1 + |x|^2) may be real: not complete
  double rough = 1e-5;       ///< a candidate with a larger pose error shows that the eigenvalues have too few digits
  int steps = 16;            ///< of Newton's method
  bool proofs = true;        ///< false: no certificates, and solutions are polished to `enough` only
  double enough = 2e-14;     ///< Newton's method ends with a pose error <= this
  double bend = 0;           ///< bound of the second derivatives of the pose with slides within one unit of 0
  int held_from = kLoop;     ///< joints from this one to held_end - 1 stay where they are
  int held_end = kLoop;
};

/// Columns of Solutions behind the joint values.
inline constexpr int kResidual = kLoop, kUnique = kLoop + 1;

/// Solutions of one pose. Columns: joint values [rad or m], turning joints in (-pi, pi]; norm of the pose error [m and
/// rad], negative where the row is no solution; |dq| of any other solution is above this [rad or units], 0: not proven.
template <class S>
struct Solutions {
  Mat<S, kMost, kLoop + 2> row;
  S count;     ///< of eliminations, whose solutions are the first rows
  S complete;  ///< 1: each real eigenvalue led to its own proven solution, no other is nearly real
};

namespace kernel {

template <class S>
GARRA_HD void fill_loop(const Way& way, const bool* prismatic, const Pose<S>& target, Loop<S>& loop) {
  Pose<S> aim = target;
  aim.p = S(1 / way.unit) * target.p;
  const Pose<S> closing = cast_pose<S>(way.tool) * inverse(aim) * cast_pose<S>(way.link[0]);
  for (int role = 0; role < kLoop; ++role) {
    const int k = (way.roles.start + role) % kLoop;
    if (k == 0)
      loop.link[role] = way.roles.reversed ? inverse(closing) : closing;
    else
      loop.link[role] = cast_pose<S>(way.roles.reversed ? inverse(way.link[kLoop - k]) : way.link[k]);
    loop.slides[role] = prismatic[way.roles.joint(role)];
  }
}

/// The nearest rotation, for matrices that are off by a few digits. Half of the digits are enough for the last step.
template <class S>
GARRA_HD Mat3<S> nearest_rotation(Mat3<S> R) {
  auto active = R[0] == R[0];
  for (int k = 0; k < 4; ++k) {
    const Mat3<S> gap = Mat3<S>::identity() - transpose_times(R, R);
    R = select(active, R + S(0.5) * (R * gap), R);
    S squares = S(0);
    for_each_index<9>([&](auto i) { squares = fma(gap[i], gap[i], squares); });
    active = active && !(squares <= S(1e-17));
    if (!any(active)) break;
  }
  return R;
}

/// Nearest angle in (-pi, pi], by the rounding that all executors share.
template <class S>
GARRA_HD S wrap_angle(const S& q) {
  constexpr double kTurn = 6.283185307179586;
  const S turns = elementary::from_rounder(elementary::to_rounder(q * S(1 / kTurn)));
  return fma(turns, S(-kTurn), q);
}

/// What Newton's method leaves.
template <class S>
struct Polished {
  Vec<S, kLoop> q;
  Vec<S, kLoop> error;
  Mat<S, 6, kLoop> jac;
  S residual;
  S rough;  ///< pose error of the candidate
};

/// Norm of the pose error. Near half a turn the sine of the error vanishes too: 10.
template <class S>
GARRA_HD S measure(const Pose<S>& target, const Pose<S>& tool, Vec<S, 6>& error) {
  error = pose_error(target, tool, false);
  S turned = S(0);
  for_each_index<3>([&](auto k) { turned += dot(column(tool.R, k), column(target.R, k)); });
  return select(turned > S(0), norm(error), S(10));
}

template <class S>
GARRA_HD_CALL void polish(const Model<double, kLoop>& m, const Pose<S>& target, const SolutionRule& rule,
                          const MaskOf<S>& wanted, Polished<S>& at) {
  auto active = wanted;
  S best(std::numeric_limits<RealOf<S>>::infinity());
  Vec<S, kLoop> q = at.q;
  for (int step = 0; step <= rule.steps; ++step) {
    const auto frames = chain::frames(m, angles(m, q));
    Vec<S, 6> e;
    const S size = measure(target, frames.tool, e);
    if (step == 0) at.rough = size;
    const auto better = active && size < best;
    at.q = select(better, q, at.q);
    at.error = select(better, e, at.error);
    const auto ends = size <= S(rule.enough) || (size <= S(rule.tolerance) && !(size < S(0.5) * best));
    best = select(better, size, best);
    active = active && !ends;
    const bool last = step == rule.steps || !any(active);
    if (last && !rule.proofs) break;
    const Mat<S, 6, kLoop> jac = jacobian(m, frames);
    at.jac = select(better, jac, at.jac);
    if (last) break;
    const Vec<S, kLoop> delta = chain::kernel::least_step(jac, e);
    S longest = S(0.5);
    for_each_index<kLoop>([&](auto i) { longest = max(longest, abs(delta[i])); });
    const S part = S(0.5) / longest;
    for_each_index<kLoop>([&](auto i) {
      const bool held = i >= rule.held_from && i < rule.held_end;
      if (!held) q[i] = select(active, fma(part, delta[i], q[i]), q[i]);
    });
  }
  at.residual = best;
}

/// Bound of the second derivatives of the pose over the unit of length, within one unit of the slides' places. `bend`:
/// that for slides at 0. Each slide adds its place to at most five distances of the tool from turning axes before it.
template <class S>
GARRA_HD S find_bend(const Vec<S, kLoop>& q, const bool* prismatic, double unit, double bend) {
  S sum = S(bend);
  for (int i = 0; i < kLoop; ++i)
    if (prismatic[i]) sum = fma(S((kLoop - 1) / unit), abs(q[i]), sum);
  return sum;
}

/// Radius within which no other solution lies: Newton-Kantorovich with X = F'^-1, as in
/// systems/platform/certificate.hpp. Lengths over the unit; |F''| <= find_bend() within one unit of the slides' places.
/// |X| <= |J^-1| (1 + noise |J|^2 |J^-1|^2), Frobenius norms, for the rounded J'J and its factors. 0: not proven.
template <class S>
GARRA_HD_CALL S unique_radius(const Polished<S>& at, const bool* prismatic, double unit, double bend) {
  constexpr double kNoise = 64 * std::numeric_limits<double>::epsilon();
  Mat<S, 6, 6> J, squares;
  Vec<S, 6> F;
  for_each_index<6>([&](auto r) {
    const double row = r < 3 ? 1 / unit : 1;
    for_each_index<6>([&](auto i) { J(r, i) = S(row * (prismatic[i] ? unit : 1)) * at.jac(r, i); });
    F[r] = S(row) * at.error[r];
  });
  S rows = S(0), inverse_squares = S(0);
  for_each_index<6>([&](auto i) {
    for_each_index<i + 1>([&](auto k) { squares(i, k) = dot(column(J, i), column(J, k)); });
    rows = rows + squares(i, i);
  });
  const Ldlt<S, 6> f = factor_ldlt(squares);
  for_each_index<6>([&](auto c) {
    Vec<S, 6> x;  // column c of L^-1
    inverse_squares = inverse_squares + f.inv_d[c];
    for_each_index<5 - c>([&](auto below) {
      constexpr int i = c + 1 + below;
      x[i] = -f.l(i, c);
      for_each_index<below>([&](auto k) { x[i] = fnma(f.l(i, c + 1 + k), x[c + 1 + k], x[i]); });
      inverse_squares = fma(f.inv_d[i] * x[i], x[i], inverse_squares);
    });
  });
  const S doubt = S(kNoise) * rows * inverse_squares;
  const S size = sqrt(inverse_squares) * (S(1) + doubt), noise = S(kNoise) * size;
  const S Y = fma(size, norm(F), noise), slack = S(1) - noise * sqrt(rows);
  const S Z2 = find_bend(at.q, prismatic, unit, bend) * size;
  const S rest = fma(S(-2) * Z2, Y, slack * slack);
  auto proven = f.bad_pivots == S(0) && doubt <= S(0.5) && slack > S(0) && rest > S(0);
  S radius = (slack + sqrt(select(proven, rest, S(0)))) / Z2;
  for (int i = 0; i < kLoop; ++i) {
    if (!prismatic[i]) continue;
    proven = proven && Y <= S(0.5) * slack;  // the solution is within one unit
    radius = min(radius, S(1));
  }
  return select(proven, radius, S(0));
}

template <class S>
struct Found {
  Polished<S> at;
  S unique;
  MaskOf<S> wanted;
};

/// Whether row k of the solutions is the same as this one. `scale`: of slides; 0: the joint turns.
template <class S>
GARRA_HD MaskOf<S> is_same(const Vec<S, kLoop>& q, const S& unique, const Vec<double, kLoop>& scale,
                           const SolutionRule& rule, const Solutions<S>& to, int k) {
  S apart = S(0);
  for_each_index<kLoop>([&](auto i) {
    const S by = q[i] - to.row(k, i);
    apart = max(apart, scale[i] == 0 ? abs(wrap_angle(by)) : S(scale[i]) * abs(by));
  });
  return apart <= max(S(rule.same), S(0.4) * max(unique, to.row(k, kUnique)));
}

/// Adds a solution unless it is there already.
template <class S>
GARRA_HD void add_solution(const Found<S>& found, const Vec<double, kLoop>& scale, const SolutionRule& rule,
                           Solutions<S>& to) {
  const auto& [from, unique, wanted] = found;
  auto is_new = wanted;
  for (int k = 0; k < kMost; ++k) {
    if (!any(wanted && S(k) < to.count)) break;
    is_new = is_new && !(S(k) < to.count && is_same(from.q, unique, scale, rule, to, k));
  }
  for (int k = 0; k < kMost; ++k) {
    const auto here = is_new && to.count == S(k);
    if (!any(here)) continue;
    for_each_index<kLoop>([&](auto i) { to.row(k, i) = select(here, from.q[i], to.row(k, i)); });
    to.row(k, kResidual) = select(here, from.residual, to.row(k, kResidual));
    to.row(k, kUnique) = select(here, unique, to.row(k, kUnique));
  }
  to.count = to.count + select(is_new && to.count < S(kMost), S(1), S(0));
}

/// Candidates of x_3, packed: a pair that is nearly real gives both sides of its real part.
template <class S>
struct Candidates {
  Vec<S, kMost> x, is_real;
  S count, real, doubtful;
};

template <class S, int N>
GARRA_HD void choose_candidates(const Eigenvalues<S, N>& from, double nearly_real, double doubtful, Candidates<S>& to) {
  const S zero(0), one(1);
  to.x = to.is_real = Vec<S, kMost>::zero();
  to.count = to.real = to.doubtful = zero;
  for (int k = 0; k < N; ++k) {
    const S size = fma(from.re[k], from.re[k], one), im = from.im[k];
    const auto real = im == zero && size < S(1e16), near = abs(im) <= S(nearly_real) * size && size < S(1e16);
    for (int i = 0; i <= k; ++i) {
      const auto here = near && to.count == S(i);
      to.x[i] = select(here, from.re[k] + im, to.x[i]);
      to.is_real[i] = select(here && real, one, to.is_real[i]);
    }
    to.count = to.count + select(near, one, zero);
    to.real = to.real + select(real, one, zero);
    to.doubtful = to.doubtful + select(!real && abs(im) <= S(doubtful) * size, one, zero);
  }
}

}  // namespace kernel

namespace kernel {

/// Candidates of a closed form with straight-line code. `families`: as of find_parallel().
template <class S>
GARRA_HD void find_closed(const Loop<S>& loop, const Way& way, ClosedCandidates<S>& to, bool families = false) {
  if (way.method == Method::kSpherical)
    find_spherical(loop, way.point, way.roles.offset, to);
  else if (way.method == Method::kParallel)
    find_parallel(loop, way.point.near, way.point.far, to, families);
  else
    find_sliding(loop, to);
}

/// Scales of joints for is_same().
GARRA_HD Vec<double, kLoop> slide_scale(const bool* prismatic, double unit) {
  Vec<double, kLoop> scale;
  for (int i = 0; i < kLoop; ++i) scale[i] = prismatic[i] ? 1 / unit : 0;
  return scale;
}

/// The value of the joint of a role in the arm's own direction and unit.
template <class S>
GARRA_HD S joint_value(const Way& way, bool slides, const S& value) {
  return S((way.roles.reversed ? -1 : 1) * (slides ? way.unit : 1)) * value;
}

/// Polishes one candidate, with joint values in the order of the roles, and adds it.
template <class S>
GARRA_HD_CALL void add_candidate(const Model<double, kLoop>& m, const Way& way, const SolutionRule& rule,
                                 const Pose<S>& target, const Vec<S, kLoop>& values, Found<S>& found,
                                 Solutions<S>& to) {
  for (int role = 0; role < kLoop; ++role) {
    const int i = way.roles.joint(role);
    found.at.q[i] = joint_value(way, m.prismatic[i], values[role]);
  }
  polish(m, target, rule, found.wanted, found.at);
  for (int i = 0; i < kLoop; ++i)
    if (!m.prismatic[i]) found.at.q[i] = wrap_angle(found.at.q[i]);
  found.wanted = found.wanted && found.at.residual <= S(rule.tolerance);
  found.unique = rule.proofs ? unique_radius(found.at, m.prismatic, way.unit, rule.bend) : S(0);
  add_solution(found, slide_scale(m.prismatic, way.unit), rule, to);
}

/// The candidate of a closed form that is tested. It shares joint values with the one before.
template <class S>
struct Tested {
  Polished<S> at;
  Frames<S, kLoop> frames;
  S cos[kLoop], sin[kLoop];  ///< of q + theta: of the candidate's turns, off from those of q by rounding
  S trace[kLoop];            ///< a number of each joint: equal solutions have nearly equal sums
  S unique;
  int number = -kClosed;
};

/// Takes a joint value. One off the unit circle, which has no angle, leaves NaN: Newton's method starts there.
template <class S>
GARRA_HD void take_value(const Way& way, int role, bool slides, const JointValue<S>& value, Tested<S>& to) {
  const int i = way.roles.joint(role);
  const SinCos<double>& theta = way.theta[i];
  if (slides) {
    to.at.q[i] = joint_value(way, slides, value.slide);
    to.cos[i] = S(theta.cos), to.sin[i] = S(theta.sin);
    to.trace[i] = value.slide;
    return;
  }
  S off;
  const JointValue<S> z = to_circle(value, off);
  to.at.q[i] = joint_value(way, slides, circle_angle(z));
  const S cos = select(abs(off) <= S(1e-8), z.cos, S(std::numeric_limits<RealOf<S>>::quiet_NaN()));
  const S sin = way.roles.reversed ? -z.sin : z.sin;
  to.cos[i] = theta.sin == 0 ? S(theta.cos) * cos : fnma(S(theta.sin), sin, S(theta.cos) * cos);
  to.sin[i] = theta.sin == 0 ? S(theta.cos) * sin : fma(S(theta.sin), cos, S(theta.cos) * sin);
  to.trace[i] = fma(S(0.8 - 0.1 * i), cos, S(0.6 + 0.05 * i) * sin);
}

/// Frames of the joints from `first` on.
template <class S>
GARRA_HD void renew_frames(const Model<double, kLoop>& m, int first, Tested<S>& to) {
  const Pose<S> before = first == 0 ? cast_pose<S>(m.base) : to.frames.frame[first - 1];
  chain::kernel::Axes<S> f = {column(before.R, 0), column(before.R, 1), column(before.R, 2), before.p};
  for (int i = first; i < kLoop; ++i) {
    const JointForm<double>& joint = m.joint[i];
    chain::kernel::advance_tilt(joint, f);
    f.p = axpy(S(joint.d) + (m.prismatic[i] ? to.at.q[i] : S(0)), f.z, f.p);
    chain::kernel::advance_turn(to.cos[i], to.sin[i], f);
    to.frames.frame[i] = chain::kernel::to_pose(f);
  }
  // The tool's place, in the last frame's axes: its own turn leaves the pose error as it is.
  to.frames.tool = to.frames.frame[kLoop - 1];
  to.frames.tool.p = to.frames.tool.R * cast<S>(m.tool.p) + to.frames.tool.p;
}

/// Takes the joint values that differ from those of the candidate before.
template <class S>
GARRA_HD void take_candidate(const Model<double, kLoop>& m, const Way& way, const SolutionRule& rule,
                             const Pose<S>& aim, const ClosedCandidates<S>& from, int k, Tested<S>& to) {
  int first = kLoop;
  for (int role = 0; role < kLoop; ++role) {
    if (k >> from.shared[role] == to.number >> from.shared[role]) continue;
    const int i = way.roles.joint(role);
    take_value(way, role, m.prismatic[i], from.z[k][role], to);
    first = i < first ? i : first;
  }
  to.number = k;
  renew_frames(m, first, to);
  to.at.residual = measure(aim, to.frames.tool, to.at.error);
  if (rule.proofs) to.at.jac = jacobian(m, to.frames);
  to.unique = rule.proofs ? unique_radius(to.at, m.prismatic, way.unit, rule.bend) : S(0);
}

/// The other side of the wrist. Its frames differ in signs of axes only, and the Jacobian in that of a column: the
/// tool, the pose error and the certificate are the same, to the bit.
template <class S>
GARRA_HD void flip_wrist(const Way& way, const ClosedCandidates<S>& from, int k, Tested<S>& to) {
  for (int role = 3; role < kLoop; role += 2) {
    const int i = way.roles.joint(role);
    to.at.q[i] = to.at.q[i] + select(to.at.q[i] > S(0), S(-M_PI), S(M_PI));
    to.trace[i] = -to.trace[i];
  }
  take_value(way, 4, false, from.z[k][4], to);
  to.number = k;
}

/// Row k of the solutions from candidate k. Returns whether it may have moved far from the candidate.
template <class S>
GARRA_HD_CALL bool add_tested(const Model<double, kLoop>& m, const Way& way, const SolutionRule& rule,
                              const Pose<S>& target, const MaskOf<S>& wanted, const Tested<S>& now, Solutions<S>& to) {
  const int k = now.number;
  S residual = now.at.residual, unique = now.unique;
  Vec<S, kLoop> q = now.at.q;
  const auto moves = wanted && !(residual <= S(rule.enough));
  if (any(moves)) {
    Polished<S> at = now.at;
    polish(m, target, rule, moves, at);
    for_each_index<kLoop>([&](auto i) { q[i] = m.prismatic[i] ? at.q[i] : wrap_angle(at.q[i]); });
    residual = select(moves, at.residual, residual);
    if (rule.proofs) unique = select(moves, unique_radius(at, m.prismatic, way.unit, rule.bend), unique);
  }
  for_each_index<kLoop>([&](auto i) { to.row(k, i) = q[i]; });
  to.row(k, kResidual) = select(wanted && residual <= S(rule.tolerance), residual, S(-1));
  to.row(k, kUnique) = unique;
  return any(moves);
}

/// The sum of the candidate's traces; numbers far from each other of those that are no solution.
template <class S>
GARRA_HD S find_trace(const Tested<S>& now, const Solutions<S>& to) {
  S sum = now.trace[0];
  for (int i = 1; i < kLoop; ++i) sum = sum + now.trace[i];
  return select(to.row(now.number, kResidual) >= S(0), sum, S(1e3 * (1 + now.number)));
}

/// Leaves the first of equal solutions.
template <class S>
GARRA_HD_CALL void drop_copies(const Vec<double, kLoop>& scale, const SolutionRule& rule, Solutions<S>& to) {
  for (int k = 1; k < kClosed; ++k) {
    Vec<S, kLoop> q;
    for_each_index<kLoop>([&](auto i) { q[i] = to.row(k, i); });
    for (int j = 0; j < k; ++j) {
      const auto same = to.row(j, kResidual) >= S(0) && is_same(q, to.row(k, kUnique), scale, rule, to, j);
      to.row(k, kResidual) = select(same, S(-1), to.row(k, kResidual));
    }
  }
}

/// Number of solutions with a proof, or of all where none is wanted.
template <class S>
GARRA_HD S count_proven(const SolutionRule& rule, const Solutions<S>& from) {
  if (!rule.proofs) return from.count;
  S proven = S(0);
  for (int k = 0; k < kMost; ++k)
    proven = proven + select(S(k) < from.count && from.row(k, kUnique) > S(0), S(1), S(0));
  return proven;
}

}  // namespace kernel

/// Adds the solutions of one elimination to those that are known. From: Eliminated or TwoSlides.
template <template <class> class From, class S>
GARRA_HD_CALL void add_eliminated(const Model<double, kLoop>& m, const Way& way, const SolutionRule& rule,
                                  const Pose<S>& target, Solutions<S>& to) {
  Loop<S> loop;
  kernel::fill_loop(way, m.prismatic, target, loop);
  From<S> from;
  eliminate(loop, way.roles.offset, from);
  kernel::Candidates<S> candidates;
  kernel::choose_candidates(from.x, way.nearly_real(), rule.doubtful, candidates);
  kernel::Found<S> found;
  Vec<S, kLoop> values;
  S rough = S(0);
  for (int k = 0; k < kMost; ++k) {
    found.wanted = S(k) < candidates.count;
    if (!any(found.wanted)) break;
    find_joint_values(loop, from, way.roles.offset, candidates.x[k], values);
    kernel::add_candidate(m, way, rule, target, values, found, to);
    rough = select(candidates.is_real[k] > S(0), max(rough, found.at.rough), rough);
  }
  const auto all = kernel::count_proven(rule, to) == to.count && to.count == candidates.real && from.x.open == S(0) &&
                   candidates.doubtful == S(0) && rough <= S(rule.rough);
  if (way.moved == 0) to.complete = select(all, S(1), to.complete);
}

/// Makes the solutions of a closed form: row k is that of candidate k.
template <class S>
GARRA_HD_CALL void add_closed(const Model<double, kLoop>& m, const Way& way, const SolutionRule& rule,
                              const Pose<S>& target, Solutions<S>& to) {
  Loop<S> loop;
  kernel::fill_loop(way, m.prismatic, target, loop);
  ClosedCandidates<S> candidates;
  kernel::find_closed(loop, way, candidates);
  kernel::Tested<S> now;
  const Pose<S> aim = {target.R * cast<S>(transpose(m.tool.R)), target.p};  // of the last frame's axes
  S expected = S(0), trace[kClosed];
  bool moved = false;
  MaskOf<S> alike = expected > S(0);
  for (int k = 0; k < kClosed; ++k) {
    const auto wanted = candidates.exists[k] > S(0);
    trace[k] = S(-1e3 * (1 + k));
    if (!any(wanted)) continue;
    expected = expected + candidates.exists[k];
    if (way.point.flips && k % 2 == 1)
      kernel::flip_wrist(way, candidates, k, now);
    else
      kernel::take_candidate(m, way, rule, aim, candidates, k, now);
    if (kernel::add_tested(m, way, rule, target, wanted, now, to)) moved = true;
    trace[k] = kernel::find_trace(now, to);
    // No trace changes faster than a joint value.
    for (int j = 0; j < k; ++j) alike = alike || abs(trace[k] - trace[j]) <= S(8 * rule.same);
  }
  if (moved || any(alike)) kernel::drop_copies(kernel::slide_scale(m.prismatic, way.unit), rule, to);
  S count = S(0), proven = S(0);
  for (int k = 0; k < kClosed; ++k) {
    const auto is_solution = to.row(k, kResidual) >= S(0);
    count = count + select(is_solution, S(1), S(0));
    proven = proven + select(is_solution && (!rule.proofs || to.row(k, kUnique) > S(0)), S(1), S(0));
  }
  const auto all = proven == count && count == expected && !(candidates.doubtful > S(0));
  to.complete = select(all, S(1), to.complete);
}

template <class S>
GARRA_HD Pose<S> to_target(const Mat<S, 4, 4>& pose) {
  Pose<S> target;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) target.R(r, c) = pose(r, c);
    target.p[r] = pose(r, 3);
  }
  target.R = kernel::nearest_rotation(target.R);
  return target;
}

/// What arms of fewer joints leave of a solution: Newton's method again with the held joints at 0.
struct HoldOp {
  Model<double, kLoop> model;
  SolutionRule rule;
  double unit;    ///< of length [m]
  bool any_turn;  ///< the last three joints turn the tool freely: the certificate takes their axes across

  template <class S>
  struct In {
    Mat<S, 4, 4> pose;
    Vec<S, kLoop> q;
  };
  template <class S>
  struct Out {
    Vec<S, kLoop> q;
    S residual, unique;
  };

  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& in) const {
    kernel::Polished<S> at;
    at.q = in.q;
    for (int i = rule.held_from; i < rule.held_end; ++i) at.q[i] = S(0);
    const auto all = S(0) == S(0);
    kernel::polish(model, to_target(in.pose), rule, all, at);
    for (int r = 0; any_turn && rule.proofs && r < 6; ++r)
      for (int k = 0; k < 3; ++k) at.jac(r, 3 + k) = S(r == 3 + k ? 1 : 0);
    return {at.q, at.residual, rule.proofs ? kernel::unique_radius(at, model.prismatic, unit, rule.bend) : S(0)};
  }
};

/// All solutions of a pose, as an operation on rows (batch/rows.hpp).
struct AllSolutionsOp {
  Model<double, kLoop> model;
  Way way[kMostWays];
  int ways = 1;
  SolutionRule rule;

  [[nodiscard]] GARRA_HD bool is_closed() const {
    return way[0].method != Method::kElimination && way[0].method != Method::kTwoSlides;
  }

  template <class S>
  struct In {
    Mat<S, 4, 4> pose;
  };
  template <class S>
  using Out = Solutions<S>;

  template <class S>
  GARRA_HD Solutions<S> operator()(const In<S>& in) const {
    const Pose<S> target = to_target(in.pose);
    Solutions<S> out;
    for (int k = 0; k < kMost; ++k) out.row(k, kResidual) = S(-1);
    out.count = out.complete = S(0);
    for (int k = 0; k < ways; ++k)
      if (way[k].method == Method::kElimination)
        add_eliminated<Eliminated>(model, way[k], rule, target, out);
      else if (way[k].method == Method::kTwoSlides)
        add_eliminated<TwoSlides>(model, way[k], rule, target, out);
      else
        add_closed(model, way[k], rule, target, out);
    return out;
  }
};

}  // namespace garra::chain::branches
