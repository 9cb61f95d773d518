// What one state of a chain costs each output, as bodies that every executor runs: one per output, or per group of
// outputs that share their work. All of them start from sines and cosines. Host and device.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "garra/batch/tiles.hpp"
#include "garra/chain_eval.hpp"
#include "garra/systems/chain/kernels.hpp"

namespace garra::chain {

/// What is read of a state.
enum class StateInput : int { kQ, kQd, kQdd, kTau, kWrench, kCount };
inline constexpr int kStateInputs = static_cast<int>(StateInput::kCount);

/// Where the host has its numbers: tiles of a batch, each with the fields of one state, vectors of J numbers, outputs
/// of output_size(output, J). Null: not there. The GPU has them in rows (kernels/chain/eval.cuh).
struct EvalTiles {
  static constexpr bool kKeepsAngles = true;  ///< AnglesKernel leaves them behind
  const double* in[kStateInputs];
  const double* parameters;   ///< [column]
  double* angles;             ///< Angles: cosines, sines, slides
  double* singular;           ///< [1] 1 where H is singular
  double* out[kOutputCount];  ///< one for each Output

  [[nodiscard]] GARRA_HD bool has(StateInput input) const { return in[static_cast<int>(input)] != nullptr; }
  [[nodiscard]] GARRA_HD bool wants(Output output) const { return at(output) != nullptr; }
  [[nodiscard]] GARRA_HD double* at(Output output) const { return out[static_cast<int>(output)]; }
  template <class S, class T>
  GARRA_HD T load(StateInput input, std::int64_t i) const {
    return batch::load<S, T>(in[static_cast<int>(input)], i);
  }
  template <class S, class T>
  GARRA_HD void store(Output output, std::int64_t i, const T& value) const {
    batch::store<S>(at(output), i, value);
  }
  /// Whether the mass matrix of state i has no inverse, after its accelerations: > 0.
  template <class S>
  GARRA_HD void store_singular(std::int64_t i, const S& bad) const {
    batch::store<S>(singular, i, bad);
  }
};

/// Whether the last of an output's several axes counts joints, so that padding lies between its numbers.
GARRA_HD constexpr bool ends_in_joints(Output output) {
  switch (output) {
    case Output::kJacobian:
    case Output::kComJacobians:
    case Output::kMassMatrix:
    case Output::kCoriolisMatrix:
      return true;
    default:
      return false;
  }
}
/// Where number f of an output of `padded` joints is found in that of the chain's own ones, which has `size` numbers;
/// -1: nowhere.
GARRA_HD constexpr int without_padding(Output output, int f, int padded, int joints, int size) {
  if (ends_in_joints(output)) {
    if (f % padded >= joints) return -1;
    f = f / padded * joints + f % padded;
  }
  return f < size ? f : -1;
}

/// The numbers of a chain, the same for every state. AnySize: also for chains of fewer than six joints, padded or, with
/// J = kAnyJoints, not.
template <int J_, Joints K_, bool AnySize = J_ == kAnyJoints>
struct SharedModel {
  static constexpr int J = J_;
  static constexpr Joints K = K_;
  static constexpr bool kAnySize = AnySize;  ///< padding may leave fewer than six joints
  static constexpr bool kShared = true;      ///< all states have the same numbers
  Model<double, J> model;                    ///< kernel form, the same for all states
  Pose<double> link[kCapacity<J>];           ///< described frame i in kernel frame i
  int joints;                                ///< J, or fewer where the rest is padding

