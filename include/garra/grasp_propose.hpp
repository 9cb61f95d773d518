// Candidate grasps of an object: contacts drawn on its surface from which forces can close around it
// (docs/howto/grasp-propose.md). What comes out is a set that grasp::rank takes.
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

struct ProposeOptions {
  int fingers = 2;                                               ///< contacts of each grasp, 2 ... 8
  std::int64_t count = 1000;                                     ///< grasps wanted
  double friction = 0.5;                                         ///< coefficient with which forces have to close
  double mass = 0;                                               ///< [kg]; 0: that of `density`
  double density = 1000;                                         ///< [kg/m^3]
  double force_limit = std::numeric_limits<double>::infinity();  ///< of each finger [N], for the set
  double torsion_radius = 0;  ///< of each fingertip [m], for the set: soft contacts; not with pad_radius
  double max_opening = std::numeric_limits<double>::infinity();  ///< distance of two contacts <= this [m]
  /// Each finger is a flat pad: kPadContacts contacts on a circle of this radius [m]; 0: a point.
  double pad_radius = 0;
  /// Fingertips are balls of this radius [m]: one that touches its contact touches nothing else.
  double finger_radius = 0;
  double clearance = 0;  ///< so far out along the normal there is nothing of the object [m]
  /// Fingers come straight along this direction, of any length: from the fingertip back against it there is nothing of
  /// the object. 0: from anywhere.
  Vec3<double> approach = Vec3<double>::zero();
  /// The object stands there: fingertips stay at z >= this [m].
  double floor = -std::numeric_limits<double>::infinity();
  /// Drawn at most; 0: a million, and a thousand for each grasp wanted once there is one.
  std::int64_t most_samples = 0;
  std::uint64_t seed = 1;
};

/// What became of a sample.
enum class SampleFate : std::uint8_t {
  kAccepted,
  kMissed,       ///< two fingers: no surface opposite
  kOutsideCone,  ///< two fingers: the line between the contacts leaves the friction cone of the second
  kTooWide,      ///< two contacts are further apart than max_opening
  kFingersMeet,  ///< two fingertips overlap
  kBlocked,      ///< the object, or the floor, is where a fingertip would be
  kOpen,         ///< three fingers or more: forces in the friction cones do not close
  kUndecided,    ///< nor was it shown that they do not
  kOffPad,       ///< the surface falls away under a pad by more than half its radius, or turns by more than kPadLean
};
[[nodiscard]] constexpr auto names_of(SampleFate) {
  return names("accepted", "missed", "outside_cone", "too_wide", "fingers_meet", "blocked", "open", "undecided",
               "off_pad");
}
inline constexpr std::size_t kSampleFates = 9;
inline constexpr int kPadContacts = 3;
inline constexpr double kPadLean = 0.5;  ///< [rad]

struct Proposal {
  Set set;  ///< friction, mass, com, inertia, tangent, curvature (force_limit, torsion_radius) are there
  std::vector<std::int64_t> sample;  ///< [g] number of the sample that became grasp g: with the seed, all that it is of
  std::int64_t samples = 0;          ///< drawn until the last grasp was found
  std::array<std::int64_t, kSampleFates> fate{};  ///< how many of them, by SampleFate
  mesh::Body body;                                ///< of the object
};

/// Told now and then how many grasps are found and how many samples drawn. What it throws ends the search.
using ProposeProgress = std::function<void(std::int64_t grasps, std::int64_t samples)>;

/// Draws samples until `count` of them are accepted or most_samples are drawn; the set holds the accepted ones in their
/// order, the same ones whatever the device and its threads, and its first grasps do not depend on `count`. Throws
/// Error: kUsage for options out of range, and where no sample at all is accepted, saying why most were not.
[[nodiscard]] Proposal propose(const mesh::Surface& object, const ProposeOptions& options, const Device& device = {},
                               const ProposeProgress& progress = {});

}  // namespace garra::grasp
