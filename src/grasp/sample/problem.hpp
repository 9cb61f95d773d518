// Third step of a sample: friction problem A, b and hold metrics, in contact frames (n, t, o), SI units. Host and
// device.
#pragma once

#include "garra/math/smallest_eigenvalue.hpp"
#include "garra/solvers/friction_problem.hpp"
#include "garra/systems/grasp/assemble.hpp"
#include "garra/systems/grasp/metrics.hpp"
#include "grasp/sample/arm.hpp"
#include "grasp/sample/problem_in_tile.hpp"

namespace garra::grasp {

/// Metrics of a sample, from its stick force. Members are S.
template <class S, int N>
struct Metrics {
  S reached;                ///< 1 if every finger reaches its contact
  S margin;                 ///< smallest friction margin
  S critical;               ///< required friction
  S load_factor;            ///< multiples of the probe wrench that may be added
  S resisted_force_radius;  ///< every added wrench (F, T / length) shorter than this [N] leaves all contacts sticking,
                            ///< and can be balanced
  S min_grip_force;         ///< smallest commanded squeeze that holds [kCapacity<N>]; NaN if it does not hold now
  S first;                  ///< contact with the smallest margin
  S least_singular_value;   ///< of the grasp matrix, moments over the object's radius of gyration
  Vec<S, N> tangent_t;      ///< c_t / (mu c_n) of the stick force, per contact
  Vec<S, N> tangent_o;
  S resisted;   ///< 1: forces within the cones can balance the wrench, 0: none can; NaN: not decided (balance.hpp)
  S imbalance;  ///< unbalanced part of the commanded forces, over weight and external wrench

