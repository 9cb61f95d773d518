// Reads the grasps of a set from its arrays, and the random inputs of samples from its study. Host only.
#pragma once

#include <cstdint>
#include <vector>

#include "garra/grasp_set.hpp"
#include "grasp/set/set_model.hpp"

namespace garra::grasp {

/// Throws Error if sizes do not match, or there is nothing to hold.
void check_input(const GraspSet& set, const SetStudy& study);

/// Number of load cases of each grasp, 1 without any. Throws Error if the numbers are not 0, 1, ..., k - 1 again and
/// again.
[[nodiscard]] std::int64_t count_load_cases(const GraspSet& set);

/// The random inputs of a study's samples.
[[nodiscard]] SetModel make_model(const SetStudy& study);

/// Whether contacts of a pad share a force limit; such sets are decided on the host.
[[nodiscard]] inline bool has_pads(const GraspSet& set) { return !set.pad.empty() && !set.force_limit.empty(); }

/// Reader of one grasp of a set.
class GraspReader {
 public:
  GraspReader(const GraspSet& set, Hand hand, std::int64_t g)
      : set_(set),
        hand_(hand),
        g_(g),
        row_(set.first[static_cast<std::size_t>(g)]),
        contacts_(set.first[static_cast<std::size_t>(g) + 1] - row_) {}

  [[nodiscard]] std::int64_t contacts() const { return contacts_; }
  /// Whether a contact bears a moment about its normal.
  [[nodiscard]] bool is_soft() const;
  /// `interior_grasp`: see SetStudy.
  [[nodiscard]] GraspStatus status(bool interior_grasp) const;
  template <int N>
  [[nodiscard]] SetGrasp<N> packed() const;
  /// The first contact of each contact's pad, whose contacts share one force limit; empty without such limits.
  [[nodiscard]] std::vector<int> pads() const;

 private:
  [[nodiscard]] Vec3<double> com() const;
  [[nodiscard]] Vec3<double> arm(std::int64_t row) const;
  [[nodiscard]] bool finite() const;
  [[nodiscard]] bool frames_exist() const;
  [[nodiscard]] SurfacePoint surface(std::int64_t row) const;
  [[nodiscard]] double reach() const;
  /// Largest normal force of contact j of its grasp, or of the contacts of its pad together: the least of theirs.
  [[nodiscard]] double force_limit(std::int64_t j) const;
  /// Radius of gyration; without an inertia, the contacts' root mean square distance from the center of mass. 0 if no
  /// body has this inertia. Moments divided by it are forces: it sets their weight in a residual, not the outcome.
  [[nodiscard]] double length() const;
  /// Whether the object's mass and inertia suffice for accelerations, if the hand needs them (not ideal).
  [[nodiscard]] bool is_body() const;
  /// Whether every normal points away from the center of mass, and not into the object if that is known.
  [[nodiscard]] bool outward() const;

  const GraspSet& set_;
  Hand hand_;
  std::int64_t g_, row_, contacts_;
};

}  // namespace garra::grasp
