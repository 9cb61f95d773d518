// Third step of a sample: A, b and how well the grasp holds. Host and device.
#pragma once

#include "garra/math/smallest_eigenvalue.hpp"
#include "garra/solve/friction_problem.hpp"
#include "garra/systems/grasp/assemble.hpp"
#include "garra/systems/grasp/metrics.hpp"
#include "grasp/sample/fingers.hpp"

namespace garra::grasp {

/// Metrics of a sample, from its stick force. Members are S.
template <class S, int N>
struct Metrics {
  S reached;        ///< 1 where every finger reaches its contact
  S margin;         ///< smallest friction margin
  S critical;       ///< critical friction
  S load_factor;    ///< multiples of the probe wrench that may be added
  S wrench_radius;  ///< every added wrench (F, T / length) shorter than this [N] leaves all contacts sticking, and can
                    ///< be balanced
  S minimum_squeeze;       ///< smallest commanded squeeze that holds [N]; NaN where it does not hold now
  S first;                 ///< contact with the smallest margin
  S least_singular_value;  ///< of the grasp matrix, moments over the object's radius of gyration
  Vec<S, N> tangent_t;     ///< c_t / (mu c_n) of the stick force, per contact
  Vec<S, N> tangent_o;
  S resisted;   ///< 1: forces within the cones can balance the wrench, 0: none can; NaN: not decided (balance.hpp)
  S imbalance;  ///< what the commanded forces leave unbalanced, over weight and external wrench
};

/// What the build step leaves for the later ones.
template <class S, int N>
struct Built {
  solvers::FrictionProblem<S, N> problem;
  Metrics<S, N> metrics;
};

/// Right-hand sides of -A^-1 (b | W^T M^-1 probe | A_man n | W^T M^-1) at once: stick force, its change with the load,
/// with the squeeze, and with any wrench.
template <class S, int N>
GARRA_HD_CALL Metrics<S, N> hold_metrics(const HoldUnits& m, const System<S, N>& sys, const Vec<S, N>& mu,
                                         const Vec<S, 3 * N>& squeeze_drift, const S& squeeze) {
  Mat<S, 3 * N, 9> rhs;
  for (int i = 0; i < 3 * N; ++i) {
    rhs(i, 0) = -sys.b[i];
    S load = S(0);
    for (int k = 0; k < 6; ++k) {
      rhs(i, 3 + k) = -sys.inverse_mass_W(k, i);
      load = fma(sys.inverse_mass_W(k, i), S(m.probe[k]), load);
    }
    rhs(i, 1) = -load;
    rhs(i, 2) = -squeeze_drift[i];
  }
  const auto factored = factor_ldlt(sys.A);
  const Mat<S, 3 * N, 9> x = solve(factored, rhs);
  Metrics<S, N> out;
  out.margin = out.load_factor = out.wrench_radius = S(kInfinity);
  out.critical = S(-kInfinity);
  out.first = S(0);
  S release = S(kInfinity);
  for (int j = 0; j < N; ++j) {
    Vec3<S> c, load, push;
    Mat<S, 3, 6> G;
    for (int i = 0; i < 3; ++i) {
      c[i] = x(3 * j + i, 0);
      load[i] = x(3 * j + i, 1);
      push[i] = -x(3 * j + i, 2);  // less squeeze
      for (int k = 0; k < 6; ++k) G(i, k) = x(3 * j + i, 3 + k) * S(k < 3 ? 1.0 : m.length);
    }
    const S margin = friction_margin(c, mu[j]);
    out.first = select(margin < out.margin, S(j), out.first);
    out.margin = min(out.margin, margin);
    out.critical = max(out.critical, critical_friction(c));
    out.load_factor = min(out.load_factor, cone_exit(c, load, mu[j]));
    release = min(release, cone_exit(c, push, mu[j]));
    out.wrench_radius = min(out.wrench_radius, max(cone_distance(c, mu[j]), S(0)) / spectral_norm(G));
    const auto pressed = mu[j] * c[0] > S(0);
    const S scale = S(1) / select(pressed, mu[j] * c[0], S(1));
    out.tangent_t[j] = select(pressed, scale * c[1], S(kInfinity));
    out.tangent_o[j] = select(pressed, scale * c[2], S(kInfinity));
  }
  const S nan = S(__builtin_nan(""));
  // (21) of docs/grasp-model.md: `release` is how much less squeeze still holds.
  out.minimum_squeeze = select(out.margin >= S(0), max(squeeze - release, S(0)), nan);
  if (!m.any_squeezed) out.minimum_squeeze = nan;
  // A pivot that is rounding noise leaves the stick force undetermined, and every metric with it.
  const auto definite = factored.bad_pivots == S(0);
  out.critical = select(definite, out.critical, nan);
  out.margin = select(definite, out.margin, nan);
  out.load_factor = select(definite, out.load_factor, nan);
  out.wrench_radius = select(definite, out.wrench_radius, nan);
  out.minimum_squeeze = select(definite, out.minimum_squeeze, nan);
  return out;
}

/// Of the grasp matrix, moments over the object's radius of gyration: 0 where its rank is not 6. To 1e-6 of it and 1e-8
/// of the largest one.
template <class S, int N>
GARRA_HD_CALL S least_singular_value(const Body<S>& body, const ContactTerms<S> (&contacts)[N]) {
  if constexpr (N < 3) return S(0);  // two contacts bear no moment about their line
  const S gyration2 = (body.inertia(0, 0) + body.inertia(1, 1) + body.inertia(2, 2)) / (S(3) * body.mass);
  const S per_length = sqrt(S(1) / gyration2);
  // W W^T: a contact at r adds (1, r^T; r^, r^ r^T), with r^ the cross product.
  Vec3<S> sum = Vec3<S>::zero();
  auto square = Mat3<S>::zero();
  for (int j = 0; j < N; ++j) {
    const Vec3<S> r = per_length * (contacts[j].place.p - body.p_cm);
    sum += r;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k <= i; ++k) square(i, k) = fma(r[i], r[k], square(i, k));
  }
  const S size = square(0, 0) + square(1, 1) + square(2, 2);
  auto gram = Mat<S, 6, 6>::zero();
  for (int i = 0; i < 3; ++i) {
    gram(i, i) = S(N);
    for (int k = 0; k <= i; ++k) gram(3 + i, 3 + k) = gram(3 + k, 3 + i) = (i == k ? size : S(0)) - square(i, k);
    const int next = (i + 1) % 3, last = (i + 2) % 3;
    gram(3 + next, last) = gram(last, 3 + next) = -sum[i];
    gram(3 + last, next) = gram(next, 3 + last) = sum[i];
  }
  const S least = smallest_eigenvalue(gram, 1e-6);
  return select(least > S(1e-15) * (S(3 * N) + S(2) * size), sqrt(max(least, S(0))), S(0));
}

