// Generates a C++ header of straight-line code from the numbers of one robot.
// Takes: a Robot, operation names.
// Gives: the header's text.
// Units and frames: SI, rad; world axes; Jacobian rows linear first; joints count from 0.
// Bad input: wrong names and numbers that are not finite throw Error(kUsage).
// Not for: robots that change at run time, coupled joints.
// Docs: docs/howto/chain-generated.md.
#pragma once

#include <string>
#include <vector>

#include "garra/chain.hpp"

namespace garra::chain {

/// Options of generate_header().
struct GenerateOptions {
  std::string name = {};                     ///< namespace; "": derived from the robot's name
  std::vector<std::string> operations = {};  ///< subset of generated_operations(); empty: all
  std::string command = {};                  ///< command line quoted in the header; "": none
};

/// "tool_pose", "frames", "jacobian", "manipulability", "jacobian_manipulability",
/// "inverse_dynamics", "bias_torque", "coriolis_torque", "gravity_torque", "inertia_matrix",
/// "forward_dynamics", "energy".
[[nodiscard]] std::vector<std::string> generated_operations();

/// Text of the header. Each function is a template of the scalar S (double, SIMD lanes, a GPU
/// thread). One overload takes q [j], one the sines and cosines of q (Angles<S>).
/// @throws Error kUsage for an invalid namespace, an unknown operation, or a number of the robot
///         that is not finite.
[[nodiscard]] std::string generate_header(const Robot& robot, const GenerateOptions& options = {});

}  // namespace garra::chain
