// One sample of a grasp study, from uniform numbers to A, b and the metrics: the bodies that every executor runs.
// Host and device; docs/monte-carlo.md names the steps.
#pragma once

#include "garra/batch/tiles.hpp"
#include "garra/grasp.hpp"
#include "garra/core/philox.hpp"
#include "garra/solve/friction_newton.hpp"
#include "garra/study/distribution.hpp"
#include "garra/systems/chain/inverse_kinematics.hpp"
#include "garra/systems/grasp/assemble.hpp"
#include "garra/systems/grasp/metrics.hpp"

namespace garra::grasp {

inline constexpr int kQuantileBins = 20;  ///< of each uncertain input, for its influence
inline constexpr int kLimitContacts = kMaxContacts;

/// Scalar inputs of a sample. The first are the grasp's, then one group per contact.
enum Slot : int {
  kMass, kScale, kShiftX, kShiftY, kShiftZ, kTurnX, kTurnY, kTurnZ, kAngle, kSqueeze, kCompensation,
  kForceSize, kForceCosine, kForceAzimuth, kTorqueSize, kTorqueCosine, kTorqueAzimuth,
  kFirstContactSlot
};
enum ContactSlot : int { kFriction, kSlideT, kSlideO, kTilt, kTiltDirection, kSqueezeError, kContactSlots };
inline constexpr int kSlots = kFirstContactSlot + kLimitContacts * kContactSlots;
GARRA_HD constexpr int contact_slot(int contact, int which) {
  return kFirstContactSlot + contact * kContactSlots + which;
}

/// One uncertain input: which slot its value goes to.
struct Draw {
  int slot;
  study::Distribution distribution;
};

struct FingerModel {
  chain::Chain chain;
  Pose<double> base;
  bool closed_form;            ///< puma_ik, else numeric_ik
  chain::Branch branch;
  double start[chain::kMaxJoints];
};

/// Everything the samples of a study share. Trivially copyable: a GPU gets it by plain copy.
struct GraspModel {
  int contacts;
  FingerModel finger[kLimitContacts];
  SurfacePoint surface[kLimitContacts];
  double angle_sign[kLimitContacts];
  Vec3<double> push[kLimitContacts];     ///< commanded direction of the squeeze: the nominal normal, P axes
  Vec3<double> balance[kLimitContacts];  ///< commanded force that balances the nominal weight [N], P axes
  Pose<double> object;                   ///< nominal pose in P
  Vec3<double> gyration2;                ///< principal moments of inertia per mass, object axes [m^2]
  double length;                         ///< length that makes torques comparable to forces in the wrench radius [m]
  Vec3<double> gravity;
  Vec<double, 6> wrench;                 ///< constant external wrench (force; torque about the centre of mass)
  Vec<double, 6> probe;                  ///< wrench whose multiple the load factor is
  Vec3<double> v, omega;
  bool moving;
  bool six_joints;                       ///< every finger has exactly six joints
  std::uint64_t seed;
  int draws;
  Draw draw[kSlots];
  double constant[kSlots];               ///< values of the inputs that are not drawn
};

/// Inputs of one sample (lane-wise).
template <class S>
struct Inputs {
  S x[kSlots];
};

/// Draws the inputs of sample `index`. Draw k uses half of Philox block k / 2; `quantile_bin` (one per draw, stride
/// batch::kTile) takes the uniform number itself; its bin is what the influence of the input is counted by.
template <class S>
GARRA_HD_CALL Inputs<S> draw_inputs(const GraspModel& m, const SampleIndex<S>& index, double* quantile_bin) {
  Inputs<S> in;
  for (int k = 0; k < kSlots; ++k) in.x[k] = S(m.constant[k]);
  for (int k = 0; k < m.draws; k += 2) {
    S u[2];
    uniform_pair<S>(m.seed, index, static_cast<std::uint32_t>(k / 2), u[0], u[1]);
    for (int h = 0; h < 2 && k + h < m.draws; ++h) {
      const Draw& d = m.draw[k + h];
      in.x[d.slot] = study::quantile(d.distribution, u[h]);
      if (quantile_bin != nullptr) batch::store<S>(quantile_bin + (k + h) * batch::kTile, 0, u[h]);
    }
  }
  return in;
}

/// Rotation by a vector of Rodrigues parameters, R(v) for the turn 2 atan(|v| / 2) about v: exact rotation, equal to
/// the rotation vector to second order.
template <class S>
GARRA_HD Mat3<S> small_turn(const Vec3<S>& v) {
  const Vec3<S> e = S(0.5) * v;
  const S s = S(2) / (S(1) + dot(e, e));
  Mat3<S> R = Mat3<S>::identity();
  const S hat[3][3] = {{S(0), -e[2], e[1]}, {e[2], S(0), -e[0]}, {-e[1], e[0], S(0)}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      S square = S(0);
      for (int k = 0; k < 3; ++k) square = fma(hat[i][k], hat[k][j], square);
      R(i, j) = fma(s, hat[i][j] + square, R(i, j));
    }
  return R;
}

/// Vector of random direction: size, cosine of the polar angle, azimuth.
template <class S>
GARRA_HD Vec3<S> ball_vector(const S& size, const S& cosine, const S& azimuth) {
  const S sine = sqrt(max(fma(-cosine, cosine, S(1)), S(0)));
  const auto a = sincos(azimuth);
  return vec3<S>(size * (sine * a.cos), size * (sine * a.sin), size * cosine);
}

template <class S>
GARRA_HD Pose<S> object_pose(const GraspModel& m, const Inputs<S>& in) {
  const Vec3<S> shift = vec3<S>(in.x[kShiftX], in.x[kShiftY], in.x[kShiftZ]);
  const Vec3<S> turn = vec3<S>(in.x[kTurnX], in.x[kTurnY], in.x[kTurnZ]);
  return {small_turn(turn) * cast<S>(m.object.R), cast<S>(m.object.p) + shift};
}

template <class S>
GARRA_HD Body<S> object_body(const GraspModel& m, const Inputs<S>& in, const Pose<S>& pose) {
  Body<S> body;
  body.mass = in.x[kMass];
  const S mass_size = body.mass * (in.x[kScale] * in.x[kScale]);
  Mat3<S> I = Mat3<S>::zero(), inverse = Mat3<S>::zero();
  for (int i = 0; i < 3; ++i) {
    I(i, i) = mass_size * S(m.gyration2[i]);
    inverse(i, i) = S(1) / I(i, i);
  }
  body.inertia = rotate_symmetric(pose.R, I);
  body.inverse_inertia = rotate_symmetric(pose.R, inverse);
  body.p_cm = pose.p;
  body.v = cast<S>(m.v);
  body.omega = cast<S>(m.omega);
  return body;
}

template <class S>
GARRA_HD ContactPlace<S> contact_place(const GraspModel& m, const Inputs<S>& in, const Pose<S>& object, int j) {
  const S* x = in.x + contact_slot(j, 0);
  ContactDeviation<S> d;
  d.slide_t = x[kSlideT];
  // The common contact angle turns the point about the object's z axis: a slide of r tan(angle) along o on a sphere.
  const double curvature = m.surface[j].curvature_o;
  const auto turn = sincos(in.x[kAngle] * S(m.angle_sign[j]));
  d.slide_o = x[kSlideO] + (curvature > 0 ? in.x[kScale] * S(1 / curvature) * (turn.sin / turn.cos) : S(0));
  d.tilt = x[kTilt];
  d.tilt_direction = x[kTiltDirection];
  d.scale = in.x[kScale];
  return object * place_on_surface(m.surface[j], d);
}

/// Pose of the fingertip: at the contact, axes (x, y, z) = (t, o, n), in the finger's base frame.
template <class S>
GARRA_HD Pose<S> tip_pose(const FingerModel& f, const ContactPlace<S>& c) {
  Mat3<S> R;
  for (int i = 0; i < 3; ++i) {
    R(i, 0) = c.E(i, 1);
    R(i, 1) = c.E(i, 2);
    R(i, 2) = c.E(i, 0);
  }
  return inverse(cast_pose<S>(f.base)) * Pose<S>{R, c.p};
}

/// Commanded contact force in P axes: squeeze along the modelled normal, plus the balance of the nominal weight.
template <class S>
GARRA_HD Vec3<S> commanded_force(const GraspModel& m, const Inputs<S>& in, int j) {
  const S push = in.x[kSqueeze] + in.x[contact_slot(j, kSqueezeError)];
  return axpy(push, cast<S>(m.push[j]), cast<S>(m.balance[j]));
}

/// Joint rates that carry the contact along with the object: least squares, J^T (J J^T)^-1 v.
template <class S, int J>
GARRA_HD_CALL Vec<S, J> following_rates(const FingerModel& f, const Vec<S, J>& q, const Vec3<S>& p, const Vec3<S>& v) {
  const auto kin = chain::forward_kinematics<S, J>(f.chain, q);
  const auto jac = chain::geometric_jacobian(f.chain, kin, p);
  Mat3<S> g = Mat3<S>::zero();
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < chain::joint_count<J>(f.chain); ++i) g(r, c) = fma(jac(r, i), jac(c, i), g(r, c));
  const Vec3<S> y = solve(factor_ldlt(g), v);
  Vec<S, J> qd = Vec<S, J>::zero();
  for (int i = 0; i < chain::joint_count<J>(f.chain); ++i)
    qd[i] = fma(jac(0, i), y[0], fma(jac(1, i), y[1], jac(2, i) * y[2]));
  return qd;
}