template <class S>
GARRA_HD ContactTerms<S> contact_terms(const SurfacePoint& surface, const ContactPlace<S>& place,
                                       const FingerShare<S>& finger) {
  return {place,       finger.A,        finger.drift,
          finger.bias, finger.velocity, {{S(surface.curvature_t), S(surface.curvature_o)}}};
}

/// No metric where a finger does not reach its contact, and a harmless problem that keeps the lane's arithmetic
/// ordinary.
template <class S, int N>
GARRA_HD void clear_unreached(Built<S, N>& out) {
  const auto ok = out.metrics.reached > S(0);
  const S nan = S(__builtin_nan(""));
  for (S* metric : {&out.metrics.margin, &out.metrics.critical, &out.metrics.load_factor, &out.metrics.wrench_radius,
                    &out.metrics.minimum_squeeze, &out.metrics.least_singular_value})
    *metric = select(ok, *metric, nan);
  out.problem.A = select(ok, out.problem.A, Mat<S, 3 * N, 3 * N>::identity());
  out.problem.b = select(ok, out.problem.b, Vec<S, 3 * N>::zero());
}

/// What the assembly starts from.
template <class S, int N>
struct Parts {
  ObjectLoad<S> load;
  ContactTerms<S> contacts[N];
  Vec<S, N> friction;
  S reached;  ///< product of those of the fingers
};

/// The friction problem of a sample and its metrics; a harmless one where a finger does not reach.
template <class S, int N>
GARRA_HD Built<S, N> build_problem(const GraspModel& m, const Parts<S, N>& parts) {
  const System<S, N> sys = assemble<S, N>(parts.load.body, parts.contacts, parts.load.wrench, m.gravity, m.moving);
  Built<S, N> out;
  out.problem.A = sys.A;
  out.problem.b = sys.b;
  out.problem.mu = parts.friction;
  Vec<S, 3 * N> squeeze_drift;  // db / d squeeze = -A_man E^T n0, of the contacts that share one squeeze
  for (int j = 0; j < N; ++j) {
    const ContactTerms<S>& c = parts.contacts[j];
    const Vec3<S> d = c.A * transpose_times(c.place.E, cast<S>(m.squeezed[j]));
    for (int i = 0; i < 3; ++i) squeeze_drift[3 * j + i] = -d[i];
  }
  out.metrics = hold_metrics<S, N>(m.hold, sys, out.problem.mu, squeeze_drift, parts.load.squeeze);
  out.metrics.least_singular_value = least_singular_value<S, N>(parts.load.body, parts.contacts);
  out.metrics.reached = parts.reached;
  clear_unreached(out);
  return out;
}

/// Step 3: friction problems and metrics.
template <int N>
struct BuildBody {
  const GraspModel* model;
  SampleParts from;
  double* problems;
  double* metrics;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    Parts<S, N> parts;
    parts.load = batch::load<S, ObjectLoad<S>>(from.loads, i);
    parts.reached = S(1);
    for (int j = 0; j < N; ++j) {
      const auto task = batch::load<S, FingerTask<S>>(from.tasks_of(j), i);
      const auto share = batch::load<S, FingerShare<S>>(from.shares_of(j), i);
      parts.contacts[j] = contact_terms(model->surface[j], task.place, share);
      parts.friction[j] = task.friction;
      // Each is 0 or 1.
      parts.reached = parts.reached * share.reached;
    }
    const Built<S, N> built = build_problem(*model, parts);
    batch::store<S>(problems, i, built.problem);
    batch::store<S>(metrics, i, built.metrics);
  }
};

}  // namespace garra::grasp
