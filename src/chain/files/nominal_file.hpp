// nominal.h5: trajectories of the designs of a chain study with their nominal inputs (docs/reference/run-folder.md).
#pragma once

#include <string>

#include "garra/chain_study.hpp"

namespace garra::io {

/// Whole or not at all. Throws Error(kInputOutput).
void write_nominal(const std::string& path, const chain::NominalTrajectories& nominal);

}  // namespace garra::io
