// From the arrays of a set to its grasps, and from what is uncertain to what samples draw. Host only.
#pragma once

#include <cstdint>

#include "garra/grasp_set.hpp"
#include "grasp/set/model.hpp"

namespace garra::grasp {

/// Throws Error where sizes do not fit, or there is nothing to hold.
void check_input(const Set& set, const SetStudy& study);

/// What the samples of a study draw.
[[nodiscard]] SetModel model_of(const SetStudy& study);

/// One grasp of a set.
class GraspReader {
 public:
  GraspReader(const Set& set, Hand hand, std::int64_t g)
      : set_(set),
        hand_(hand),
        g_(g),
        row_(set.first[static_cast<std::size_t>(g)]),
        contacts_(set.first[static_cast<std::size_t>(g) + 1] - row_) {}

  [[nodiscard]] std::int64_t contacts() const { return contacts_; }
  /// Whether a contact bears a moment about its normal.
  [[nodiscard]] bool is_soft() const;
  /// `from_within`: see SetStudy.
  [[nodiscard]] GraspStatus status(bool from_within) const;
  template <int N>
  [[nodiscard]] SetGrasp<N> packed() const;

 private:
  [[nodiscard]] Vec3<double> com() const;
  [[nodiscard]] Vec3<double> arm(std::int64_t row) const;
  [[nodiscard]] bool finite() const;
  [[nodiscard]] bool frames_exist() const;
  [[nodiscard]] SurfacePoint surface(std::int64_t row) const;
  [[nodiscard]] double reach() const;
  /// Radius of gyration; without an inertia, the contacts' root mean square distance from the centre of mass. 0 where
  /// there is no such body. Moments over it are forces: it decides how they weigh in a residual, not what is held.
  [[nodiscard]] double length() const;
  /// Whether the object can be accelerated, where it is: by a hand that is not ideal.
  [[nodiscard]] bool is_body() const;
  /// Whether every normal points away from the centre of mass, and not into the object where that is known.
  [[nodiscard]] bool outward() const;

  const Set& set_;
  Hand hand_;
  std::int64_t g_, row_, contacts_;
};

}  // namespace garra::grasp
