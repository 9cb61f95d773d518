// A serial chain of revolute and prismatic joints in Denavit-Hartenberg form (docs/chain.md).
#pragma once

#include "garra/math/pose.hpp"
#include "garra/math/screw.hpp"

namespace garra::chain {

inline constexpr int kMaxJoints = 16;

/// One joint and the link it moves. Lengths in m, angles in rad, masses in kg.
struct Link {
  double a = 0, d = 0, alpha = 0;      ///< DH constants (modified DH: a_{i-1}, alpha_{i-1})
  double offset = 0;                   ///< of theta: added to the joint variable, or theta itself if prismatic
  double cos_alpha = 1, sin_alpha = 0; ///< of alpha, exact 0 and +-1 at right angles; set by finish()
  bool prismatic = false;              ///< the variable is d instead of theta
  double mass = 0;
  Vec3<double> com = {};               ///< centre of mass in the link's own DH frame
  Mat3<double> inertia = {};           ///< about the centre of mass, axes of the link frame [kg m^2]
  double armature = 0;                 ///< rotor inertia seen at the joint, G^2 Jm [kg m^2]
};

/// The numbers of a chain, shared by all samples. Trivially copyable: a GPU gets it by plain copy.
struct Chain {
  int joints = 0;
  bool modified = false;  ///< Craig's (modified) convention instead of the standard one
  Link link[kMaxJoints];
  Pose<double> tool = {{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, {{0, 0, 0}}};  ///< tool frame in the last link frame

  /// Computes cos and sin of every alpha; multiples of 90 degrees become exact, so zeros stay zeros.
  void finish();
};

/// Joint count that a loop runs to: the template's own where it is an exact size, else the chain's.
template <int J>
GARRA_HD int joint_count(const Chain& chain) {
  return J < kMaxJoints ? J : chain.joints;
}

/// Corke's PUMA 560 (standard DH; Corke & Armstrong-Helouvry, ICRA 1994), without the pedestal (d1 = 0).
/// `armature` includes the rotor inertias G^2 Jm; `tool` [m] is the fingertip's distance along z6.
[[nodiscard]] Chain puma560(double tool = 0, bool armature = true);

}  // namespace garra::chain