/// Inverse kinematics and dynamics of one finger. `reached` becomes 0 where it cannot touch its contact.
template <class S, int J>
GARRA_HD_CALL ContactTerms<S> sample_finger(const GraspModel& m, const Inputs<S>& in, int j, const Body<S>& body,
                                       const ContactPlace<S>& place, S& reached) {
  const FingerModel& f = m.finger[j];
  chain::IkSolution<S, J> ik;
  if constexpr (J == 6) {
    ik = f.closed_form ? chain::puma_ik(f.chain, tip_pose(f, place), f.branch)
                       : chain::numeric_ik<S, 6>(f.chain, tip_pose(f, place).p, f.start);
  } else {
    ik = chain::numeric_ik<S, J>(f.chain, tip_pose(f, place).p, f.start);
  }
  reached = reached * ik.reached;
  FingerState<S, J> state{ik.q, Vec<S, J>::zero(), Vec<S, J>::zero()};
  if (m.moving) {
    const Vec3<S> v = body.v + cross(body.omega, place.p - body.p_cm);
    const Pose<S> to_base = inverse(cast_pose<S>(f.base));
    state.qd = following_rates<S, J>(f, ik.q, to_base.R * place.p + to_base.p, to_base.R * v);
  }
  const TorqueCommand<S, J> command{false, Vec<S, J>::zero(), in.x[kCompensation], commanded_force(m, in, j)};
  const auto terms = finger_terms<S, J>(f.chain, f.base, place, state, command, m.gravity, m.moving);
  const double curvature = m.surface[j].curvature_t > m.surface[j].curvature_o ? m.surface[j].curvature_t
                                                                               : m.surface[j].curvature_o;
  return {place, terms.A, terms.drift, terms.bias, terms.velocity, curvature};
}

