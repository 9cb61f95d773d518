// Every kernel of a chain on every executor and with parameters of one's own: the same bits as scalar code.
#include <gtest/gtest.h>

#include "garra/core/lanes.hpp"
#include "garra/systems/chain/kernels.hpp"
#include "random_chain.hpp"

namespace garra::chain {
namespace {

using test::random_chain;
using test::random_vector;

template <class S, int J>
Vec<S, J> spread(const Vec<double, J>* v) {
  Vec<S, J> out;
  for (int i = 0; i < J; ++i)
    for (int l = 0; l < kWidth<S>; ++l) out[i].set(l, v[l][i]);
  return out;
}

template <class T, class S, int J>
Model<T, J> broadcast(const Model<S, J>& m) {
  Model<T, J> out;
  for (int i = 0; i < J; ++i) {
    const auto& j = m.joint[i];
    out.joint[i] = {T(j.a),    T(j.b),           T(j.d),        T(j.theta),  T(j.cos_alpha), T(j.sin_alpha),
                    T(j.mass), cast<T>(j.first), T(j.xx),       T(j.yy),     T(j.zz),        T(j.xy),
                    T(j.xz),   T(j.yz),          T(j.armature), T(j.damping)};
    out.prismatic[i] = m.prismatic[i];
  }
  out.base = cast_pose<T>(m.base);
  out.tool = cast_pose<T>(m.tool);
  out.gravity = cast<T>(m.gravity);
  return out;
}

/// Every output of every kernel.
template <class S, int J>
struct Everything {
  Mat<S, 6, J> jac, body;
  Mat<S, J, J> H, C;
  Vec<S, J> tau, bias, coriolis, g, qdd, aba, torque;
  InertiaAndGravity<S, J> rest;
  ToolMotion<S> motion;
  PointMotion<S> point;
  Energy<S> energy;
  S w, w_fused, sigma;
};

template <Joints K, class S, class T, int J>
__attribute__((noinline)) Everything<S, J> everything(const Model<T, J>& m, const Vec<S, J>& q, const Vec<S, J>& qd,
                                                      const Vec<S, J>& a) {
  const auto x = angles<K>(m, q);
  const auto k = frames<K>(m, x);
  Everything<S, J> out;
  out.jac = jacobian<K>(m, k);
  out.body = in_axes(k.tool.R, out.jac);
  out.H = inertia_matrix<K>(m, x);
  out.C = coriolis_matrix<K>(m, k, qd);
  out.tau = inverse_dynamics<K>(m, x, qd, a);
  out.bias = bias_torque<K>(m, x, qd);
  out.coriolis = coriolis_torque<K>(m, x, qd);
  out.g = gravity_torque<K>(m, x);
  out.rest = inertia_and_gravity<K>(m, x);
  out.qdd = forward_dynamics_composite<K>(m, x, qd, a);
  out.aba = forward_dynamics_articulated<K>(m, x, qd, a);
  out.torque = tool_torque<K>(m, x, k.tool.p, center_of_mass(m, k, J - 1));
  out.motion = tool_motion<K>(m, x, qd);
  out.point = point_motion(out.jac, qd);
  out.energy = energy<K>(m, x, qd);
  out.w = manipulability(out.jac);
  out.w_fused = out.w;
  if constexpr (J == 6) out.w_fused = manipulability<K>(m, x);
  out.sigma = smallest_singular_value(out.jac);
  return out;
}

template <Joints K, int J>
void check_executors(bool mixed) {
  using S = Lanes<double>;
  std::mt19937_64 gen(123);
  const auto m = random_chain<J>(7, mixed);
  const auto own = broadcast<S>(m);
  Vec<double, J> q[kWidth<S>], qd[kWidth<S>], a[kWidth<S>];
  for (int l = 0; l < kWidth<S>; ++l) {
    q[l] = random_vector<J>(gen, 3);
    qd[l] = random_vector<J>(gen, 3);
    a[l] = random_vector<J>(gen, 3);
  }
  const auto shared = everything<K>(m, spread<S, J>(q), spread<S, J>(qd), spread<S, J>(a));
  const auto separate = everything<K>(own, spread<S, J>(q), spread<S, J>(qd), spread<S, J>(a));
  constexpr std::size_t kFields = sizeof(Everything<double, J>) / sizeof(double);
  for (int l = 0; l < kWidth<S>; ++l) {
    const auto one = everything<K>(m, q[l], qd[l], a[l]);
    const auto* expected = reinterpret_cast<const double*>(&one);
    for (std::size_t f = 0; f < kFields; ++f) {
      EXPECT_EQ(reinterpret_cast<const S*>(&shared)[f][l], expected[f]) << "field " << f << " lane " << l;
      EXPECT_EQ(reinterpret_cast<const S*>(&separate)[f][l], expected[f]) << "field " << f << ", own parameters";
    }
  }
}

TEST(ChainKernels, LanesAndOwnParametersEqualScalarToTheBit) {
  check_executors<Joints::kRevolute, 6>(false);
  check_executors<Joints::kMixed, 4>(true);
  check_executors<Joints::kMixed, 10>(true);
}

}  // namespace
}  // namespace garra::chain
