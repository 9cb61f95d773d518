// A serial chain in the form that the kernels take, from any description (docs/theory/chain.md).
//
// Every chain of one-degree joints has frames along its joint axes such that, from one link to the
// next,
//
//   X_{i-1,i}(q) = Rx(alpha_i) T(a_i, b_i, 0) Rz(theta_i) Tz(d_i),   theta_i = theta0_i + q_i or d_i = d0_i + q_i   (1)
//
// (modified Denavit-Hartenberg form; W. Khalil, J. Kleinfinger, ICRA 1986). b_i is 0 if frame i-1
// lies on the common normal of the two axes. The common normal of nearly parallel axes is far away:
// frame i-1 then lies near its link, and b_i is the distance of axis i from its x-z plane. One
// implementation thus serves DH, modified DH, GRyMA, screw and URDF descriptions; the user's frames
// differ from these by constants.
#pragma once

#include "garra/math/pose.hpp"
#include "garra/math/screw.hpp"

namespace garra::chain {

inline constexpr int kMaxJoints = 16;
/// A number of joints that is known when the program runs, at most kMaxJoints. Sizes per joint are negative, as sizes
/// per contact are (core/extent.hpp), and count by the same number: no code has both.
inline constexpr int kAnyJoints = kAnyContacts;
/// Says in each thread how many joints the code for kAnyJoints has.
using JointsInUse = ContactsInUse;

/// One joint and the link that it moves. T is double if a batch shares its chain, S if every sample
/// has its own.
template <class T>
struct JointForm {
  T a, b, d, theta;        ///< constants of (1) [m, m, m, rad]
  T cos_alpha, sin_alpha;  ///< exact at multiples of 90 degrees
  T mass;                  ///< [kg]
  Vec3<T> first;           ///< first moment m c in the link's own frame [kg m]
  T xx, yy, zz, xy, xz,
      yz;      ///< second moment about the frame's origin, frame axes [kg m^2]; entries of the tensor, signs included
  T armature;  ///< rotor inertia seen at the joint [kg m^2]
  T damping;   ///< viscous: tau = -damping qd [N m s/rad or N s/m]
};

/// A chain of J joints. Trivially copyable, so a GPU gets it by plain copy.
template <class T, int J>
struct Model {
  JointForm<T> joint[kCapacity<J>];
  Pose<T> base;                  ///< X_W0: where frame 0 is in the world, in whose axes results are given
  Pose<T> tool;                  ///< X_JT: the tool in the last kernel frame
  Vec3<T> gravity;               ///< world axes [m/s^2]
  bool prismatic[kCapacity<J>];  ///< structure, shared by all samples
};

}  // namespace garra::chain