  /// The model of state i: the shared one.
  template <class S, class At>
  GARRA_HD const Model<double, J>& at(const At&, std::int64_t) const {
    return model;
  }
  /// Described frame l in kernel frame l.
  template <class S, class At>
  GARRA_HD Pose<S> link_at(const At&, std::int64_t, int l) const {
    return cast_pose<S>(link[l]);
  }
};

/// One column of numbers that differ from state to state.
struct Column {
  int joint;               ///< from 0
  Quantity quantity;       ///< of the joint or its link
  Change change;           ///< sum or factor
  Vec3<double> direction;  ///< in which the center of mass moves, kernel axes
  bool tool;               ///< the tool is fixed to this link
};

/// A number with its deviation: added or multiplied.
template <class S>
GARRA_HD S changed(const S& number, Change change, const S& value) {
  return change == Change::kAdd ? number + value : number * value;
}

/// All six second moments times `factor`.
template <class S>
GARRA_HD void scale_second(JointForm<S>& j, const S& factor) {
  j.xx *= factor;
  j.yy *= factor;
  j.zz *= factor;
  j.xy *= factor;
  j.xz *= factor;
  j.yz *= factor;
}

/// Mass, first and second moment, each times its factor.
template <class S>
struct BodyFactors {
  S mass, first, second;
};
/// Each moment by its own factor; second moments are about the frame's origin.
template <class S>
GARRA_HD void scale_body(JointForm<S>& j, const BodyFactors<S>& factor) {
  j.mass *= factor.mass;
  j.first = factor.first * j.first;
  scale_second(j, factor.second);
}

/// Mass, first and second moment times `factor`: another density.
template <class S>
GARRA_HD void scale_mass(JointForm<S>& j, const S& factor) {
  scale_body<S>(j, {factor, factor, factor});
}

/// Moves the center of mass by t: second moment += 2 (s.t) 1 - s t' - t s' + m (t.t 1 - t t'), s the first moment.
template <class S>
GARRA_HD void shift_body(JointForm<S>& j, const Vec3<S>& t) {
  const Vec3<S> s = axpy(S(0.5) * j.mass, t, j.first);  // halfway: the terms above are those of s + m t / 2 alone
  const S all = dot(s, t) + dot(s, t);
  j.xx += all - (s[0] * t[0] + s[0] * t[0]);
  j.yy += all - (s[1] * t[1] + s[1] * t[1]);
  j.zz += all - (s[2] * t[2] + s[2] * t[2]);
  j.xy -= s[0] * t[1] + s[1] * t[0];
  j.xz -= s[0] * t[2] + s[2] * t[0];
  j.yz -= s[1] * t[2] + s[2] * t[1];
  j.first = axpy(j.mass, t, j.first);
}

template <class S>
/// Turns the joint's axis by a further angle [rad] about x: alpha + angle by the theorems of addition, no arctangent.
GARRA_HD void tilt_further(JointForm<S>& j, const S& angle) {
  const auto turn = sincos(angle);
  const S c = j.cos_alpha, s = j.sin_alpha;
  j.cos_alpha = fma(c, turn.cos, -(s * turn.sin));
  j.sin_alpha = fma(s, turn.cos, c * turn.sin);
}

/// The joint's lengths and its link as a similar body of the same density, s times as large.
template <class S>
GARRA_HD void scale_size(JointForm<S>& j, const S& s) {
  // With lengths s a mass grows as s^3, its first moment as s^4, its second as s^5.
  const S s2 = s * s, s3 = s * s2;
  j.a *= s;
  j.b *= s;
  j.d *= s;
  scale_body<S>(j, {s3, s * s3, s2 * s3});
}

/// One column's number applied to its joint.
template <class S>
GARRA_HD void apply(const Column& column, const S& value, JointForm<S>& j) {
  switch (column.quantity) {
    case Quantity::kA:
      j.a = changed(j.a, column.change, value);
      break;
    case Quantity::kD:
      j.d = changed(j.d, column.change, value);
      break;
    case Quantity::kTheta:
      // Nothing but a sum: an angle has no scale.
      j.theta = j.theta + value;
      break;
    case Quantity::kAlpha:
      tilt_further(j, value);
      break;
    case Quantity::kMass:
      // A sum is a factor of the mass that is there, so that moments grow with it; make_columns() refuses massless
      // links.
      scale_mass(j, column.change == Change::kAdd ? S(1) + value / j.mass : value);
      break;
    case Quantity::kArmature:
      j.armature = changed(j.armature, column.change, value);
      break;
    case Quantity::kDamping:
      j.damping = changed(j.damping, column.change, value);
      break;
    case Quantity::kSize:
      scale_size(j, value);
      break;
    // com_x, com_y, com_z.
    default:
      shift_body(j, value * cast<S>(column.direction));
      break;
  }
}

/// The numbers of a chain where each state has its own.
template <int J_>
struct VaryingModel {
  static constexpr int J = J_;
  static constexpr Joints K = Joints::kMixed;
  static constexpr bool kAnySize = true;
  static constexpr bool kShared = false;
  Model<double, J> model;  ///< nominal, before columns are applied
  Pose<double> link[kCapacity<J>];
  int joints;
  const Column* columns;  ///< where the body runs
  int count;              ///< of columns

