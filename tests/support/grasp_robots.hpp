// Fingers of a scenario as chains of their own, for tests that compute a finger's motion apart.
#pragma once

#include "garra/chain.hpp"
#include "garra/grasp.hpp"

namespace garra::test {

/// Finger j with the palm as its world; of those that are given by rows.
[[nodiscard]] inline chain::Robot robot_of(const grasp::Scenario& s, std::size_t j) {
  const grasp::Finger& f = s.fingers[j];
  const chain::RobotData data{.name = "finger", .base = f.base, .tool = f.tool, .gravity = s.gravity};
  return f.modified ? chain::from_modified_dh(data, f.joints) : chain::from_dh(data, f.joints);
}

}  // namespace garra::test
