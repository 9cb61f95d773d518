// Estimates the probability that a six-legged platform climbs a trunk: its two rings hold alternately
// (docs/theory/platform-climb.md).
// Takes: a Scenario: a platform with masses, its rings, the gait, distributions, limits.
// Gives: P(climbed) with the first failure of each sample, friction margins and actuator forces; the nominal cycle.
// Units and frames: SI. The frame of a ring is that of its legs' file (base, platform); the trunk is its z axis. A
// wrench is (force; moment) on the ring that holds. Pad forces are (n, t, o): n away from the trunk, t along it.
// Bad input: fewer than three pads and platforms without masses throw Error(kUsage). Samples without an answer widen
// the interval.
// Not for: bent or elastic trunks, a wall, rings that turn.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "garra/platform.hpp"
#include "garra/study/system.hpp"

namespace garra::climb {

using study::Distribution;

inline constexpr int kMostPads = 8, kMostCycles = 20, kMostInstants = 1001;

/// Both rings: pads at equal angles that are pressed on the trunk and then locked.
struct Ring {
  int pads = 3;
  double height = 0;                 ///< of the pads above the ring's frame [m]
  double force_limit = 6000;         ///< largest normal force of a pad [N]
  double normal_stiffness = 2e6;     ///< of a pad [N/m]
  double tangential_stiffness = 1e6;
  double mass = 25;                  ///< its center of mass is its frame's origin [kg]
  Distribution trunk_radius = Distribution::constant(0.15);  ///< [m]
  Distribution squeeze = Distribution::constant(2000);       ///< of each pad before the load comes, drawn per hold [N]
  Distribution friction = Distribution::constant(0.5);       ///< of each pad, drawn per hold
};

/// A cycle: the upper ring goes up while the lower one holds, then the lower ring follows.
struct Gait {
  double low = 1.1;     ///< distance of the rings' frames at the start of a cycle [m]
  double stride = 0.4;  ///< climbed in a cycle [m]
  double duration = 2;  ///< of each of the two moves, from rest to rest [s]
  int instants = 41;    ///< of each move, both ends included
  int cycles = 5;
};

struct Scenario {
  std::string title, model, model_file;
  platform::Platform platform;  ///< its base is the lower ring, its platform the upper one
  Ring ring;
  Gait gait;
  Distribution payload = Distribution::constant(0);  ///< mass fixed to the upper ring [kg]
  std::array<Distribution, 3> payload_com = {};      ///< its center of mass in the ring's frame [m]
  Distribution push = Distribution::constant(0);     ///< horizontal force on the upper ring, of any direction [N]
  double force_limit = std::numeric_limits<double>::infinity();  ///< of every actuator [N]
  double near_singular = 0.02;                                   ///< singular: scaled sigma_min < this
  double slip = 1e-3;  ///< largest slip of a pad while its ring holds [m]
  study::Plan plan;
};

/// The cycle with every input at its median and without push; [t] over both moves.
struct Series {
  std::vector<double> time, lower, upper;  ///< [t] [s]; heights of the rings' frames [m]
  std::vector<double> force;               ///< [t,6] of the actuators [N]
  std::vector<double> wrench;              ///< [t,6] on the ring that holds [N; N m]
  std::vector<double> friction_margin;     ///< [t] 1 - |c_T| / (mu c_n) of the pad nearest to slipping
  std::vector<double> sigma_min;           ///< [t] scaled
};

/// The study of a scenario, on every executor. Outcomes: climbed; the first failure in time: limit (stroke, cone or
/// collision of legs), singular, force, not_resisted (no pad forces balance the wrench), slips.
/// @throws Error kUsage for a scenario that no study can be made of.
[[nodiscard]] std::unique_ptr<study::RowStudy> make_study(const Scenario& scenario);
[[nodiscard]] Series nominal(const Scenario& scenario);

/// The same machine with its upper ring as base: the lower ring, of `mass` [kg], moves. Its inertia is that of the
/// platform, scaled by the mass. Universal joints stay at the base.
[[nodiscard]] platform::Platform inverted(const platform::Platform& platform, double mass);

}  // namespace garra::climb