/// Metrics of a sample, from its stick force. Members are S.
template <class S, int N>
struct Metrics {
  S reached;            ///< 1 where every finger reaches its contact
  S margin;             ///< smallest friction margin
  S critical;           ///< critical friction
  S load_factor;        ///< multiples of the probe wrench that may be added
  S wrench_radius;      ///< every wrench (F, T / length) shorter than this [N] is held
  S minimum_squeeze;    ///< smallest commanded squeeze that holds [N]; NaN where it does not hold now
  S first;              ///< contact with the smallest margin
  Vec<S, N> tangent_t;  ///< c_t / (mu c_n) of the stick force, per contact
  Vec<S, N> tangent_o;
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
GARRA_HD_CALL Metrics<S, N> hold_metrics(const GraspModel& m, const System<S, N>& sys, const Vec<S, N>& mu,
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
  out.minimum_squeeze = select(out.margin >= S(0), max(squeeze - release, S(0)), nan);
  const auto definite = factored.bad_pivots == S(0);
  out.critical = select(definite, out.critical, nan);
  out.margin = select(definite, out.margin, nan);
  out.load_factor = select(definite, out.load_factor, nan);
  out.wrench_radius = select(definite, out.wrench_radius, nan);
  out.minimum_squeeze = select(definite, out.minimum_squeeze, nan);
  return out;
}

/// From inputs to the problem and the metrics. J = 6 where every finger has six joints, else kMaxJoints: the larger one
/// would give each GPU thread a stack of 24 KB.
template <class S, int N, int J>
GARRA_HD Built<S, N> build_sample(const GraspModel& m, const Inputs<S>& in) {
  const Pose<S> pose = object_pose(m, in);
  const Body<S> body = object_body(m, in, pose);
  ContactTerms<S> contacts[N];
  S reached = S(1);
  for (int j = 0; j < N; ++j) {
    const ContactPlace<S> place = contact_place(m, in, pose, j);
    contacts[j] = sample_finger<S, J>(m, in, j, body, place, reached);
  }
  const Vec3<S> force = ball_vector(in.x[kForceSize], in.x[kForceCosine], in.x[kForceAzimuth]);
  const Vec3<S> torque = ball_vector(in.x[kTorqueSize], in.x[kTorqueCosine], in.x[kTorqueAzimuth]);
  Vec<S, 6> wrench;
  for (int i = 0; i < 3; ++i) {
    wrench[i] = S(m.wrench[i]) + force[i];
    wrench[i + 3] = S(m.wrench[i + 3]) + torque[i];
  }
  const System<S, N> sys = assemble<S, N>(body, contacts, wrench, m.gravity, m.moving);
  Built<S, N> out;
  out.problem.A = sys.A;
  out.problem.b = sys.b;
  Vec<S, 3 * N> squeeze_drift;  // db / d squeeze = -A_man E^T n0
  for (int j = 0; j < N; ++j) {
    out.problem.mu[j] = in.x[contact_slot(j, kFriction)];
    const Vec3<S> d = contacts[j].A * transpose_times(contacts[j].place.E, cast<S>(m.push[j]));
    for (int i = 0; i < 3; ++i) squeeze_drift[3 * j + i] = -d[i];
  }
  out.metrics = hold_metrics<S, N>(m, sys, out.problem.mu, squeeze_drift, in.x[kSqueeze]);
  out.metrics.reached = reached;
  // An unreachable contact leaves no problem: a harmless one keeps the lane's arithmetic ordinary, and no metric.
  const auto ok = reached > S(0);
  const S nan = S(__builtin_nan(""));
  for (S* metric : {&out.metrics.margin, &out.metrics.critical, &out.metrics.load_factor, &out.metrics.wrench_radius,
                    &out.metrics.minimum_squeeze})
    *metric = select(ok, *metric, nan);
  out.problem.A = select(ok, out.problem.A, Mat<S, 3 * N, 3 * N>::identity());
  out.problem.b = select(ok, out.problem.b, Vec<S, 3 * N>::zero());
  return out;
}

/// Step 1 of a block: draw and build samples first + i.
template <int N, int J>
struct BuildBody {
  const GraspModel* model;
  std::int64_t first;
  double* problems;
  double* metrics;
  double* uniforms;  ///< [tile][draw][lane]

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto index = SampleIndex<S>::consecutive(static_cast<std::uint64_t>(first + i));
    double* u = uniforms + (i / batch::kTile) * model->draws * batch::kTile + i % batch::kTile;
    const Built<S, N> built = build_sample<S, N, J>(*model, draw_inputs<S>(*model, index, u));
    batch::store<S>(problems, i, built.problem);
    batch::store<S>(metrics, i, built.metrics);
  }
};

