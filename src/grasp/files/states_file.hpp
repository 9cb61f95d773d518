// Files of `garra grasp analyze`: instants of one grasp (HDF5; docs/theory/grasp-time.md, "One instant"). SI units.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "garra/grasp_analysis.hpp"

namespace garra::io {

/// Reads those of the datasets position [n,3], quaternion [n,4], velocity, spin [n,3], wrench [n,6], friction
/// [n,contacts] and finger_<j>/q, qd, tau [n,joints] that exist; others are ignored. They are read from the named group
/// ("nominal" of a motion.h5), else from the root. Throws Error: kInvalidFile, naming file and dataset; kInputOutput
/// for a missing file.
[[nodiscard]] grasp::GraspStates read_grasp_states(const std::string& path, const grasp::Scenario& scenario,
                                                   const std::string& group = "");

/// Writes the file, whole or not at all, with attributes (name, text). Throws Error(kInputOutput).
void write_analysis(const std::string& path, const grasp::Analysis& analysis,
                    const std::vector<std::pair<std::string, std::string>>& attributes);

}  // namespace garra::io