  /// The model of state i: nominal numbers, then its columns in their order.
  template <class S, class At>
  GARRA_HD Model<S, J> at(const At& place, std::int64_t i) const {
    Model<S, J> m;
    for (int k = 0; k < extent<J>(); ++k) {
      // Field by field, since JointForm is doubles throughout: what is added to it is taken along.
      const double* from = reinterpret_cast<const double*>(&model.joint[k]);
      S* to = reinterpret_cast<S*>(&m.joint[k]);
      for (int f = 0; f < batch::kFields<double, JointForm<double>>; ++f) to[f] = S(from[f]);
      m.prismatic[k] = model.prismatic[k];
    }
    m.base = cast_pose<S>(model.base);
    m.tool = cast_pose<S>(model.tool);
    m.gravity = cast<S>(model.gravity);
    for (int c = 0; c < count; ++c) {
      const S value = number<S>(place.parameters, i, c);
      apply(columns[c], value, m.joint[columns[c].joint]);
      // The tool is a place on the last link, which grows with it.
      if (columns[c].quantity == Quantity::kSize && columns[c].tool) m.tool.p = value * m.tool.p;
    }
    return m;
  }

  /// Described frame l in kernel frame l.
  template <class S, class At>
  GARRA_HD Pose<S> link_at(const At& place, std::int64_t i, int l) const {
    Pose<S> x = cast_pose<S>(link[l]);
    for (int c = 0; c < count; ++c)
      if (columns[c].quantity == Quantity::kSize && columns[c].joint == l)
        x.p = number<S>(place.parameters, i, c) * x.p;
    return x;
  }

  /// Column c of state i.
  template <class S>
  GARRA_HD S number(const double* parameters, std::int64_t i, int c) const {
    const double* values = parameters + (i / batch::kTile * count + c) * batch::kTile + i % batch::kTile;
    if constexpr (kWidth<S> == 1)
      return *values;
    else
      return S::load(values);
  }
};

/// The robot's numbers, padded with joints that have no mass, a unit rotor and their frame where the one before ends:
/// nothing that is asked for depends on them.
template <class Source>
Source make_source(const Robot& robot) {
  constexpr int J = Source::J;
  // cos_alpha = 1: parallel to the joint before; armature = 1: its pivot is 1.
  JointForm<double> inert{};
  inert.cos_alpha = inert.armature = 1;
  Source s{};
  s.joints = robot.joints;
  for (int i = 0; i < (J < 0 ? robot.joints : J); ++i) {
    const bool real = i < robot.joints;
    const auto at = static_cast<std::size_t>(i);
    s.model.joint[i] = real ? robot.form[at] : inert;
    s.model.prismatic[i] = real && robot.joint[at].prismatic;
    s.link[i] = real ? robot.link[at].offset : Pose<double>::identity();
  }
  s.model.base = robot.base;
  s.model.tool = robot.tool;
  s.model.gravity = robot.gravity;
  return s;
}

/// The same with the tool frame's origin at the tool point.
template <class Source>
Source moved_to(const Vec3<double>& point, Source source) {
  // Once for all states: the bodies for velocity and manipulability then need no point.
  source.model.tool.p = source.model.tool.R * point + source.model.tool.p;
  return source;
}

/// What the bodies share: a chain, and where the numbers of its states are.
template <class Source_, class At>
struct EvalKernel {
  using Source = Source_;
  static constexpr int J = Source::J;
  static constexpr Joints K = Source::K;
  /// A kernel takes the chain as a parameter; on the host it stays where it is, for every body copies this struct.
  std::conditional_t<At::kKeepsAngles, const Source&, Source> source;
  At place;
  EvalOptions options;

