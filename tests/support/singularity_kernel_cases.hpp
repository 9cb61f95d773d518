// What several tests of singularity kernels share.
#pragma once

#include <set>
#include <stdexcept>
#include <string>

#include "garra/systems/singularity/escape.hpp"
#include "singularity_cases.hpp"

namespace garra::singularity::kernel_test {

using nlohmann::json;
using JointSet = std::set<int>;

inline constexpr double kValue = 1e-9;   // singular values and rates, relative to sigma_1
inline constexpr double kFinite = 1e-8;  // after a finite step
inline constexpr Tolerances kTolerances;

template <int J>
Vec<double, J> vec(const json& a) {
  Vec<double, J> v;
  for (int i = 0; i < J; ++i) v[i] = a.at(static_cast<std::size_t>(i)).get<double>();
  return v;
}

/// Members of a set given as a number, counted from 1 as in the reference.
inline JointSet joints_in(double bits) {
  JointSet out;
  for (int k = 0; k < 52; ++k)
    if (static_cast<std::uint64_t>(bits) >> k & 1) out.insert(k + 1);
  return out;
}
inline JointSet to_set(const json& numbers) { return numbers.get<JointSet>(); }

template <int J>
struct Configuration {
  JointLines<double, J> lines;
  ScalingOf<double> scaling;
  ScaledScrews<double, J> screws;
};
template <int J>
Configuration<J> configuration(const Model<double, J>& m, const Vec<double, J>& q) {
  const auto lines = joint_lines(m, chain::angles(m, q));
  const auto scaling = natural_scaling(m, lines);
  return {lines, scaling, scaled_screws(m, lines, scaling)};
}
/// sigma_g at q in the scaling of another configuration.
template <int G, int J>
double sigma_at(const Model<double, J>& m, const Vec<double, J>& q, const ScalingOf<double>& scaling) {
  return singular_values(scaled_screws(m, joint_lines(m, chain::angles(m, q)), scaling))[G - 1];
}

/// The arm of the first reference configuration of that name.
template <int J>
Model<double, J> arm_named(const std::string& name) {
  for (const auto& c : reference::arms())
    if (c["arm"].get<std::string>().rfind(name, 0) == 0 && c["n"] == J)
      return chain::make_model<J>(reference::robot_of(c));
  throw std::runtime_error("arms.json has no " + name);
}

}  // namespace garra::singularity::kernel_test
