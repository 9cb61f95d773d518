// Kernels sized at run time give the bits of those that are compiled for a number of joints.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "garra/core/lanes.hpp"
#include "garra/systems/chain/kernels.hpp"
#include "random_chain.hpp"

namespace garra::chain {
namespace {

using test::random_chain;
using test::random_vector;

template <class S, int N, int R, int C>
void append(const Mat<S, R, C>& a, std::vector<S>& to) {
  to.insert(to.end(), a.m, a.m + N);
}

/// Numbers of every kernel for a chain of J joints, in types for a number N of them.
template <Joints K, int J, class S, int N>
std::vector<S> everything(const Model<double, N>& m, const Vec<S, N>& q, const Vec<S, N>& qd, const Vec<S, N>& a) {
  const auto x = angles<K>(m, q);
  const auto k = frames<K>(m, x);
  const Mat<S, 6, N> jac = jacobian<K>(m, k);
  std::vector<S> out;
  for (int i = 0; i < J; ++i) append<S, 9>(k.frame[i].R, out), append<S, 3>(k.frame[i].p, out);
  append<S, 6 * J>(jac, out);
  append<S, 6 * J>(in_axes(k.tool.R, jac), out);
  append<S, 6 * J>(screw_order(jac), out);
  append<S, J * J>(inertia_matrix<K>(m, x), out);
  append<S, J * J>(coriolis_matrix<K>(m, k, qd), out);
  append<S, J>(inverse_dynamics<K>(m, x, qd, a), out);
  append<S, J>(bias_torque<K>(m, x, qd), out);
  append<S, J>(coriolis_torque<K>(m, x, qd), out);
  append<S, J>(gravity_torque<K>(m, x), out);
  append<S, J>(damping_torque(m, qd), out);
  append<S, J>(forward_dynamics<K>(m, x, qd, a), out);
  append<S, J>(forward_dynamics_composite<K>(m, x, qd, a), out);
  append<S, J>(forward_dynamics_articulated<K>(m, x, qd, a), out);
  append<S, J>(tool_torque<K>(m, x, vec3<S>(S(0.3), S(-0.2), S(0.5)), vec3<S>(S(0.1), S(0.4), S(-0.6))), out);
  const ToolMotion<S> motion = tool_motion<K>(m, x, qd);
  append<S, 3>(motion.p, out), append<S, 3>(motion.v, out), append<S, 3>(motion.w, out);
  const Energy<S> e = energy<K>(m, x, qd);
  out.insert(out.end(), {e.kinetic, e.potential, manipulability(jac), smallest_singular_value(jac)});
  return out;
}

template <Joints K, class S, int J>
void expect_the_same_bits() {
  const auto m = random_chain<J>(7, K == Joints::kMixed);
  Model<double, kAnyJoints> any{};
  any.base = m.base;
  any.tool = m.tool;
  any.gravity = m.gravity;
  const JointsInUse joints(J);
  Vec<S, J> q, qd, a;
  Vec<S, kAnyJoints> any_q, any_qd, any_a;
  std::mt19937_64 gen(9);
  const auto values = random_vector<3 * J>(gen, 2);
  for (int i = 0; i < J; ++i) {
    any.joint[i] = m.joint[i];
    any.prismatic[i] = m.prismatic[i];
    any_q[i] = q[i] = S(values[i]);
    any_qd[i] = qd[i] = S(values[J + i]);
    any_a[i] = a[i] = S(values[2 * J + i]);
  }
  EXPECT_EQ(fits_revolute(any), fits_revolute(m));
  const auto fixed = everything<K, J>(m, q, qd, a), sized = everything<K, J>(any, any_q, any_qd, any_a);
  ASSERT_EQ(fixed.size(), sized.size());
  for (std::size_t i = 0; i < fixed.size(); ++i)
    EXPECT_EQ(std::memcmp(&fixed[i], &sized[i], sizeof(S)), 0) << J << " joints, number " << i;
}

template <int J>
void expect_the_same_bits_of() {
  expect_the_same_bits<Joints::kMixed, double, J>();
  expect_the_same_bits<Joints::kMixed, Lanes<double>, J>();
  expect_the_same_bits<Joints::kRevolute, Lanes<double>, J>();
}

TEST(AnyJoints, HaveTheBitsOfCodeForTheirNumber) {
  expect_the_same_bits_of<1>();
  expect_the_same_bits_of<2>();
  expect_the_same_bits_of<3>();
  expect_the_same_bits_of<6>();
  expect_the_same_bits_of<8>();
}

}  // namespace
}  // namespace garra::chain
