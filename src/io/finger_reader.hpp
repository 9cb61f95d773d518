// Fingers in TOML: built-in arms and chains given by their Denavit-Hartenberg rows.
#pragma once

#include "garra/grasp.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

/// Reads tool, armature and branch of a PUMA 560 finger; the base stays at the palm.
[[nodiscard]] grasp::Finger read_puma(TableReader& table);

/// Reads one [[hand.finger]] table.
[[nodiscard]] grasp::Finger read_finger(const Node& node, const std::string& key, const std::string& scenario);

}  // namespace garra::io
