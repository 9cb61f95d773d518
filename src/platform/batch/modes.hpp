// Proofs of the assembly modes of a batch (garra/systems/platform/modes.hpp).
#pragma once

#include "garra/platform_kinematics.hpp"
#include "platform/batch/rows.hpp"

namespace garra::platform {

struct ModeProofs {
  std::vector<double> proven;  ///< [n] 1 where the pose belongs to the guess's mode for certain
  std::vector<double> unique;  ///< [n] radius about the pose [m]
};

/// Proofs for the poses found by a job of forward kinematics, which has lengths, position and
/// quaternion of the guess.
[[nodiscard]] ModeProofs mode_proofs(const RowsJob& forward, const Poses& found, const ForwardOptions& options);

}  // namespace garra::platform