  /// The model of state i.
  template <class S>
  GARRA_HD decltype(auto) model_at(std::int64_t i) const {
    return source.template at<S>(place, i);
  }
  /// Sines and cosines of state i: what AnglesKernel has left, or new ones.
  template <class S, class M>
  GARRA_HD Angles<S, J> angles_at(const M& m, std::int64_t i) const {
    if constexpr (At::kKeepsAngles)
      return batch::load<S, Angles<S, J>>(place.angles, i);
    else
      return angles<K>(m, load<S>(StateInput::kQ, i));
  }
  /// State i of an input of J numbers.
  template <class S>
  GARRA_HD Vec<S, J> load(StateInput input, std::int64_t i) const {
    return place.template load<S, Vec<S, J>>(input, i);
  }
  /// State i of an output that is wanted.
  template <class S, class T>
  GARRA_HD void store(Output output, std::int64_t i, const T& value) const {
    place.template store<S>(output, i, value);
  }
  [[nodiscard]] GARRA_HD bool wants(Output output) const { return place.wants(output); }
};

/// Sines and cosines of every state, which all other bodies read.
template <class Source, class At>
struct AnglesKernel : EvalKernel<Source, At> {
  static constexpr int J = Source::J;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    auto x = angles<Source::K>(this->template model_at<S>(i), this->template load<S>(StateInput::kQ, i));
    // Kernels of turning joints never read `slide`, but a tile stores it all the same.
    if constexpr (Source::K == Joints::kRevolute) for_each_index<J>([&](auto k) { x.slide[k] = S(0); });
    batch::store<S>(this->place.angles, i, x);
  }
};

/// [R p; 0 1], row-major.
template <class S>
GARRA_HD Mat<S, 4, 4> homogeneous(const Pose<S>& x) {
  Mat<S, 4, 4> out = Mat<S, 4, 4>::zero();
  for_each_index<3>([&](int r) {
    for_each_index<3>([&](int c) { out(r, c) = x.R(r, c); });
    out(r, 3) = x.p[r];
  });
  out(3, 3) = S(1);
  return out;
}

/// Where the tool point is in the world.
template <class S>
GARRA_HD Vec3<S> tool_point(const EvalOptions& options, const Pose<S>& tool) {
  return tool.R * cast<S>(options.point) + tool.p;
}

/// Poses and Jacobians: all of them come from the kernel frames.
template <class Source, class At>
struct FramesKernel : EvalKernel<Source, At> {
  static constexpr int J = Source::J;

  /// A T for each joint; sized at run time, numbers in the same order.
  template <class T>
  struct PerJoint {
    T of[J > 0 ? J : 1];
  };

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto& m = this->template model_at<S>(i);
    const Frames<S, J> k = frames<Source::K>(m, this->template angles_at<S>(m, i));
    if (this->wants(Output::kPose)) this->template store<S>(Output::kPose, i, homogeneous(k.tool));
    if (this->wants(Output::kLinkPoses)) store_links(i, k);
    if (this->wants(Output::kJacobian)) this->template store<S>(Output::kJacobian, i, tool_jacobian(m, k));
    if (this->wants(Output::kComJacobians)) store_centers(i, m, k);
  }

  /// Poses of the described link frames in the world.
  template <class S>
  GARRA_HD void store_links(std::int64_t i, const Frames<S, J>& k) const {
    std::conditional_t<(J > 0), PerJoint<Mat<S, 4, 4>>, Vec<S, 16 * J>> all;
    for_each_index<J>([&](auto l) {
      const auto pose = homogeneous(k.frame[l] * this->source.template link_at<S>(this->place, i, l));
      if constexpr (J > 0)
        all.of[l] = pose;
      else
        for_each_index<16>([&](int f) { all[16 * l + f] = pose[f]; });
    });
    this->template store<S>(Output::kLinkPoses, i, all);
  }
  /// Jacobians of the links' centers of mass, world axes, linear rows first.
  template <class S, class M>
  GARRA_HD void store_centers(std::int64_t i, const M& m, const Frames<S, J>& k) const {
    std::conditional_t<(J > 0), PerJoint<Mat<S, 6, J>>, Mat<S, 6 * J, J>> all;
    for (int l = 0; l < extent<J>(); ++l) {
      if constexpr (J > 0) {
        all.of[l] = jacobian<Source::K>(m, k, center_of_mass(m, k, l), l);
      } else {
        const Mat<S, 6, J> one = jacobian<Source::K>(m, k, center_of_mass(m, k, l), l);
        for_each_entry<6, J>([&](int f) { all[extent<6 * J>() * l + f] = one[f]; });
      }
    }
    this->template store<S>(Output::kComJacobians, i, all);
  }
  /// Jacobian of the tool point in the form and axes of the options.
  template <class S, class M>
  GARRA_HD Mat<S, 6, J> tool_jacobian(const M& m, const Frames<S, J>& k) const {
    const EvalOptions& options = this->options;
    // Screws are about the world's origin, whatever the tool point.
    if (options.form == JacobianForm::kScrews) return screw_order(jacobian<Source::K>(m, k, Vec3<S>::zero()));
    Mat<S, 6, J> out = jacobian<Source::K>(m, k, tool_point(options, k.tool));
    if (options.body_axes) out = in_axes(k.tool.R, out);
    return options.form == JacobianForm::kAngularFirst ? screw_order(out) : out;
  }
};

