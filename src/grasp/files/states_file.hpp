// What `garra grasp analyse` reads and writes: instants of one grasp (HDF5; docs/theory/grasp-time.md, "One instant").
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "garra/grasp_analysis.hpp"

namespace garra::io {

/// Reads position [n,3], quaternion [n,4], velocity, spin [n,3], wrench [n,6], friction [n,contacts] and finger_<j>/q,
/// qd, tau [n,joints] as far as they are there, other datasets are left alone; of a group where one is named ("nominal"
/// of a motion.h5), else of the file. Throws Error: kInvalidFile, naming file and dataset; kInputOutput for a missing
/// file.
[[nodiscard]] grasp::GraspStates read_grasp_states(const std::string& path, const grasp::Scenario& scenario,
                                                   const std::string& group = "");

/// Whole or not at all, with attributes (name, text). Throws Error(kInputOutput).
void write_analysis(const std::string& path, const grasp::Analysis& analysis,
                    const std::vector<std::pair<std::string, std::string>>& attributes);

}  // namespace garra::io
