// From the options of forward kinematics to its operations on rows.
#pragma once

#include "garra/core/error.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/systems/platform/modes_ops.hpp"

namespace garra::platform {

/// Largest number of steps of a path of proof: it spans many times what Newton's method does from the same guess.
inline constexpr int kProofSteps = 64;

/// With a characteristic length.
inline ForwardOptions scaled_options(ForwardOptions o, const Platforms& platforms) {
  o.characteristic_length = characteristic_length(platforms, o.characteristic_length);
  return o;
}

/// Of scaled_options().
inline ForwardOp forward_op(const ForwardOptions& o) {
  return {{o.tol, static_cast<double>(o.max_iterations)}, o.characteristic_length, o.near_singular};
}
inline ModeOp mode_op(const ForwardOptions& o) {
  return {{o.characteristic_length, o.prove_mode ? double{kProofSteps} : 0.0}};
}
inline FollowOp follow_op(const ForwardOptions& o) {
  return {forward_op(o), {o.characteristic_length, double{kProofSteps}}};
}
/// A proof goes on from a certificate.
inline void check_proofs(const ForwardOptions& o) {
  if (o.prove_mode && !o.certify)
    throw Error(ExitCode::kUsage, "a proof of the mode needs the certificate", "Set `certify`, too.");
}

}  // namespace garra::platform