/// Step 3: certificate, contact states and outcome, of up to two candidates from different starts.
template <class S, int N>
struct Verdict {
  S outcome;       ///< grasp::Outcome
  S residual;
  S iterations;
  Vec<S, N> state; ///< grasp::ContactState
  Vec<S, 3 * N> c, a;
};

template <int N>
struct JudgeBody {
  double tol;
  const double* problems;
  const double* metrics;
  const double* candidates;
  const double* second;  ///< candidates from another start, or nullptr
  double* verdicts;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto problem = batch::load<S, solvers::FrictionProblem<S, N>>(problems, i);
    const S reached = batch::load<S, Metrics<S, N>>(metrics, i).reached;
    const auto found = batch::load<S, solvers::Candidate<S, N>>(candidates, i);
    const auto one = solvers::certify(problem, found, tol);
    auto v = judge<S>(problem, one);
    if (second != nullptr) {
      const auto other = batch::load<S, solvers::Candidate<S, N>>(second, i);
      const auto two = solvers::certify(problem, other, tol);
      S apart = S(0);
      for (int k = 0; k < 3 * N; ++k) apart = max(apart, abs(one.a[k] - two.a[k]));
      const auto different = apart > S(1e-5) * solvers::friction_scale(problem).size_b;  // false where one is NaN
      v = choose(v.outcome == S(int(Outcome::kUnsolved)), judge<S>(problem, two), v);  // either certificate will do
      v.outcome = select(different, S(int(Outcome::kSeveral)), v.outcome);
    }
    v = choose(reached > S(0), v, unreachable<S>());
    batch::store<S>(verdicts, i, v);
  }

  template <class S>
  static GARRA_HD Verdict<S, N> choose(const MaskOf<S>& first, const Verdict<S, N>& a, const Verdict<S, N>& b) {
    Verdict<S, N> v;
    v.outcome = select(first, a.outcome, b.outcome);
    v.residual = select(first, a.residual, b.residual);
    v.iterations = select(first, a.iterations, b.iterations);
    v.state = select(first, a.state, b.state);
    v.c = select(first, a.c, b.c);
    v.a = select(first, a.a, b.a);
    return v;
  }

  /// No problem, so no numbers.
  template <class S>
  static GARRA_HD Verdict<S, N> unreachable() {
    const S nan = S(__builtin_nan(""));
    Verdict<S, N> v;
    v.outcome = S(int(Outcome::kUnreachable));
    v.residual = nan;
    v.iterations = S(0);
    for (int k = 0; k < N; ++k) v.state[k] = S(0);
    for (int k = 0; k < 3 * N; ++k) v.c[k] = v.a[k] = nan;
    return v;
  }

  /// Contact states: accelerations above 1e-6 of the problem's own size count as motion.
  template <class S>
  static GARRA_HD Verdict<S, N> judge(const solvers::FrictionProblem<S, N>& p,
                                      const solvers::FrictionSolution<S, N>& s) {
    Verdict<S, N> v;
    const S eps = S(1e-6) * solvers::friction_scale(p).size_b;
    auto any_slip = eps < S(0), any_break = eps < S(0);
    for (int j = 0; j < N; ++j) {
      const S at = sqrt(fma(s.a[3 * j + 1], s.a[3 * j + 1], s.a[3 * j + 2] * s.a[3 * j + 2]));
      const auto open = s.a[3 * j] > eps;
      const auto slip = !open && at > eps;
      v.state[j] = select(open, S(int(ContactState::kBreak)), select(slip, S(int(ContactState::kSlip)), S(0)));
      any_break = any_break || open;
      any_slip = any_slip || slip;
    }
    v.outcome = select(any_break, S(int(Outcome::kSeparating)), select(any_slip, S(int(Outcome::kSlipping)), S(0)));
    const auto solved = s.status == S(int(Status::kConverged));
    v.outcome = select(solved, v.outcome, S(int(Outcome::kUnsolved)));
    v.outcome = select(s.status == S(int(Status::kNoSolution)), S(int(Outcome::kNoSolution)), v.outcome);
    v.residual = s.residual;
    v.iterations = s.effort.outer;
    v.c = s.c;
    v.a = s.a;
    return v;
  }
};

}  // namespace garra::grasp
