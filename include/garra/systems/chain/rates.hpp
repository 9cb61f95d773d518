// Joint rates of a tool twist (inverse velocity analysis) and Jacobians with rates of Euler angles
// (docs/theory/chain.md, "Joint rates").
#pragma once

#include "garra/core/status.hpp"
#include "garra/systems/chain/kernels_singular.hpp"

namespace garra::chain {

/// Options of joint_rates(). Singular values are those of the scaled Jacobian: linear rows divided by `length`, the
/// column of joint i by sqrt(weight_i).
struct RateOptions {
  double length = 1;      ///< an error of `length` m/s counts as much as one of 1 rad/s [m]
  double near = 1e-3;     ///< damped: smallest singular value < near * largest; 0: never
  double damping = 1e-3;  ///< lambda at a loss of rank, over the largest singular value
  double weight[kMaxJoints] = {1, 1, 1, 1, 1, 1, 1, 1,
                               1, 1, 1, 1, 1, 1, 1, 1};  ///< of the redundant solutions sum weight_i qd_i^2 is least
};

/// A singular value below this share of the largest one counts as 0: its direction gets no rate.
inline constexpr double kRankTolerance = 1e-13;

namespace kernel {

/// make_orthogonal() of six vectors with loops instead of written out pairs: a fifth of its code.
template <int L, class S, int W>
GARRA_HD_CALL void make_six_orthogonal(VectorSet<S, 6, W>& a) {
  S noise = S(0);
  for (int k = 0; k < 6; ++k) noise += head_dot<L>(a.v[k], a.v[k]);
  constexpr RealOf<S> kEps = std::numeric_limits<RealOf<S>>::epsilon();
  noise = S(kEps * kEps) * noise;
  MaskOf<S> active = noise == noise;
  for (int sweep = 0; sweep < kSingularSweeps && any(active); ++sweep) {
    // Finished lanes do not change.
    const VectorSet<S, 6, W> before = a;
    MaskOf<S> turned = !active && active;
    for (int p = 0; p < 5; ++p)
      for (int q = p + 1; q < 6; ++q) {
        const auto again = orthogonalize<L>(a.v[p], a.v[q], noise);
        turned = turned || again;
      }
    for (int k = 0; k < 6; ++k) a.v[k] = select(active, a.v[k], before.v[k]);
    active = active && turned;
  }
}

}  // namespace kernel

/// Rates that minimize |T (J qd - twist)|^2 + lambda^2 qd' W qd: one-sided Jacobi rotations of the scaled Jacobian's
/// rows, each with its number of the twist behind it. Row k becomes sigma_k v_k', the number behind it u_k . twist.
template <int J>
struct JointRatesOp {
  RateOptions options;
  int linear;  ///< first of the three linear rows
  int joints;  ///< J, or fewer: the columns of the others are zero

  template <class S>
  struct In {
    Mat<S, 6, J> jac;
    Vec<S, 6> twist;
  };
  template <class S>
  struct Out {
    Vec<S, J> qd;
    Vec<S, 6> residual;  ///< J qd - twist
    S damping;           ///< lambda
    S status;            ///< kConverged, or kInvalidInput and NaN where a number is not finite
  };
  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& in) const;
};