  static constexpr auto parts() {
    return std::tuple{&Metrics::reached,
                      &Metrics::margin,
                      &Metrics::critical,
                      &Metrics::load_factor,
                      &Metrics::resisted_force_radius,
                      &Metrics::min_grip_force,
                      &Metrics::first,
                      &Metrics::least_singular_value,
                      &Metrics::tangent_t,
                      &Metrics::tangent_o,
                      &Metrics::resisted,
                      &Metrics::imbalance};
  }
};

/// -A^-1 (b | W^T M^-1 probe | A_man n | W^T M^-1): stick force, its change with the load, with the squeeze, and with
/// any wrench.
template <class S, int N, int D = 3>
struct HoldForces {
  Vec<S, D * N> stick, load, push;      ///< push: with less squeeze
  ColumnGram<S, D> gram[kCapacity<N>];  ///< of the change of each contact's force with a wrench
};

/// Solves one right-hand side after another: all nine at once take more registers than a GPU thread has.
template <class S, int N, int D, class Factor, class Matrix>
GARRA_HD HoldForces<S, N, D> hold_forces(const HoldUnits& m, const Factor& factors, const System<S, N, D, Matrix>& sys,
                                         const Vec<S, D * N>& grip_force_drift) {
  HoldForces<S, N, D> out;
  Vec<S, D* N> load = Vec<S, D * N>::zero();
  for_each_index<6>([&](auto k) {
    Vec<S, D * N> x;
    for_each_index<D * N>([&](auto i) {
      x[i] = -sys.inverse_mass_W(k, i);
      load[i] = fma(sys.inverse_mass_W(k, i), S(m.probe[k]), load[i]);
    });
    x = solve(factors, x);
    const S unit = S(k < 3 ? 1.0 : m.length);
    for_each_index<N>([&](auto j) {
      const Vec<S, D> g = unit * solvers::contact<S, N, D>(x, j);
      if (k == 0)
        out.gram[j].set(g);
      else
        out.gram[j].add(g);
    });
  });
  out.load = solve(factors, -load);
  out.stick = solve(factors, -sys.b);
  out.push = -solve(factors, -grip_force_drift);
  return out;
}

/// Metrics derived from the stick force; inlined, for a GPU thread that has enough registers.
template <class S, int N, int D, class Matrix>
GARRA_HD Metrics<S, N> inlined_hold_metrics(const HoldUnits& m, const System<S, N, D, Matrix>& sys, const Vec<S, N>& mu,
                                            const Vec<S, D * N>& grip_force_drift, const S& grip_force) {
  const auto factored = factor_ldlt_here(sys.A);
  const HoldForces<S, N, D> forces = hold_forces(m, factored, sys, grip_force_drift);
  Metrics<S, N> out;
  out.margin = out.load_factor = out.resisted_force_radius = S(kInfinity);
  out.critical = S(-kInfinity);
  out.first = S(0);
  S release = S(kInfinity);
  for_each_index<N>([&](auto j) {
    const Vec<S, D> c = solvers::contact<S, N, D>(forces.stick, j);
    const S margin = friction_margin(c, mu[j]);
    out.first = select(margin < out.margin, S(int(j)), out.first);
    out.margin = min(out.margin, margin);
    out.critical = max(out.critical, required_friction(c));
    out.load_factor = min(out.load_factor, cone_exit(c, solvers::contact<S, N, D>(forces.load, j), mu[j]));
    release = min(release, cone_exit(c, solvers::contact<S, N, D>(forces.push, j), mu[j]));
    out.resisted_force_radius =
        min(out.resisted_force_radius, max(cone_distance(c, mu[j]), S(0)) / forces.gram[j].norm());
    const auto pressed = mu[j] * c[0] > S(0);
    const S scale = S(1) / select(pressed, mu[j] * c[0], S(1));
    out.tangent_t[j] = select(pressed, scale * c[1], S(kInfinity));
    out.tangent_o[j] = select(pressed, scale * c[2], S(kInfinity));
  });
  const S nan = S(__builtin_nan(""));
  // (21) of docs/theory/grasp-model.md: `release` is the squeeze that may be removed.
  out.min_grip_force = select(out.margin >= S(0), max(grip_force - release, S(0)), nan);
  if (!m.any_grip_force) out.min_grip_force = nan;
  // A pivot that is rounding noise leaves the stick force, and every metric, undetermined.
  const auto definite = factored.bad_pivots == S(0);
  out.critical = select(definite, out.critical, nan);
  out.margin = select(definite, out.margin, nan);
  out.load_factor = select(definite, out.load_factor, nan);
  out.resisted_force_radius = select(definite, out.resisted_force_radius, nan);
  out.min_grip_force = select(definite, out.min_grip_force, nan);
  return out;
}

/// The same as a separate function, for hands of a set: inlined there, kernels/grasp/set_hand.cu takes nvcc a third
/// longer, and its code is as large.
template <class S, int N, int D = 3>
GARRA_HD_CALL Metrics<S, N> hold_metrics(const HoldUnits& m, const System<S, N, D>& sys, const Vec<S, N>& mu,
                                         const Vec<S, D * N>& grip_force_drift, const S& grip_force) {
  return inlined_hold_metrics(m, sys, mu, grip_force_drift, grip_force);
}

/// Least singular value of the grasp matrix, moments over the object's radius of gyration: 0 if its rank is below 6.
/// Accurate to 1e-6 of it and 1e-8 of the largest one.
template <class S, int N>
GARRA_HD S least_singular_value(const Body<S>& body, const ContactTerms<S> (&contacts)[kCapacity<N>]) {
  if (extent<N>() < 3) return S(0);  // two contacts bear no moment about their line
  const S gyration2 = (body.inertia(0, 0) + body.inertia(1, 1) + body.inertia(2, 2)) / (S(3) * body.mass);
  const S per_length = sqrt(S(1) / gyration2);
  // W W^T: a contact at r adds (1, r^T; r^, r^ r^T), with r^ the cross product.
  Vec3<S> sum = Vec3<S>::zero();
  auto square = Mat3<S>::zero();
  for (int j = 0; j < extent<N>(); ++j) {
    const Vec3<S> r = per_length * (contacts[j].place.p - body.p_cm);
    sum += r;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k <= i; ++k) square(i, k) = fma(r[i], r[k], square(i, k));
  }
  const S size = square(0, 0) + square(1, 1) + square(2, 2);
  Mat<S, 6, 6> gram;
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      gram(i, k) = S(i == k ? extent<N>() : 0);
      gram(3 + i, k) = gram(k, 3 + i) = S(0);
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k <= i; ++k) gram(3 + i, 3 + k) = gram(3 + k, 3 + i) = (i == k ? size : S(0)) - square(i, k);
    const int next = (i + 1) % 3, last = (i + 2) % 3;
    gram(3 + next, last) = gram(last, 3 + next) = -sum[i];
    gram(3 + last, next) = gram(next, 3 + last) = sum[i];
  }
  const S least = smallest_eigenvalue(gram, 1e-6);
  return select(least > S(1e-15) * (S(3 * extent<N>()) + S(2) * size), sqrt(max(least, S(0))), S(0));
}

template <class S>
GARRA_HD ContactTerms<S> contact_terms(const SurfacePoint& surface, const ContactPlace<S>& place,
                                       const FingerShare<S>& finger) {
  return {place,       finger.A,        finger.drift,
          finger.bias, finger.velocity, {{S(surface.curvature_t), S(surface.curvature_o)}}};
}

/// Inputs of the assembly.
template <class S, int N>
struct Parts {
  ObjectLoad<S> load;
  ContactTerms<S> contacts[kCapacity<N>];
  Vec<S, N> friction;
  S reached;  ///< product of those of the fingers
};

