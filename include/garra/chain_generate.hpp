// Chains known at compile time: the kernels of systems/chain recorded with a robot's numbers and written down as a C++
// header of straight-line code (docs/howto/chain-generated.md).
#pragma once

#include <string>
#include <vector>

#include "garra/chain.hpp"

namespace garra::chain {

struct GenerateOptions {
  std::string name = {};                     ///< of the namespace; "" makes one of the robot's name
  std::vector<std::string> operations = {};  ///< of generated_operations(); empty: all of them
  std::string command = {};                  ///< that the header says it was made by; "" leaves that out
};

/// Names of what a header can hold: "jacobian", "inverse_dynamics", ...
[[nodiscard]] std::vector<std::string> generated_operations();

/// The header's text. Every function is a template of the scalar S (double, lanes, a GPU thread) and takes
/// Angles<S, J>, and another of the same name takes q instead. Throws Error(kUsage) for a name that C++ does not take,
/// for an operation that there is not, and for a number of the robot that is not finite.
[[nodiscard]] std::string generate_header(const Robot& robot, const GenerateOptions& options = {});

}  // namespace garra::chain
