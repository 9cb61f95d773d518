// The platforms of data/reference/platform and its documents (data/reference/README.md holds the conventions).
#pragma once

#include <nlohmann/json.hpp>
#include <numbers>
#include <string>

#include "garra/platform.hpp"
#include "reference.hpp"

namespace garra::test {

/// A document of data/reference/platform, e.g. "ik_fk_trepa_like".
[[nodiscard]] inline nlohmann::json platform_reference(const std::string& name) {
  return read_reference_json("platform/" + name + ".json");
}

template <int N>
[[nodiscard]] Vec<double, N> to_vector(const nlohmann::json& numbers) {
  Vec<double, N> v;
  for (int i = 0; i < N; ++i) v[i] = numbers.at(static_cast<std::size_t>(i)).get<double>();
  return v;
}

/// "trepa_like" or "irregular", as params_<name>.json gives it, checked.
[[nodiscard]] inline platform::Platform reference_platform(const std::string& name) {
  const nlohmann::json from = platform_reference("params_" + name);
  platform::Platform p;
  p.name = name;
  p.source = from.at("note").get<std::string>();
  p.mass = from.at("platform_mass").get<double>();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      p.inertia(i, j) =
          from.at("platform_inertia").at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j)).get<double>();
    }
  p.gravity = to_vector<3>(from.at("gravity"));
  p.home = to_vector<3>(from.at("home_position"));
  p.leg_radius = from.at("leg_collision_radius").get<double>();
  for (std::size_t i = 0; i < p.leg.size(); ++i) {
    platform::Leg& leg = p.leg[i];
    leg.base = to_vector<3>(from.at("base_anchors").at(i));
    leg.anchor = to_vector<3>(from.at("platform_anchors").at(i));
    leg.axis = to_vector<3>(from.at("universal_ground_axes").at(i));
    leg.lower = {from.at("lower_mass").at(i).get<double>(), from.at("lower_com_from_universal").at(i).get<double>(),
                 to_vector<3>(from.at("lower_inertia_diag").at(i))};
    leg.upper = {from.at("upper_mass").at(i).get<double>(), from.at("upper_com_from_spherical").at(i).get<double>(),
                 to_vector<3>(from.at("upper_inertia_diag").at(i))};
    leg.length_min = from.at("length_min").at(i).get<double>();
    leg.length_max = from.at("length_max").at(i).get<double>();
    leg.universal_cone = from.at("universal_half_cone_deg").get<double>() * std::numbers::pi / 180;
    leg.spherical_cone = from.at("spherical_half_cone_deg").get<double>() * std::numbers::pi / 180;
  }
  return platform::checked(p);
}

}  // namespace garra::test
