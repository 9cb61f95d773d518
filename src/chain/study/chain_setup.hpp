// From designs to batches of simulations: inputs drawn by slot, and designs that share a chain and a controller.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "garra/chain_study.hpp"

namespace garra::chain {

/// Each uncertain number has its own random number, whatever else is uncertain: so that samples of the same number
/// share theirs between designs.
enum Slot : int {
  kSlotQ = 0,
  kSlotQd = kSlotQ + kMaxJoints,
  kSlotDamping = kSlotQd + kMaxJoints,
  kSlotMass = kSlotDamping + kMaxJoints,
  kSlotSize,
  kSlotAmplitude,
  kStudySlots
};
using Drawn = std::array<double, kStudySlots>;

/// Inputs of sample `draw` of a design.
[[nodiscard]] Drawn draw_inputs(const Design& design, int joints, std::uint64_t seed, std::uint64_t draw);
/// Every input at its median.
[[nodiscard]] Drawn nominal_inputs(const Design& design, int joints);

/// Designs that are simulated together: the same nominal chain, controller and method.
struct Group {
  Robot robot;  ///< of nominal mass and size (for computed torque: and damping), which its controller believes in
  double mass = 1, size = 1;                                                ///< nominal factors that it has already
  bool varies_mass = false, varies_size = false, varies_amplitude = false;  ///< in some design
  TorqueInput torque;
  SimulateOptions options;
  std::vector<int> designs;  ///< numbers of its designs, growing
};
/// Every design in exactly one group.
[[nodiscard]] std::vector<Group> group_designs(const Scenario& scenario);

/// A chain `size` times as large whose links have `mass` times the density. Armature, damping and base stay.
[[nodiscard]] Robot similar_robot(Robot robot, double size, double mass);

/// The batch of these inputs.
[[nodiscard]] Samples make_samples(const Group& group, const std::vector<Drawn>& inputs);

/// Times of a design's outputs, from 0 to `duration`.
[[nodiscard]] std::vector<double> output_times(const Design& design, double duration);

/// simulate(), also right for a single sample.
[[nodiscard]] Trajectories simulate_group(const Group& group, std::vector<Drawn> inputs,
                                          const std::vector<double>& times, const Device& device);

}  // namespace garra::chain
