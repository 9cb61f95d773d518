// Reads a whole hand from one URDF: a finger for each of its tips.
#pragma once

#include <string>

#include "base/scenario/fields.hpp"
#include "garra/grasp.hpp"

namespace garra::io {

/// [hand] with `urdf` and `tips`, beside the file `scenario`: the fingers of `s`, all on one palm.
void tree_hand_fields(Fields& f, const std::string& scenario, grasp::Scenario& s);

}  // namespace garra::io
