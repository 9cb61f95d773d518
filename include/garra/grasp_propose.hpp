// Proposes candidate grasps of an object: contacts sampled on its surface with force closure.
// Takes: a mesh::Surface and options: 2 to 8 fingers, friction, clearances, number of grasps, seed.
// Gives: a GraspSet for grasp_set.hpp, the sample numbers, and counts by RejectionReason.
// Units and frames: SI, object axes, normals into the object; grasps and samples count from 0.
// Bad input: options out of range, and no accepted sample at all, throw Error(kUsage). A rejected
// sample is counted by its reason.
// Not for: hands beyond fingertips, pads and an approach direction; a ranking (grasp_set.hpp).
// Docs: docs/howto/grasp-propose.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/core/names.hpp"
#include "garra/grasp_set.hpp"
#include "garra/mesh.hpp"

namespace garra::grasp {

/// Options of propose().
struct ProposeOptions {
  int fingers = 2;                                               ///< contacts of each grasp, 2 ... 8
  std::int64_t count = 1000;                                     ///< grasps wanted
  double friction = 0.5;                                         ///< friction coefficient of the force closure check
  double mass = 0;                                               ///< [kg]; 0: from `density`
  double density = 1000;                                         ///< [kg/m^3]
  double force_limit = std::numeric_limits<double>::infinity();  ///< of each finger [N]; stored in the set
  double torsion_radius = 0;  ///< of each fingertip [m]; stored in the set: soft contacts; not with pad_radius
  double max_opening = std::numeric_limits<double>::infinity();  ///< distance of two contacts <= this [m]
  /// Each finger is a flat pad: kPadContacts contacts on a circle of this radius [m]; 0: a point.
  double pad_radius = 0;
  /// Radius of ball fingertips [m]; a fingertip at its contact touches nothing else.
  double finger_radius = 0;
  double clearance = 0;  ///< length along the outward normal that is free of the object [m]
  /// Straight approach direction of the fingers, of any length. The ray from the fingertip along
  /// -approach is free of the object. 0: any direction.
  Vec3<double> approach = Vec3<double>::zero();
  /// Height of the floor under the object: fingertips stay at z >= this [m].
  double floor = -std::numeric_limits<double>::infinity();
  /// Largest number of samples; 0: 1e6, or once a grasp is found 1e6 + 1000 count. The set may have
  /// fewer than `count` grasps.
  std::int64_t max_samples = 0;
  std::uint64_t seed = 1;
};

/// Acceptance or rejection reason of a sample.
enum class RejectionReason : std::uint8_t {
  kAccepted,
  kMissed,       ///< two fingers: no opposite surface
  kOutsideCone,  ///< two fingers: the line between the contacts leaves the friction cone of the second
  kTooWide,      ///< two contacts are farther apart than max_opening
  kFingersMeet,  ///< two fingertips overlap
  kBlocked,      ///< the object or the floor obstructs a fingertip
  kOpen,         ///< three fingers or more: no force closure
  kUndecided,    ///< three fingers or more: force closure is not decided
  kOffPad,       ///< under a pad the surface deviates by more than pad_radius / 2 or turns by more than kPadLean
};
[[nodiscard]] constexpr auto names_of(RejectionReason) {
  return names("accepted", "missed", "outside_cone", "too_wide", "fingers_meet", "blocked", "open", "undecided",
               "off_pad");
}
inline constexpr std::size_t kRejectionReasons = 9;
inline constexpr int kPadContacts = 3;
inline constexpr double kPadLean = 0.5;  ///< [rad]

/// Proposed set and the counts of its search.
struct Proposal {
  GraspSet set;  ///< with friction, mass, com, inertia, tangent, curvature; force_limit, torsion_radius if given
  std::vector<std::int64_t> sample;  ///< [g] number of the sample of grasp g; seed and number reproduce it
  std::int64_t samples = 0;          ///< drawn until the last grasp was found
  std::array<std::int64_t, kRejectionReasons> rejection{};  ///< number of samples by RejectionReason
  mesh::Body body;                                          ///< of the object
};

/// Called from time to time with the numbers of grasps found and samples drawn. An exception from
/// it ends the search.
using ProposeProgress = std::function<void(std::int64_t grasps, std::int64_t samples)>;

/// Draws samples until `count` are accepted or max_samples are drawn. The result does not depend
/// on the device or its threads, and the first grasps do not depend on `count`.
/// @param object closed-form surface or mesh, SI units.
/// @param options fingers, friction, clearances, seed.
/// @return the accepted samples in their order, and counts of the others.
/// @throws Error kUsage for options out of range or if no sample is accepted, with the most
///         frequent reason.
[[nodiscard]] Proposal propose(const mesh::Surface& object, const ProposeOptions& options, const Device& device = {},
                               const ProposeProgress& progress = {});

}  // namespace garra::grasp
