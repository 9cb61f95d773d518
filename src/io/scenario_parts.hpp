// The parts of a scenario file. Each reads its tables from the document.
#pragma once

#include "garra/grasp.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

/// [object]
[[nodiscard]] grasp::Object read_object(TableReader& root);
/// [hand], [contacts], [[contact]]; the scenario's object must have been read.
void read_hand(TableReader& root, grasp::Scenario& scenario);
/// [load], [motion], [solver], [sampling], [output]; the scenario's object must have been read.
void read_study(TableReader& root, grasp::Scenario& scenario);

}  // namespace garra::io
