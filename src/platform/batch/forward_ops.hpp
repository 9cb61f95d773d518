// Makes the operations of forward kinematics on rows from its options.
#pragma once

#include "garra/core/error.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/systems/platform/modes_ops.hpp"

namespace garra::platform {

/// Largest number of steps of a proven path, which takes many times the steps of Newton's method.
inline constexpr int kProofSteps = 64;

/// Options with the characteristic length filled in.
inline ForwardOptions scaled_options(ForwardOptions o, const Platforms& platforms) {
  o.characteristic_length = characteristic_length(platforms, o.characteristic_length);
  return o;
}

/// Operation for options of scaled_options().
inline ForwardOp forward_op(const ForwardOptions& o) {
  return {{o.tolerance, static_cast<double>(o.max_iterations)}, o.characteristic_length, o.near_singular};
}
inline ModeOp mode_op(const ForwardOptions& o) {
  return {{o.characteristic_length, o.certify_mode ? double{kProofSteps} : 0.0}};
}
inline LedForwardOp led_forward_op(const ForwardOptions& o) {
  return {{forward_op(o), {o.characteristic_length, double{kProofSteps}}}, static_cast<double>(o.plain_iterations)};
}
/// Checks that a proof of the mode has its certificate.
inline void check_proofs(const ForwardOptions& o) {
  if (o.certify_mode && !o.certify)
    throw Error(ExitCode::kUsage, "a proof of the mode needs the certificate", "Set `certify`, too.");
}

}  // namespace garra::platform
