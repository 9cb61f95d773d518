// Chains and joint vectors of random numbers, from fixed seeds.
#pragma once

#include <random>
#include <vector>

#include "garra/chain.hpp"
#include "garra/math/rotation.hpp"

namespace garra::test {

/// A chain of random numbers; where `mixed`, every third joint slides and the rest of the kernel form (b) is there.
template <int J>
[[nodiscard]] chain::Model<double, J> random_chain(unsigned seed, bool mixed) {
  std::mt19937_64 gen(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<chain::DhJoint> joints;
  for (int i = 0; i < J; ++i) {
    const Vec3<double> com = {{0.2 * u(gen), 0.2 * u(gen), 0.2 * u(gen)}};
    const double p = 0.1 * u(gen), q = 0.1 * u(gen), r = 0.1 * u(gen);
    joints.push_back({0.5 * u(gen), 0.5 * u(gen), 3 * u(gen), 3 * u(gen), {}});
    joints.back().link.body = {2 + u(gen), com, {{0.5, p, q, p, 0.6, r, q, r, 0.7}}};
    joints.back().link.joint.prismatic = mixed && i % 3 == static_cast<int>(seed % 3);
    joints.back().link.armature = 0.05 * (1 + u(gen));
    joints.back().link.damping = 0.1 * (1 + u(gen));
  }
  chain::RobotData data;
  data.name = "random";
  data.base = {rotation_from_rpy({{0.3, -0.2, 0.5}}), {{0.1, -0.4, 0.7}}};
  data.tool = {rotation_from_rpy({{-0.4, 0.1, 1.5}}), {{0.2, 0.1, -0.3}}};
  chain::Model<double, J> model = chain::make_model<J>(chain::from_dh(data, joints));
  for (auto& joint : model.joint) joint.b = mixed ? 0.3 * u(gen) : 0;
  return model;
}

template <int J>
[[nodiscard]] Vec<double, J> random_vector(std::mt19937_64& gen, double size) {
  std::uniform_real_distribution<double> u(-size, size);
  Vec<double, J> v;
  for (int i = 0; i < J; ++i) v[i] = u(gen);
  return v;
}

}  // namespace garra::test