/// H(q), rotor inertias on the diagonal.
template <class Source, class At>
struct MassMatrixKernel : EvalKernel<Source, At> {
  static constexpr int J = Source::J;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto& m = this->template model_at<S>(i);
    this->template store<S>(Output::kMassMatrix, i, inertia_matrix<Source::K>(m, this->template angles_at<S>(m, i)));
  }
};

/// C(q, qd) by Christoffel symbols (docs/theory/chain.md (3)).
template <class Source, class At>
struct CoriolisKernel : EvalKernel<Source, At> {
  static constexpr int J = Source::J;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto& m = this->template model_at<S>(i);
    const Frames<S, J> k = frames<Source::K>(m, this->template angles_at<S>(m, i));
    const Vec<S, J> qd = this->template load<S>(StateInput::kQd, i);
    this->template store<S>(Output::kCoriolisMatrix, i, coriolis_matrix<Source::K>(m, k, qd));
  }
};

/// The single terms of the equation of motion.
template <class Source, class At>
struct TermsKernel : EvalKernel<Source, At> {
  static constexpr int J = Source::J;
  static constexpr Joints K = Source::K;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto& m = this->template model_at<S>(i);
    const Angles<S, J> x = this->template angles_at<S>(m, i);
    if (this->wants(Output::kGravity)) this->template store<S>(Output::kGravity, i, gravity_torque<K>(m, x));
    if (this->wants(Output::kPotentialEnergy))
      this->template store<S>(Output::kPotentialEnergy, i, potential_energy<K>(m, x));
    // States may come without speeds where no wanted output needs them.
    if (!this->place.has(StateInput::kQd)) return;
    const Vec<S, J> qd = this->template load<S>(StateInput::kQd, i);
    if (this->wants(Output::kBias)) this->template store<S>(Output::kBias, i, coriolis_torque<K>(m, x, qd));
    if (this->wants(Output::kDamping)) this->template store<S>(Output::kDamping, i, damping_torque(m, qd));
    if (this->wants(Output::kKineticEnergy))
      this->template store<S>(Output::kKineticEnergy, i, kinetic_energy<K>(m, x, qd));
  }
};

/// tau = H qdd + C qd + g + D qd.
template <class Source, class At>
struct InverseDynamicsKernel : EvalKernel<Source, At> {
  static constexpr int J = Source::J;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto& m = this->template model_at<S>(i);
    const Angles<S, J> x = this->template angles_at<S>(m, i);
    const Vec<S, J> qd = this->template load<S>(StateInput::kQd, i), qdd = this->template load<S>(StateInput::kQdd, i);
    this->template store<S>(Output::kInverseDynamics, i,
                            // The kernels leave friction to their caller (docs/theory/chain.md).
                            inverse_dynamics<Source::K>(m, x, qd, qdd) + damping_torque(m, qd));
  }
};

