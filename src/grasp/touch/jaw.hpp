// One parallel jaw and one object: cells of the pads, collisions, closing, contacts.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "garra/grasp_touch.hpp"
#include "garra/math/pose.hpp"

namespace garra::grasp {

/// A cell of a pad whose ray met the object, in hand axes.
struct PadCell {
  double y, z, x;       ///< [m]; x of the object's surface
  Vec3<double> normal;  ///< outward
  double weight = 0;    ///< share of the pad's force
};

/// The cells of a pad that bear force.
struct Patch {
  std::vector<PadCell> cells;
  double x = 0;                   ///< of first touch [m]
  double y = 0, z = 0;            ///< center of pressure [m]
  double yy = 0, yz = 0, zz = 0;  ///< moments about it, over the force [m^2]
};

/// Contact of a pad, in hand axes.
struct PadContact {
  Vec3<double> point, normal;         ///< [m]; outward from the object
  std::array<double, 2> curvature{};  ///< of the object along z and across [1/m]
};

/// Closes one jaw at one pose.
class JawClosing {
 public:
  JawClosing(const mesh::Surface& object, const TouchOptions& options) : object_(object), o_(options) {}

  /// Result in the axes of the object, which may have turned: `hand` is the hand's pose in them.
  struct Result {
    TouchStatus status = TouchStatus::kNoTouch;
    Pose<double> hand;
    Patch patch[2];  ///< of the pads at +x and -x
    double collision = 0, turn = 0, shift = 0;
    Mat3<double> rotation = Mat3<double>::identity();  ///< from the object's axes before closing to those after it
  };
  [[nodiscard]] Result close(const Pose<double>& hand, const std::optional<Vec3<double>>& up) const;
  /// Contacts that have the force's center and moments: four points, fewer for a line or a point; one if soft.
  [[nodiscard]] std::vector<PadContact> contacts(const Patch& patch) const;

 private:
  struct Fit {
    bool touches = false;
    double shift = 0, depth = 0;
    bool collides = false;
  };
  /// Parallel rays in hand axes: from the middles of nu times nv equal cells of a rectangle.
  struct Rays {
    Vec3<double> corner, u, v;  ///< of the rectangle, and its sides [m]
    int nu, nv;
    Vec3<double> along;
    double most;
  };
  [[nodiscard]] static mesh::RayGrid to_grid(const Pose<double>& hand, const Rays& rays);
  [[nodiscard]] std::vector<mesh::GridHit> cast(const Pose<double>& hand, const Rays& rays) const;
  [[nodiscard]] Fit fit(const Pose<double>& hand) const;
  [[nodiscard]] double obstacle(const Pose<double>& hand) const;
  /// Patches of the pads at +x and -x.
  [[nodiscard]] std::array<Patch, 2> press(const Pose<double>& hand, double cell) const;
  void spread(double x, double dy, double dz, Patch& patch) const;
  /// Outward normal of the contacts of a patch, in hand axes.
  [[nodiscard]] Vec3<double> normal_of(const Patch& patch) const;
  [[nodiscard]] TouchStatus turn(Result& r, const std::optional<Vec3<double>>& up) const;

  const mesh::Surface& object_;
  const TouchOptions& o_;
};

}  // namespace garra::grasp