template <int J>
template <class S>
GARRA_HD typename JointRatesOp<J>::template Out<S> JointRatesOp<J>::operator()(const In<S>& in) const {
  const Mat<S, 6, J>& jac = in.jac;
  const Vec<S, 6>& twist = in.twist;
  kernel::VectorSet<S, 6, J + 1> a;
  Vec<S, J> scale;
  for (int i = 0; i < J; ++i) scale[i] = S(1 / sqrt(options.weight[i]));
  for (int r = 0; r < 6; ++r) {
    const S row = S(r >= linear && r < linear + 3 ? 1 / options.length : 1);
    for (int i = 0; i < J; ++i) a.v[r][i] = row * scale[i] * jac(r, i);
    a.v[r][J] = row * twist[r];
  }
  kernel::make_six_orthogonal<J>(a);
  S squares[6], largest = S(0);
  for (int k = 0; k < 6; ++k) {
    squares[k] = kernel::head_dot<J>(a.v[k], a.v[k]);
    largest = max(largest, squares[k]);
  }
  // Of the min(6, joints) values that a Jacobian of full rank has: the one with that many at or before it.
  S smallest = largest;
  for (int k = 0; k < 6; ++k) {
    S place = S(0);
    for (int other = 0; other < 6; ++other) {
      if (other == k) continue;
      const auto before = other < k ? squares[other] >= squares[k] : squares[other] > squares[k];
      place += select(before, S(1), S(0));
    }
    smallest = select(place == S(joints < 6 ? joints - 1 : 5), squares[k], smallest);
  }
  const S edge = S(options.near * options.near) * largest;
  const S share = select(smallest < edge, S(1) - smallest / select(edge > S(0), edge, S(1)), S(0));
  const S lambda2 = share * (S(options.damping * options.damping) * largest);
  Vec<S, J> sum = Vec<S, J>::zero();
  for (int k = 0; k < 6; ++k) {
    const auto counts = squares[k] > S(kRankTolerance * kRankTolerance) * largest;
    const S part = select(counts, a.v[k][J] / select(counts, squares[k] + lambda2, S(1)), S(0));
    for (int i = 0; i < J; ++i) sum[i] = fma(part, a.v[k][i], sum[i]);
  }
  S doubt = S(0);  // NaN where a number is not finite
  for (int k = 0; k < 6 * J; ++k) doubt += jac.m[k] - jac.m[k];
  for (int r = 0; r < 6; ++r) doubt += twist[r] - twist[r];
  Out<S> out;
  for (int i = 0; i < J; ++i) out.qd[i] = scale[i] * sum[i] + doubt;
  for (int r = 0; r < 6; ++r) {
    S along = doubt - twist[r];
    for (int i = 0; i < J; ++i) along = fma(jac(r, i), out.qd[i], along);
    out.residual[r] = along;
  }
  out.damping = sqrt(lambda2) + doubt;
  out.status = select(doubt == S(0), S(0.0 + static_cast<int>(Status::kConverged)),
                      S(0.0 + static_cast<int>(Status::kInvalidInput)));
  return out;
}

/// Sequences of Euler angles about moving axes: R = Rz(a) Ry(b) Rx(c) (yaw, pitch, roll) or Rz(a) Ry(b) Rz(c).
enum class EulerAngles { kZyx, kZyz };

/// Distance of the middle axis from its singular place below which the angles have no rates.
inline constexpr double kGimbalLock = 1e-12;

/// The analytic Jacobian from the geometric one (world axes, linear rows first) and the tool's pose: rows 3-5 become
/// the rates of (a, b, c). The third axis is a column of R, which the first two turns have placed: with (c, s) its
/// direction in the x-y plane, f = (c wx + s wy) / r, the rates are (wz - z f, c wy - s wx, f). NaN in rows 3-5 where r
/// = 0.
template <int J>
struct EulerRatesOp {
  EulerAngles sequence;

  template <class S>
  struct In {
    Mat<S, 6, J> jac;
    Mat<S, 4, 4> tool;
  };
  template <class S>
  struct Out {
    Mat<S, 6, J> jac;
  };
  template <class S>
  GARRA_HD Out<S> operator()(const In<S>& in) const;
};

template <int J>
template <class S>
GARRA_HD typename EulerRatesOp<J>::template Out<S> EulerRatesOp<J>::operator()(const In<S>& in) const {
  Mat<S, 6, J> jac = in.jac;
  const int k = sequence == EulerAngles::kZyx ? 0 : 2;
  const Vec3<S> third = vec3<S>(in.tool(0, k), in.tool(1, k), in.tool(2, k));
  const S radius = sqrt(fma(third[0], third[0], third[1] * third[1]));
  const S nan = S(std::numeric_limits<double>::quiet_NaN());
  const S inverse = select(radius > S(kGimbalLock), S(1) / radius, nan);
  const S c = third[0] * inverse, s = third[1] * inverse;
  for_each_index<J>([&](int i) {
    const S wx = jac(3, i), wy = jac(4, i), wz = jac(5, i);
    const S f = inverse * fma(c, wx, s * wy);
    jac(3, i) = fnma(third[2], f, wz);
    jac(4, i) = fma(c, wy, -(s * wx));
    jac(5, i) = f;
  });
  return {jac};
}

}  // namespace garra::chain
