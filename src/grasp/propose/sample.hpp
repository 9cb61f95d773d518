// One sample of candidate contacts: drawn, and checked by geometry.
#pragma once

#include "garra/grasp_propose.hpp"

namespace garra::grasp {

/// Contacts of a sample, as far as its rejection reason needed them.
struct ContactSample {
  RejectionReason rejection = RejectionReason::kMissed;
  std::array<mesh::Place, 8> place;
};

/// Draws samples; holds the data that all of them share.
class Sampler {
 public:
  Sampler(const mesh::Surface& object, const ProposeOptions& options);
  /// A pure function of seed and number. kAccepted is preliminary: pairs have force closure, for others it is open.
  void draw(std::int64_t number, ContactSample& out) const;
  /// Checks whether the fingers of a sample with force closure have space. Called last, because it is expensive.
  [[nodiscard]] RejectionReason room(const ContactSample& s) const;
  /// Finds the contacts of the pad of a finger at `place`, on a circle about it; false if the surface is not there.
  [[nodiscard]] bool pad_of(const mesh::Place& place, std::array<mesh::Place, kPadContacts>& out) const;

 private:
  [[nodiscard]] RejectionReason draw_pair(mesh::Draws& draws, ContactSample& out) const;
  [[nodiscard]] bool too_wide(const ContactSample& s) const;
  [[nodiscard]] bool fingers_meet(const ContactSample& s) const;
  [[nodiscard]] bool off_pad(const mesh::Place& place) const;
  [[nodiscard]] bool blocked(const mesh::Place& place) const;

  const mesh::Surface& object_;
  const ProposeOptions& options_;
  double cone_cosine_;                        ///< of the friction cone's half angle
  Vec3<double> back_ = Vec3<double>::zero();  ///< against the approach, unit; 0: none
};

}  // namespace garra::grasp
