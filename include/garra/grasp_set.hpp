// Sets of candidate grasps: for each, the probability that it holds, and their ranking (docs/grasp-sets.md).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/core/names.hpp"
#include "garra/study/distribution.hpp"

namespace garra::grasp {

/// G grasps with any numbers of contacts, in SI units and axes of the object's. The hand is ideal: it presses with any
/// forces that friction allows. What may be left out is empty.
struct Set {
  std::vector<std::int64_t> first;  ///< [g+1] rows of grasp g: first[g] ... first[g+1] - 1 of m
  std::vector<double> point;        ///< [m][3] [m]
  std::vector<double> normal;       ///< [m][3] into the object
  std::vector<double> tangent;      ///< [m][3] direction t of curvature and slide; none: any
  std::vector<double> friction;     ///< [m] coefficient
  std::vector<double> curvature;    ///< [m][2] of the surface along t and o = n x t, positive where it is convex [1/m]
  std::vector<double> force_limit;  ///< [m] of the normal force [N]; none: no limit
  std::vector<double> mass;         ///< [g] [kg]
  std::vector<double> com;          ///< [g][3] centre of mass [m]; none: the origin
  std::vector<double> inertia;      ///< [g][3][3] about it [kg m^2]: its radius of gyration makes moments forces
  std::vector<double> gravity;      ///< [g][3] [m/s^2]; none: (0, 0, -9.81)
  std::vector<double> wrench;       ///< [g][6] external (force; moment about the centre of mass) [N, N m]

  [[nodiscard]] std::int64_t count() const { return first.empty() ? 0 : std::ssize(first) - 1; }
};

/// What is uncertain, and how it is computed. Sample i of one grasp has the same draws as sample i of any other, so
/// that differences between grasps are sharper than the probabilities themselves.
struct SetStudy {
  using Distribution = study::Distribution;
  Distribution friction = Distribution::constant(1);  ///< all contacts': a factor, or the coefficient itself
  bool friction_is_factor = true;
  Distribution contact_friction = Distribution::constant(1);  ///< a further factor on each contact's
  Distribution mass = Distribution::constant(1);              ///< a factor, or the mass itself [kg]
  bool mass_is_factor = true;
  double com_ball = 0;  ///< the centre of mass is off, uniform in a ball of this radius [m]
  Distribution slide_t = Distribution::constant(0);  ///< of each contact point along the surface [m]
  Distribution slide_o = Distribution::constant(0);
  Distribution tilt = Distribution::constant(0);  ///< of each true normal, towards any side [rad]
  double force_ball = 0, torque_ball = 0;         ///< disturbance, uniform in balls of these radii [N, N m]
  bool any_gravity = false;                       ///< gravity from a direction uniform on the sphere
  std::int64_t samples = 1000;                    ///< of each grasp
  std::int64_t friction_samples = 100;  ///< the first so many of them are also asked for the friction that they need
  std::uint64_t seed = 1;
  /// Above 0: only so many best grasps are wanted. Grasps that are surely not among them are given up early, and the
  /// ranking ends when the others are found; `samples` is then the most for each grasp.
  std::int64_t best = 0;
  double confidence = 0.95;  ///< that none of the true best is given up, and of all intervals
};

/// Why a grasp has a place in the ranking or not.
enum class GraspStatus : std::uint8_t {
  kRanked,
  kNoContact,
  kTooManyContacts,  ///< more than kMostSetContacts
  kNotFinite,        ///< a number of it is NaN or infinite (a force limit may be infinite)
  kBadNormal,        ///< a normal is zero, or a tangent parallel to its normal
  kBadFriction,      ///< a coefficient or force limit is negative
  kBadMass,          ///< negative, or an inertia that no body has
  kOutwardNormals,   ///< every normal points away from the centre of mass
  kMillimeters,      ///< a contact is more than kMostReach away from the centre of mass
};
[[nodiscard]] constexpr auto names_of(GraspStatus) {
  return names("ranked", "no_contact", "too_many_contacts", "not_finite", "bad_normal", "bad_friction", "bad_mass",
               "outward_normals", "millimeters");
}
inline constexpr int kMostSetContacts = 32;
inline constexpr double kMostReach = 10;     ///< [m]
inline constexpr double kMostFriction = 10;  ///< up to which a friction is sought that would do

/// One entry per grasp. Where its status is not kRanked: NaN, and rank 0.
struct Ranking {
  std::vector<GraspStatus> status;
  std::vector<std::int64_t> held, unsolved;  ///< samples
  std::vector<std::int64_t> samples;         ///< of each grasp
  std::vector<double> p_held;                ///< share of the decided samples whose wrench forces in the cones balance
  /// 95 % interval (Wilson's; where `best` is asked for one that may be looked at at any time); unsolved samples widen
  /// it
  std::vector<double> low, high;
  std::vector<double> difference;                       ///< p_held less the best grasp's, of samples that both decide
  std::vector<double> difference_low, difference_high;  ///< 95 % interval from the same draws (Agresti and Min, 2005)
  /// 5, 50, 95 % quantiles of the least friction coefficient, the same at all contacts, with which a sample is held;
  /// infinity: none up to kMostFriction does.
  std::vector<std::array<double, 3>> critical_friction;
  /// 1 is the best: most probable, then the one that needs the least friction. Where `best` is asked for, the order of
  /// those given up is that of how long they lasted.
  std::vector<std::int64_t> rank;
  bool decided = true;  ///< `best`: the best are found; else the samples have ended before that
};

/// Told now and then how many grasps are decided. What it throws ends the ranking.
using SetProgress = std::function<void(std::int64_t)>;

/// Ranks all of them. Throws Error (kInvalidFile: sizes that do not fit, named with the array and row; kUsage: nothing
/// to hold against; kNoDevice).
[[nodiscard]] Ranking rank(const Set& set, const SetStudy& study, const Device& device = {},
                           const SetProgress& progress = {});

}  // namespace garra::grasp