/// Builds the friction problem of a sample in `out`, whose matrix may lie anywhere. If a finger does not reach its
/// contact, it is a harmless problem, which keeps the lane's arithmetic ordinary.
template <class S, int N, class Matrix>
GARRA_HD void friction_problem(const GraspModel& m, const Parts<S, N>& parts, bool moving,
                               solvers::FrictionProblem<S, N, 3, Matrix>& out) {
  System<S, N, 3, Matrix> sys;
  take_place(sys.A, out.A);
  assemble(parts.load.body, parts.contacts, parts.load.wrench, m.gravity, moving, sys);
  const auto ok = parts.reached > S(0);
  out.mu = parts.friction;
  // A matrix that lies elsewhere is stored already.
  if constexpr (requires { out.A.at; })
    if (ok) {
      out.b = sys.b;
      return;
    }
  // Rows and columns, because a single loop over all entries would be too long to unroll.
  for_each_index<3 * N>([&](auto r) {
    for_each_index<3 * N>([&](auto c) { out.A(r, c) = select(ok, sys.A(r, c), S(r == c ? 1 : 0)); });
    out.b[r] = select(ok, sys.b[r], S(0));
  });
}
template <class S, int N>
GARRA_HD solvers::FrictionProblem<S, N> friction_problem(const GraspModel& m, const Parts<S, N>& parts, bool moving) {
  solvers::FrictionProblem<S, N> out;
  friction_problem(m, parts, moving, out);
  return out;
}

/// The metrics of a sample with this friction problem, including the least singular value; undefined if a finger does
/// not reach its contact.
template <class S, int N, class Matrix>
GARRA_HD Metrics<S, N> compute_metrics(const GraspModel& m, const Parts<S, N>& parts,
                                       const solvers::FrictionProblem<S, N, 3, Matrix>& problem, const S& least) {
  System<S, N, 3, Matrix> sys;
  sys.A = problem.A;
  sys.b = problem.b;
  set_wrenches(parts.load.body, parts.contacts, sys);
  Vec<S, 3 * N> grip_force_drift;  // db / d squeeze = -A_man E^T n0, of the contacts that share one squeeze
  for_each_index<N>([&](auto j) {
    const ContactTerms<S>& c = parts.contacts[j];
    const Vec3<S> d = c.A * transpose_times(c.place.E, cast<S>(m.squeezed[j]));
    for (int i = 0; i < 3; ++i) grip_force_drift[3 * j + i] = -d[i];
  });
  Metrics<S, N> out = inlined_hold_metrics(m.hold, sys, parts.friction, grip_force_drift, parts.load.grip_force);
  out.least_singular_value = least;
  out.reached = parts.reached;
  const auto ok = out.reached > S(0);
  const S nan = S(__builtin_nan(""));
  for (S* metric : {&out.margin, &out.critical, &out.load_factor, &out.resisted_force_radius, &out.min_grip_force,
                    &out.least_singular_value})
    *metric = select(ok, *metric, nan);
  return out;
}

/// Step 3: friction problems, symmetric to the bit, and metrics. at_rest as in FingerKernel.
template <int N, bool at_rest = false>
struct BuildKernel {
  const GraspModel* model;
  SampleParts from;
  double* problems;
  double* metrics;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const S least = put_problem<S>(i);
    if (from.arm != nullptr)
      couple_arm<S>(*model, from, i, problems, batch::fields<double, solvers::FrictionProblem<double, N>>());
    // Loaded again: a GPU thread has no registers to keep it in, and its stack is slower.
    if constexpr (kStaysInTile<S, N>) {
      ProblemInTile<N> problem(problems, i);
      problem.read_b();
      batch::store<S>(metrics, i, compute_metrics(*model, parts<S>(i), problem.friction, least));
    } else {
      const auto problem = batch::load<S, solvers::FrictionProblem<S, N>>(problems, i);
      batch::store<S>(metrics, i, compute_metrics(*model, parts<S>(i), problem, least));
    }
  }

 private:
  /// Returns the least singular value of the grasp matrix.
  template <class S>
  GARRA_HD S put_problem(std::int64_t i) const {
    const Parts<S, N> given = parts<S>(i);
    if constexpr (kStaysInTile<S, N>) {
      ProblemInTile<N> problem(problems, i);
      friction_problem(*model, given, moving(), problem.friction);
      problem.write_rest();
    } else {
      batch::store<S>(problems, i, friction_problem(*model, given, moving()));
    }
    return least_singular_value<S, N>(given.load.body, given.contacts);
  }

  [[nodiscard]] GARRA_HD bool moving() const { return !at_rest && model->moving; }

  template <class S>
  GARRA_HD Parts<S, N> parts(std::int64_t i) const {
    Parts<S, N> out;
    out.load = load_part<S, ObjectLoad<S>>(from.loads, i, moving());
    out.reached = S(1);
    for_each_index<N>([&](auto j) {
      const auto task = load_part<S, FingerTask<S>>(from.task_tile(j), i, moving());
      const auto share = load_part<S, FingerShare<S>>(from.share_tile(j), i, moving());
      out.contacts[j] = contact_terms(model->surface[j], task.place, share);
      out.friction[j] = task.friction;
      // Each is 0 or 1.
      out.reached = out.reached * share.reached;
    });
    return out;
  }
};

}  // namespace garra::grasp
