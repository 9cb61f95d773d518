// Names of the columns in the group `parameters` of a state file.
#pragma once

#include <string>

#include "garra/chain_eval.hpp"

namespace garra::io {

/// "2.mass.scale"
[[nodiscard]] std::string stored_name(const chain::Parameter& parameter);

/// The reverse, without values. Throws Error(kUsage) saying what is wrong with the name.
[[nodiscard]] chain::Parameter parse_parameter(const std::string& name);

}  // namespace garra::io
