// Fingers in TOML: built-in arms, robot files, and chains given by their Denavit-Hartenberg rows.
#pragma once

#include <string>

#include "base/scenario/fields.hpp"
#include "garra/grasp.hpp"

namespace garra::io {

/// tool, armature and branch of a PUMA 560 finger, whose joints it makes; the base stays at the palm.
void puma_fields(Fields& f, grasp::Finger& finger);

/// One [[hand.finger]]. `scenario` is the file, beside which robot files are.
void finger_fields(Fields& f, const std::string& scenario, grasp::Finger& finger);

}  // namespace garra::io
