// Searches paths of a platform between two poses that pass no singular pose and keep the joints' limits. Estimates the
// probability that a path is feasible under uncertain inputs, and maps the workspace.
// Takes: a platform, two poses and PathSearch; or a Scenario: platform, Path or MapGrid, distributions, limits and
// plan. Gives: a PlannedPath, proven over its whole length; or a Study for study::run, which counts Outcomes;
// sample_path() gives the points of a path. Units and frames: SI, rad; base axes; poses of the unloaded platform's
// center of mass; quaternions scalar first; samples count from 0. Bad input: an inconsistent scenario throws Error. A
// sample with a number that is not finite is unsolved (kInvalid). Not for: single batches (platform_kinematics.hpp,
// platform_simulate.hpp), obstacles, or a proof that no path exists but by the sign of det J. Docs:
// docs/theory/platform.md ("Paths"), docs/reference/scenario.md (job = "platform"), docs/reference/platform-study.md.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "garra/core/names.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/study/distribution.hpp"
#include "garra/study/study.hpp"
#include "garra/systems/platform/control.hpp"

namespace garra::platform {

/// Path of the platform: poses of its own frame (the unloaded platform's center of mass), base
/// axes.
struct Path {
  enum class Kind {
    kStraight,  ///< position on a line, rotation about one fixed axis (slerp)
    kScrew,     ///< one screw motion from the first to the last pose
    kSpline,    ///< natural cubic spline through all poses at equal times; orientation by rotation vectors from pose to
                ///< pose
    kSampled,   ///< as kSpline, at given times
  };
  enum class Law {
    kQuintic,    ///< rest to rest, zero acceleration at both ends
    kTrapezoid,  ///< constant acceleration for a fifth of the time, constant speed, the same deceleration
    kUniform,    ///< constant speed
  };
  Kind kind = Kind::kStraight;
  Law law = Law::kQuintic;
  double duration = 1;       ///< [s]
  int instants = 101;        ///< evaluation times, both ends included
  Poses pose;                ///< two or more poses
  std::vector<double> time;  ///< kSampled: of each pose [s]
};
[[nodiscard]] constexpr auto names_of(Path::Kind) { return names("straight", "screw", "spline", "sampled"); }
[[nodiscard]] constexpr auto names_of(Path::Law) { return names("quintic", "trapezoid", "uniform"); }

/// Poses, velocities (v, w) and accelerations (dv/dt, dw/dt) at the instants, base axes: rows [t].
struct PathPoints {
  std::vector<double> time;
  Poses pose;
  std::vector<double> velocity, acceleration;  ///< [t,6]
};
/// Evaluates a path at its instants. @throws Error for an inconsistent path.
[[nodiscard]] PathPoints sample_path(const Path& path);

/// Options of find_path().
struct PathSearch {
  double near_singular = 0.02;       ///< scaled sigma_min > this all along
  double characteristic_length = 0;  ///< L that scales turns [m]; 0: the platform's own
  bool limits = true;                ///< strokes, cones and distances of legs are kept; false: det J alone
  int tries = 4000;                  ///< random poses, after the straight motion
  std::uint64_t seed = 1;            ///< of these poses
};

/// Whether a path leads from one pose to another.
enum class Reach : int {
  kReachable = 0,      ///< the path is given, and proven
  kNotFound,           ///< no path was found: nothing is proven
  kSeparate,           ///< det J has opposite signs: every path passes a singular pose, with any limits
  kOutOfLimits,        ///< an end breaks a limit: no path that keeps the limits exists
  kEndIsNearSingular,  ///< scaled sigma_min of an end is not above near_singular
};
[[nodiscard]] constexpr auto names_of(Reach) {
  return names("reachable", "not_found", "separate", "out_of_limits", "near_singular");
}

/// Result of find_path(). Between two rows C moves on a straight line, and the platform turns about a fixed axis.
struct PlannedPath {
  Reach reach = Reach::kNotFound;
  Poses pose;                        ///< from the first to the last pose; empty if not reachable
  double length = 0;                 ///< sum of sqrt(|shift|^2 + (L turn)^2) [m]
  double sigma_min = 0;              ///< least scaled sigma_min of the poses that the proof visits
  std::int64_t proof_steps = 0;      ///< poses that the proof of the path visits
  std::int64_t tries = 0;            ///< random poses that were drawn
  double characteristic_length = 0;  ///< L [m]
};

/// A path between two poses: the straight motion if it is possible, else by a search from both ends with random poses.
/// @throws Error kUsage for a pose that is not finite or an option out of range.
[[nodiscard]] PlannedPath find_path(const Platform& platform, const Place<double>& from, const Place<double>& to,
                                    const PathSearch& search = {});

/// `count` poses at equal distances along a path, and every one of its own poses; in order.
[[nodiscard]] Poses poses_along(const PlannedPath& path, int count);

/// Whether a path leads from the home pose of each mode's platform to the mode: a row per mode.
/// @throws Error as find_path().
[[nodiscard]] std::vector<Reach> reach_of_modes(const Platforms& platforms, const AssemblyModes& modes,
                                                const PathSearch& search = {}, const Device& device = {});

/// Uncertain inputs as distributions, constant by default. Every sample draws each of them once.
struct Uncertainty {
  study::Distribution payload_mass = study::Distribution::constant(0);   ///< [kg], fixed to the platform
  std::array<study::Distribution, 3> payload_com = {};                   ///< its center of mass, platform frame [m]
  double payload_radius = 0;                                             ///< radius of gyration of the payload [m]
  study::Distribution base_error = study::Distribution::constant(0);     ///< per coordinate of each base anchor [m]
  study::Distribution anchor_error = study::Distribution::constant(0);   ///< per coordinate of each platform anchor [m]
  study::Distribution mass_factor = study::Distribution::constant(1);    ///< on masses and inertias of all legs
  study::Distribution coulomb = study::Distribution::constant(0);        ///< friction of each actuator [N]
  study::Distribution viscous = study::Distribution::constant(0);        ///< [N s/m]
  study::Distribution force_radius = study::Distribution::constant(0);   ///< |disturbance force|, direction uniform [N]
  study::Distribution moment_radius = study::Distribution::constant(0);  ///< |disturbance moment| [N m]
  study::Distribution tilt =
      study::Distribution::constant(0);  ///< of gravity from nominal, about a uniform axis normal to it [rad]
};

/// Limits of a feasible sample.
struct Allowed {
  double force = 0;                  ///< |actuator force| <= this [N]; 0: no limit
  double near_singular = 0.02;       ///< scaled smallest singular value of the length Jacobian >= this
  double characteristic_length = 0;  ///< [m]; 0: the platform's own
  double position_error = 0;         ///< of a simulation from its path <= this [m]; 0: no limit
  double angle_error = 0;            ///< likewise [rad]
};

/// Workspace map: positions of the platform's own frame on a grid, each with random orientations.
struct MapGrid {
  Vec3<double> low = Vec3<double>::zero(), high = Vec3<double>::zero();  ///< [m]
  std::array<int, 3> points = {1, 1, 1};
  int orientations = 64;      ///< samples per node
  double tilt = 0, turn = 0;  ///< rotation about z within +-turn, tilt of z up to `tilt` in any direction [rad]
};

enum class Study { kPath, kMap };

/// Forward dynamics along the path in place of inverse dynamics: the machine of a sample moves under the forces of a
/// controller that knows the nominal machine (docs/theory/platform-control.md).
struct Simulation {
  bool on = false;
  Controller control;
  double force_factor = 1;     ///< kForces: times the forces that hold the nominal machine at the start
  std::vector<double> forces;  ///< kForces: [6] [N]; empty: the factor
};

/// Scenario of a platform study.
struct Scenario {
  std::string title;
  std::string model, model_file;  ///< name or file as in the scenario; file that was read
  Platform platform;
  Study kind = Study::kPath;
  Path path;
  MapGrid map;
  Vec3<double> tool = Vec3<double>::zero();  ///< point that path and map are of, and pivot of turns; platform frame [m]
  Simulation simulation;
  Uncertainty uncertain;
  Allowed allowed;
  study::Plan plan;  ///< kMap: samples = nodes x orientations
};

/// Outcome of a sample: its earliest violation along the path. Of several at one instant the first
/// in this order counts.
enum class Outcome : int {
  kFeasible = 0,
  kStroke,
  kCone,
  kCollision,
  kSingular,
  kForce,
  kTracking,
  kInvalid,  ///< unsolved: a number is not finite
};
inline constexpr int kOutcomes = 8;
/// "feasible", "stroke", "cone", "collision", "singular", "force_limit", "tracking", "invalid"
[[nodiscard]] const char* to_string(Outcome outcome);

/// Study for study::run (study/engine.hpp). @throws Error for an inconsistent scenario.
[[nodiscard]] std::unique_ptr<study::Study> make_study(const Scenario& scenario);

}  // namespace garra::platform

// Climbing: the two rings of a platform hold a trunk alternately (docs/theory/platform-climb.md). The frame of a ring
// is that of its legs' file (base, platform); the trunk is its z axis. A wrench is (force; moment) on the ring that
// holds. Pad forces are (n, t, o): n away from the trunk, t along it. Not for bent or elastic trunks and rings that
// turn.
namespace garra::study {
class RowStudy;
}

namespace garra::climb {

using study::Distribution;

inline constexpr int kMostPads = 8, kMostCycles = 20, kMostInstants = 1001;

/// Both rings: pads at equal angles that are pressed on the trunk and then locked.
struct Ring {
  int pads = 3;
  double height = 0;              ///< of the pads above the ring's frame [m]
  double force_limit = 6000;      ///< largest normal force of a pad [N]
  double normal_stiffness = 2e6;  ///< of a pad [N/m]
  double tangential_stiffness = 1e6;
  double mass = 25;                                          ///< its center of mass is its frame's origin [kg]
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
  double slip = 1e-3;                                            ///< largest slip of a pad while its ring holds [m]
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
