// The parts of a scenario with job = "singularity".
#pragma once

#include <string>
#include <vector>

#include "garra/singularity_map.hpp"
#include "io/robot_table.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

/// A joint by its number from 1 or by its name; from 0. Throws where there is none.
[[nodiscard]] int read_joint(const Node& node, const std::string& key, const chain::Robot& robot);

/// [joints]: every joint, those that are not there over their limits. `place` is where a joint that is missing is
/// missed.
[[nodiscard]] std::vector<singularity::JointSource> read_joint_sources(const Node& node, const chain::Robot& robot,
                                                                       const Place& place);

/// [task]
[[nodiscard]] singularity::TaskGrid read_task(const Node& node);

/// [[slice]]; none where `node` is null.
[[nodiscard]] std::vector<singularity::Slice> read_slices(const Node* node, const chain::Robot& robot);

/// Whether some joint is drawn, at random or evenly.
[[nodiscard]] bool draws_joints(const singularity::MapScenario& scenario);
/// Whether the samples are the nodes of a grid, so that their number is not to be chosen.
[[nodiscard]] bool visits_nodes(const singularity::MapScenario& scenario);

}  // namespace garra::io
