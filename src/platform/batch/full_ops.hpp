// The full form as operations on rows (rows.hpp). For files that nvcc compiles, too.
#pragma once

#include "garra/platform_kinematics.hpp"
#include "garra/systems/platform/conditioning.hpp"
#include "garra/systems/platform/full_dynamics.hpp"
#include "garra/systems/platform/kinematics_ops.hpp"
#include "platform/batch/dynamics_ops.hpp"

namespace garra::platform {

struct FullForwardOp {
  double tolerance;              ///< largest error of a constraint that counts as met [m, 1]
  int most;                      ///< iterations
  double characteristic_length;  ///< that makes radians lengths in sigma_min [m]
  double near_singular;          ///< near singular: scaled sigma_min <= this

  template <class S>
  using In = ForwardOp::In<S>;
  /// Results as in ForwardOp; residual: largest error of a constraint.
  template <class S>
  using Out = ForwardOp::Out<S>;

  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const Place<S> guess{in.guess.r, normalized(in.guess.p)};
    const FullForward<S> f = full_forward(m, in.lengths, guess, tolerance, most);
    const Place<S>& at = f.place.platform;
    // Recomputed in six coordinates: mode and conditioning must not depend on the form.
    const Mat<S, 6, 6> J = length_jacobian(legs_at(m, at)), before = length_jacobian(legs_at(m, guess));
    Out<S> out;
    // p and -p are the same rotation: the result has a scalar part >= 0, as in the minimal form.
    out.found.place = {at.r, select(at.p[0] < S(0), S(-1), S(1)) * at.p};
    out.found.residual = f.residual;
    out.found.sigma_min = sigma_min(J, S(characteristic_length));
    // det J changes its sign only through a singular pose, so another sign than at the guess proves another assembly
    // mode; the same sign proves nothing.
    const auto same_sign = determinant(factor_lu(J)) * determinant(factor_lu(before)) > S(0);
    const auto valid = ForwardOp::is_usable(in);
    out.iterations = select(valid, f.iterations, S(0));
    out.status = select(valid, status(out.found, same_sign), to_number<S>(PoseStatus::kInvalidInput));
    blank_unless<S>(valid, out.found);
    return out;
  }

 private:
  template <class S>
  GARRA_HD S status(const ForwardOp::Found<S>& found, const MaskOf<S>& same_sign) const {
    const S converged = select(same_sign, to_number<S>(PoseStatus::kConverged), to_number<S>(PoseStatus::kModeSuspect));
    // False for a residual that is NaN.
    const auto met = found.residual <= S(tolerance) && all_finite<S>(found.place) == S(1);
    return select(met, select(found.sigma_min <= S(near_singular), to_number<S>(PoseStatus::kNearSingular), converged),
                  to_number<S>(PoseStatus::kIterationLimit));
  }
};

inline FullForwardOp full_forward_op(const ForwardOptions& o) {
  return {o.tolerance, o.max_iterations, o.characteristic_length, o.near_singular};
}

struct FullInverseDynamicsOp {
  double characteristic_length;  ///< that makes radians lengths in the singular values [m]

  template <class S>
  using In = InverseDynamicsOp::In<S>;
  template <class S>
  struct Answer {
    Vec<S, 6> force;
    Vec3<S> spherical[kLegs], universal[kLegs];
    Vec<S, 6> moment;
    Multipliers<S> lambda;
    S power_balance, condition;  ///< as in InverseDynamicsOp
  };
  template <class S>
  struct Out {
    Answer<S> answer;
    S status;
  };

  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    const Place<S> place = normalized_place(in.place);
    const FullInverse<S> f = full_inverse_dynamics(m, place, in.twist, in.acceleration, in.wrench);
    const Legs<S> legs = legs_at(m, place);
    Answer<S> out;
    out.lambda = f.lambda;
    out.power_balance = dot(in.wrench.force, in.twist.v) + dot(in.wrench.moment, in.twist.w) - f.power;
    for (int i = 0; i < kLegs; ++i) {
      // Rows and signs of the multipliers: the table in docs/theory/platform-dynamics.md, "Full form".
      out.force[i] = -f.lambda[72 + i];
      for (int k = 0; k < 3; ++k) {
        out.universal[i][k] = -f.lambda[12 * i + k];
        out.spherical[i][k] = -f.lambda[12 * i + 9 + k];
      }
      out.moment[i] = f.lambda[12 * i + 3];
      out.power_balance =
          fma(out.force[i], dot(legs.leg[i].z, joint_velocity(legs.leg[i], in.twist)), out.power_balance);
    }
    const SigmaRange<S> sigma = sigma_range(length_jacobian(legs), S(characteristic_length));
    const S status = checked_forces<S>(is_valid(in, in.place), sigma, out);
    return {out, status};
  }
};

struct FullForwardDynamicsOp {
  template <class S>
  using In = ForwardDynamicsOp::In<S>;
  template <class S>
  using Out = ForwardDynamicsOp::Out<S>;

  template <class S, class T>
  GARRA_HD Out<S> operator()(const Model<T>& m, const In<S>& in) const {
    FullMotion<S> q;
    q.at = full_place(m, normalized_place(in.place));
    q.rate = full_rate(m, q.at, in.twist);
    // Coordinates computed from a pose satisfy the constraints to rounding: no Baumgarte terms are
    // needed.
    const FullPlace<S> a =
        full_acceleration(m, q, in.force, in.wrench, Baumgarte{0}, static_cast<Multipliers<S>*>(nullptr));
    const Vec3<S> v = a.platform.r, w = turning(q.at.platform.p, a.platform.p);
    ForwardDynamicsOp::Answer<S> out{{{v[0], v[1], v[2], w[0], w[1], w[2]}}, full_energy(m, q)};
    const S status = checked_status<S>(is_valid(in, in.place), MaskOf<S>(S(1) < S(0)), out);
    return {out, status};
  }
};

}  // namespace garra::platform