/// qdd where it exists, else NaN. Up to kMaxComposite joints a singular H shows as a bad pivot (core/factor.hpp),
/// beyond, where articulated bodies are faster, as a result that is not finite.
template <class Source, class At>
struct ForwardDynamicsKernel : EvalKernel<Source, At> {
  static constexpr int J = Source::J;
  static constexpr Joints K = Source::K;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto& m = this->template model_at<S>(i);
    const Angles<S, J> x = this->template angles_at<S>(m, i);
    const Vec<S, J> qd = this->template load<S>(StateInput::kQd, i);
    const Vec<S, J> tau = this->template load<S>(StateInput::kTau, i) - damping_torque(m, qd);
    S bad = S(0);
    Vec<S, J> qdd = solution(m, x, {qd, tau}, bad);
    // Catches what has no pivots to look at, too: articulated bodies.
    for_each_index<J>([&](auto k) { bad = select(is_finite(qdd[k]), bad, S(1)); });
    const S nan = S(std::numeric_limits<double>::quiet_NaN());
    // NaN instead of a huge number, so that nobody computes on with it.
    for_each_index<J>([&](auto k) { qdd[k] = select(bad > S(0), nan, qdd[k]); });
    this->template store<S>(Output::kForwardDynamics, i, qdd);
    this->place.store_singular(i, bad);
  }

  template <class S>
  struct Motion {
    Vec<S, J> qd, tau;
  };
  /// qdd of H qdd = tau - C qd - g, friction being in tau already; `bad` > 0 where a pivot vanishes.
  template <class S, class M>
  GARRA_HD Vec<S, J> solution(const M& m, const Angles<S, J>& x, const Motion<S>& motion, S& bad) const {
    if constexpr (J < 0) {
      if (extent<J>() > kMaxComposite) return forward_dynamics_articulated<K>(m, x, motion.qd, motion.tau);
    }
    if constexpr (J > kMaxComposite) {
      return forward_dynamics_articulated<K>(m, x, motion.qd, motion.tau);
    } else {
      const Vec<S, J> b = motion.tau - bias_torque<K>(m, x, motion.qd);
      const auto factors = factor_ldlt(inertia_matrix<K>(m, x), this->source.joints);
      bad = factors.bad_pivots;
      return solve(factors, b);
    }
  }
};

/// What needs no stored Jacobian.
template <class Source, class At>
struct ToolKernel : EvalKernel<Source, At> {
  static constexpr int J = Source::J;
  static constexpr Joints K = Source::K;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto& m = this->template model_at<S>(i);
    const Angles<S, J> x = this->template angles_at<S>(m, i);
    if (this->wants(Output::kToolVelocity)) {
      const ToolMotion<S> t = tool_motion<K>(m, x, this->template load<S>(StateInput::kQd, i));
      Mat<S, 6, 1> velocity = {{t.v[0], t.v[1], t.v[2], t.w[0], t.w[1], t.w[2]}};
      if (this->options.body_axes) velocity = in_axes(frames<K>(m, x).tool.R, velocity);
      this->template store<S>(Output::kToolVelocity, i, velocity);
    }
    if (this->wants(Output::kJointForce)) {
      const auto f = this->place.template load<S, Vec<S, 6>>(StateInput::kWrench, i);
      this->template store<S>(Output::kJointForce, i,
                              tool_torque<K>(m, x, vec3<S>(f[0], f[1], f[2]), vec3<S>(f[3], f[4], f[5])));
    }
  }
};

/// use(jacobian) with the columns of the real joints where there are fewer than six: they span the volume, not the
/// rows.
template <int N, class S, int J, class Use>
GARRA_HD void with_real_columns(const Mat<S, 6, J>& jac, int joints, const Use& use) {
  if constexpr (N == 6 || N > J) {
    use(jac);
  } else if (joints == N) {
    Mat<S, 6, N> few;
    for_each_index<6>([&](auto r) { for_each_index<N>([&](auto c) { few(r, c) = jac(r, c); }); });
    use(few);
  } else {
    with_real_columns<N + 1>(jac, joints, use);
  }
}

