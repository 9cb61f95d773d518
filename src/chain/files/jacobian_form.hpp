// Names of the Jacobian's forms in flags, files and Python.
#pragma once

#include "garra/chain_eval.hpp"
#include "garra/core/names.hpp"

namespace garra::chain {

[[nodiscard]] constexpr auto names_of(JacobianForm) { return names("linear-first", "angular-first", "screws"); }

}  // namespace garra::chain
