// The parts of a scenario with job = "singularity".
#pragma once

#include <string>
#include <vector>

#include "base/scenario/fields.hpp"
#include "chain/files/robot_table.hpp"
#include "garra/singularity_map.hpp"

namespace garra::io {

/// The index of a joint that is given by its number from 0 or by its name. Throws where there is none.
[[nodiscard]] int read_joint(const Node& node, const std::string& key, const chain::Robot& robot);

/// [joints]: every joint, those that are not there over their limits. `place` is where a joint that is missing is
/// missed.
void joint_source_fields(Fields& f, const chain::Robot& robot, const Place& place,
                         std::vector<singularity::JointSource>& sources);

/// [task]
void task_fields(Fields& f, singularity::TaskGrid& task);

/// [[slice]]
void slice_fields(Fields& f, const chain::Robot& robot, std::vector<singularity::Slice>& slices);

/// Whether some joint is drawn, at random or evenly.
[[nodiscard]] bool draws_joints(const singularity::MapScenario& scenario);
/// Whether the samples are the nodes of a grid, so that their number is not to be chosen.
[[nodiscard]] bool visits_nodes(const singularity::MapScenario& scenario);

}  // namespace garra::io
