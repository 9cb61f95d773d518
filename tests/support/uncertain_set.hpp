// A study of grasp sets for comparisons of executors.
#pragma once

#include "garra/grasp_set.hpp"

namespace garra::test {

/// Everything that can be drawn, drawn.
[[nodiscard]] inline grasp::SetStudy uncertain() {
  using study::Distribution;
  grasp::SetStudy study;
  study.friction = Distribution::uniform(0.7, 1.3);
  study.per_contact_friction_factor = Distribution::uniform(0.9, 1.1);
  study.mass = Distribution::normal(1, 0.1).truncated(0.5, 2);
  study.com_radius = 0.003;
  study.slide_t = study.slide_o = Distribution::normal(0, 0.001);
  study.tilt = Distribution::cone(0.1);
  study.displacement_radius = 0.002;
  study.force_radius = 1;
  study.torque_radius = 0.01;
  study.wrenches = {{0.3, 0, 0, 0, 0, 0}, {0, -0.3, 0, 0.01, 0, 0}, {0, 0, 0.3, 0, 0, -0.01}};
  study.random_gravity_direction = true;
  study.samples = 700;  // neither whole words nor whole blocks
  study.friction_samples = 40;
  return study;
}

}  // namespace garra::test