/// The first N joints of a padded chain.
template <int N, class T, int J>
GARRA_HD Model<T, N> first_joints(const Model<T, J>& m) {
  Model<T, N> out;
  for (int i = 0; i < N; ++i) {
    out.joint[i] = m.joint[i];
    out.prismatic[i] = m.prismatic[i];
  }
  out.base = m.base;
  out.tool = m.tool;
  out.gravity = m.gravity;
  return out;
}
template <int N, class S, int J>
GARRA_HD Angles<S, N> first_joints(const Angles<S, J>& x) {
  Angles<S, N> out;
  for (int i = 0; i < N; ++i) {
    out.cos[i] = x.cos[i];
    out.sin[i] = x.sin[i];
    out.slide[i] = x.slide[i];
  }
  return out;
}

/// How far the Jacobian is from losing rank. Columns of padding joints are zero.
template <class Source, class At>
struct ManipulabilityKernel : EvalKernel<Source, At> {
  static constexpr int J = Source::J;
  static constexpr Joints K = Source::K;
  // The determinant of six joints needs no Jacobian (docs/theory/chain.md, "Manipulability").
  static constexpr bool kWithoutJacobian = J == 6 && !Source::kAnySize;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto& m = this->template model_at<S>(i);
    const Angles<S, J> x = this->template angles_at<S>(m, i);
    bool volume = this->wants(Output::kManipulability);
    if constexpr (kWithoutJacobian) {
      if (volume) this->template store<S>(Output::kManipulability, i, manipulability<K>(m, x));
      volume = false;
    } else if constexpr (Source::kAnySize && Source::kShared && J <= kMaxComposite) {
      // A chain of six joints that is padded or sized at run time: the determinant here, too, for the same bits.
      if (volume && this->source.joints == 6) {
        this->template store<S>(Output::kManipulability, i, manipulability<K>(first_joints<6>(m), first_joints<6>(x)));
        volume = false;
      }
    }
    const bool smallest = this->wants(Output::kSmallestSingularValue);
    if (!smallest && !volume) return;
    const Frames<S, J> k = frames<K>(m, x);
    // Of the last real joint: columns of padding are zero.
    const Mat<S, 6, J> jac = jacobian<K>(m, k, k.tool.p, this->source.joints - 1);
    with_robot_columns(jac, [&](const auto& real) {
      if (volume) this->template store<S>(Output::kManipulability, i, manipulability(real));
      if (smallest) this->template store<S>(Output::kSmallestSingularValue, i, smallest_singular_value(real));
    });
  }

 private:
  /// use() with the real columns, cut out only where there may be padding.
  template <class Jacobian, class Use>
  GARRA_HD void with_robot_columns(const Jacobian& jac, const Use& use) const {
    if constexpr (Source::kAnySize && J > 0)
      with_real_columns<1>(jac, this->source.joints, use);
    else
      use(jac);
  }
};

/// run(body) for every body that a wanted output needs. `at_point` is the source with its tool frame at the tool point.
template <class Source, class At, class Run>
void for_each_body(const EvalKernel<Source, At>& at_tool, const EvalKernel<Source, At>& at_point, const Run& run) {
  const auto wants = [&](std::initializer_list<Output> outputs) {
    for (const Output output : outputs)
      if (at_tool.wants(output)) return true;
    return false;
  };
  using enum Output;
  // First, since every other body reads what it leaves.
  if constexpr (At::kKeepsAngles) run(AnglesKernel<Source, At>{at_tool});
  if (wants({kPose, kLinkPoses, kJacobian, kComJacobians})) run(FramesKernel<Source, At>{at_tool});
  if (wants({kMassMatrix})) run(MassMatrixKernel<Source, At>{at_tool});
  if (wants({kCoriolisMatrix})) run(CoriolisKernel<Source, At>{at_tool});
  if (wants({kBias, kGravity, kDamping, kKineticEnergy, kPotentialEnergy})) run(TermsKernel<Source, At>{at_tool});
  if (wants({kInverseDynamics})) run(InverseDynamicsKernel<Source, At>{at_tool});
  if (wants({kForwardDynamics})) run(ForwardDynamicsKernel<Source, At>{at_tool});
  if (wants({kToolVelocity, kJointForce})) run(ToolKernel<Source, At>{at_point});
  if (wants({kManipulability, kSmallestSingularValue})) run(ManipulabilityKernel<Source, At>{at_point});
}

}  // namespace garra::chain
