// Inverse and forward kinematics of many platforms (docs/theory/platform.md). Rows that have no answer are NaN and say
// why in `status`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/batch/resident.hpp"
#include "garra/platform.hpp"
#include "garra/systems/platform/status.hpp"

namespace garra::platform {

/// "converged", "certified", "mode_suspect", "near_singular", "stalled", "iteration_limit", "invalid_input"
[[nodiscard]] const char* to_string(PoseStatus status);

/// Which equations.
enum class Form {
  kMinimal,  ///< six coordinates: the legs' apparent masses at their spherical joints
  kFull,     ///< the paper's 91 coordinates and Lagrange multipliers, (8)
};

/// The length that turns are scaled with where options give 0: root mean square distance of the platform's anchors from
/// their mean [m]. Of different platforms, that of the first.
[[nodiscard]] double characteristic_length(const Platform& platform);
[[nodiscard]] double characteristic_length(const Platforms& platforms, double asked);

struct InverseOptions {
  bool frames = false;               ///< frames, Euler angles and parameters, joint angles of the legs
  bool limits = false;               ///< mask and margins
  bool conditioning = false;         ///< determinant, condition, scaled smallest singular value and its direction
  double characteristic_length = 0;  ///< L that makes radians lengths in `conditioning` [m]; 0: the platform's own
  double near_singular = 1e-4;       ///< near singular: scaled sigma_min <= this, where `conditioning` is asked for
};

/// Motion of the platform: (v, w) and (dv/dt, dw/dt), base axes. Either may be empty.
struct Motion {
  std::vector<double> velocity, acceleration;  ///< [n,6]
};

struct InverseKinematics {
  std::vector<double> lengths;        ///< [n,6] [m]
  std::vector<double> rates;          ///< [n,6] where there is a velocity [m/s]
  std::vector<double> accelerations;  ///< [n,6] where there is an acceleration, and a velocity [m/s^2]
  // frames
  std::vector<double> leg_vector;      ///< [n,6,3] d
  std::vector<double> leg_quaternion;  ///< [n,6,4] Euler parameters of (x, y, z), e0 >= 0
  std::vector<double> leg_euler313;    ///< [n,6,3] psi, alpha, phi [rad]; alpha = 0: phi = 0
  std::vector<double>
      universal_angles;  ///< [n,6,2] about k (from the home direction) and about the leg's own x axis [rad]
  // conditioning, of the length Jacobian with its last three columns divided by the characteristic length
  std::vector<double> determinant;  ///< [n] of the plain Jacobian, which mixes m and rad: its sign tells modes apart
  std::vector<double> condition;    ///< [n] largest over smallest singular value, scaled
  std::vector<double> sigma_min;    ///< [n] scaled
  std::vector<double> free_motion;  ///< [n,6] unit right singular vector of sigma_min: (v, L w)
  // limits
  std::vector<std::uint32_t> mask;       ///< [n] LimitBits
  std::vector<double> stroke_margin;     ///< [n,6] to the nearer end; negative beyond [m]
  std::vector<double> universal_margin;  ///< [n,6] [rad]
  std::vector<double> spherical_margin;  ///< [n,6] [rad]
  std::vector<double> clearance;   ///< [n] smallest distance of two legs' surfaces [m]; infinite where not looked at
  std::vector<PoseStatus> status;  ///< [n] kConverged, kNearSingular (with `conditioning`) or kInvalidInput
};
[[nodiscard]] InverseKinematics inverse_kinematics(const Platforms& platforms, const Poses& poses, const Motion& motion,
                                                   const InverseOptions& options = {}, const Device& device = {});

struct ForwardOptions {
  double tol = 1e-12;  ///< converged: every |length - given| <= tol [m]
  int max_iterations = 40;
  double near_singular = 1e-4;       ///< near singular: scaled sigma_min <= this
  double characteristic_length = 0;  ///< [m]; 0: the platform's own
  /// Rows that took more iterations than this, or have not the lengths, are led from the guess to the lengths in proven
  /// steps, and Newton's method starts again; negative, or not below max_iterations: none. Not of arrays on the GPU.
  int plain_iterations = 5;
  bool certify = false;     ///< Kantorovich test at the guess, and the uniqueness radius at the solution
  bool prove_mode = false;  ///< where that does not hold, lead the squares of the lengths on a straight line from those
                            ///< of the guess in certified steps; needs certify
};

struct ForwardKinematics {
  Poses pose;
  std::vector<PoseStatus> status;
  std::vector<int> iterations;
  std::vector<double> residual;    ///< [n] largest |length - given| [m]
  std::vector<double> sigma_min;   ///< [n] scaled, at the result
  std::vector<double> uniqueness;  ///< [n] with certify: no other pose of these lengths within this radius (|dr|, L
                                   ///< |turn|) [m]; 0: none proven
};
/// Lengths [n,6]; the guess is a pose per sample, or one for all.
[[nodiscard]] ForwardKinematics forward_kinematics(const Platforms& platforms, const std::vector<double>& lengths,
                                                   const Poses& guess, const ForwardOptions& options = {},
                                                   const Device& device = {});

struct ModeOptions {
  ForwardOptions forward;
  int starts = 512;                   ///< random poses that the iteration starts from at first, per sample
  int often = 8;                      ///< the starts are doubled until every mode was found this often
  std::int64_t most_starts = 131072;  ///< per sample; no more than `starts` where that is larger
  std::uint64_t seed = 1;
  double same = 1e-6;  ///< two poses are one where they differ by no more (|dr|, L |turn|) [m]
};
/// Assembly modes: every pose found that has the lengths. A solution is certified, and listed once. Others may exist:
/// `missing` is an estimate from the modes that were found once or twice (A. Chao, Scand. J. Statist. 11, 1984).
struct AssemblyModes {
  std::vector<std::int64_t> first;  ///< [n+1] modes of sample i are rows first[i] .. first[i+1] - 1, by height of C
  Poses pose;
  std::vector<PoseStatus> status;  ///< kCertified where the uniqueness radius is positive
  std::vector<double> residual, determinant, sigma_min, uniqueness;
  std::vector<std::int64_t> found;   ///< per mode: starts that came to it
  std::vector<std::int64_t> starts;  ///< [n] that were made
  std::vector<double> missing;       ///< [n] estimate of the number of modes that were not found
};
[[nodiscard]] AssemblyModes assembly_modes(const Platforms& platforms, const std::vector<double>& lengths,
                                           const ModeOptions& options = {}, const Device& device = {});

// A platform whose poses are in memory of the GPU (docs/howto/gpu-arrays.md): the same numbers. All rows have one
// platform. What is null is not stored, or not given: a velocity, acceleration or wrench is zero then. Each call throws
// Error where a needed pointer is null, the workspace too small, or CUDA refuses; workspace_bytes() of the same
// arguments runs nothing and says how large it must be.

struct DevicePoses {
  std::int64_t count = 0;
  DeviceArray<const double> position = {};    ///< [count][3] of C, base axes [m]
  DeviceArray<const double> quaternion = {};  ///< [count][4] (e0, e1, e2, e3), of any length but zero
};
struct DeviceMotion {
  DeviceArray<const double> velocity = {};      ///< [count][6] v of C and w, base axes [m/s, rad/s]
  DeviceArray<const double> acceleration = {};  ///< [count][6] [m/s^2, rad/s^2]
};

/// As InverseKinematics; a row that is invalid is NaN.
struct DeviceLengths {
  DeviceArray<double> lengths = {};        ///< [count][6] [m]
  DeviceArray<double> rates = {};          ///< [count][6] [m/s]
  DeviceArray<double> accelerations = {};  ///< [count][6] [m/s^2]
  DeviceArray<PoseStatus> status = {};     ///< [count] kConverged or kInvalidInput
};
void inverse_kinematics(const Platform& platform, const DevicePoses& poses, const DeviceMotion& motion,
                        const DeviceLengths& to, const DeviceCall& call);
[[nodiscard]] std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses,
                                          const DeviceMotion& motion, const DeviceLengths& to, int device = 0);

