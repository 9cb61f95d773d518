// Forward kinematics, dynamics and trajectories of the same platform by Simbody. Optional: where it is not installed,
// simbody_absent.cpp stands in.
// Plain arrays and no header of garra: Simbody's headers are C++17, ours C++20.
#pragma once

#include <array>
#include <memory>

namespace garra::bench::simbody_peer {

/// False where the project was built without Simbody.
[[nodiscard]] bool available();

using Numbers3 = std::array<double, 3>;
using Numbers4 = std::array<double, 4>;
using Numbers6 = std::array<double, 6>;

struct Link {
  double mass, com;  ///< com: along the leg from the link's own joint, toward the other one [m]
  Numbers3 inertia;  ///< about the center of mass, leg frame
};
struct Leg {
  Numbers3 base, anchor, axis;
  Link lower, upper;
};
struct Model {
  std::array<Leg, 6> leg;
  double mass;
  Numbers6 inertia;  ///< xx, yy, zz, xy, xz, yz
  Numbers3 gravity;
};
struct Place {
  Numbers3 r;
  Numbers4 p;  ///< scalar first
};

/// Six trees of universal joint and slider, a free platform, and a ball constraint at each rod's end.
class Machine {
 public:
  /// `home` tells the universal joints' zero: the legs' directions there.
  Machine(const Model& model, const Place& home);
  ~Machine();
  /// Sliders locked at the lengths, all else from the guess, projected onto the constraints to `tolerance`.
  [[nodiscard]] Place forward_kinematics(const Numbers6& lengths, const Place& guess, double tolerance);
  /// (dv/dt, dw/dt) in base axes of a platform at rest.
  [[nodiscard]] Numbers6 acceleration(const Place& place, const Numbers6& force);
  /// Where it is at `duration`, from rest, by Runge-Kutta-Merson at the given accuracy.
  [[nodiscard]] Place trajectory(const Place& place, const Numbers6& force, double until, double accuracy);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace garra::bench::simbody_peer
