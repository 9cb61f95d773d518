// Sets of candidate grasps and their rankings as HDF5 files, and what is uncertain about them as TOML
// (docs/grasp-sets.md).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "garra/grasp_set.hpp"

namespace garra::io {

/// Reads a grasp set: first [g+1], point, normal [m,3] and, where they are there, tangent [m,3], friction [m],
/// curvature [m,2], force_limit [m], mass [g], com, gravity [g,3], inertia [g,3,3], wrench [g,6]. Without `first`,
/// point and normal may be [g,k,3] (and friction, force_limit [g,k], tangent [g,k,3], curvature [g,k,2]): k contacts
/// each. Throws Error, naming file and dataset (kInvalidFile, kInputOutput).
[[nodiscard]] grasp::Set read_grasp_set(const std::string& path);

/// Writes a ranking, a row a grasp: whole or not at all. As CSV, without the attributes, where the path ends in .csv.
/// Throws Error(kInputOutput).
void write_ranking(const std::string& path, const grasp::Ranking& ranking,
                   const std::vector<std::pair<std::string, std::string>>& attributes);

/// What is uncertain about a set; job = "grasp_set". "" as path: nothing is, but for what the overrides say.
/// Throws Error as read_scenario() does.
[[nodiscard]] grasp::SetStudy read_set_study(const std::string& path, const std::vector<std::string>& overrides = {});

}  // namespace garra::io