/// As InverseKinematics with all its options.
struct DeviceDetails {
  DeviceArray<double> leg_vector = {}, leg_quaternion = {};          ///< [count][6 * 3] [m], [count][6 * 4]
  DeviceArray<double> leg_euler313 = {}, universal_angles = {};      ///< [count][6 * 3], [count][6 * 2] [rad]
  DeviceArray<double> determinant = {}, condition = {};              ///< [count]
  DeviceArray<double> sigma_min = {}, free_motion = {};              ///< [count], [count][6]
  DeviceArray<std::uint32_t> mask = {};                              ///< [count] LimitBits; 0 of an invalid row
  DeviceArray<double> stroke_margin = {};                            ///< [count][6] [m]
  DeviceArray<double> universal_margin = {}, spherical_margin = {};  ///< [count][6] [rad]
  DeviceArray<double> clearance = {};                                ///< [count] [m]
  DeviceArray<PoseStatus> status = {};                               ///< [count] kConverged or kInvalidInput
};
/// Characteristic length [m]: as in InverseOptions.
void inverse_details(const Platform& platform, const DevicePoses& poses, double characteristic_length,
                     const DeviceDetails& to, const DeviceCall& call);
[[nodiscard]] std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses,
                                          double characteristic_length, const DeviceDetails& to, int device = 0);

/// As ForwardKinematics.
struct DeviceFound {
  DeviceArray<double> position = {}, quaternion = {};  ///< [count][3], [count][4]
  DeviceArray<double> residual = {}, sigma_min = {};   ///< [count]
  DeviceArray<std::int32_t> iterations = {};           ///< [count]
  DeviceArray<PoseStatus> status = {};                 ///< [count]
  DeviceArray<double> uniqueness = {};                 ///< [count] with certify
};
/// Lengths [count][6]; a guess for each row, or one for all with `row = 0`; null: the home pose. kFull: as
/// forward_kinematics_full().
void forward_kinematics(const Platform& platform, const DeviceArray<const double>& lengths, const DevicePoses& guess,
                        const ForwardOptions& options, const DeviceFound& to, const DeviceCall& call,
                        Form form = Form::kMinimal);
[[nodiscard]] std::size_t workspace_bytes(const Platform& platform, const DeviceArray<const double>& lengths,
                                          const DevicePoses& guess, const ForwardOptions& options,
                                          const DeviceFound& to, int device = 0, Form form = Form::kMinimal);

}  // namespace garra::platform
