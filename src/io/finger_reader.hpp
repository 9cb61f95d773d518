// Fingers in TOML: built-in arms and chains given by their Denavit-Hartenberg rows.
#pragma once

#include "garra/grasp.hpp"
#include "io/scenario_text.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

/// Reads tool, armature and branch of a PUMA 560 finger; the base stays at the palm.
[[nodiscard]] grasp::Finger read_puma(TableReader& table);

/// Reads one [[hand.finger]] table of a scenario.
[[nodiscard]] grasp::Finger read_finger(TableReader& table, const std::string& scenario);
/// Written back.
void write_finger(const grasp::Finger& finger, Writer& w);

}  // namespace garra::io
