// Computes inverse and forward kinematics of many platforms, with certificates, assembly modes and
// limits; of one pose the nearest singular pose and the stiffness.
// Takes: platforms; poses (position [n,3], quaternion [n,4]), or lengths [n,6] with an initial
// guess.
// Gives: lengths [n,6], rates, margins and conditioning, or poses and assembly modes, with one
// PoseStatus per row.
// Units and frames: SI, rad; base axes; twists (v, w) of C; quaternions scalar first; samples and
// legs count from 0.
// Bad input: wrong sizes throw Error(kUsage). A row of bad numbers is NaN with kInvalidInput. A
// forward search that fails (kStalled, kIterationLimit) holds its last pose and residual.
// kModeSuspect and kNearSingular poses have the lengths, but may be of another mode or ill
// determined.
// Not for: all assembly modes with proof of completeness: AssemblyModes::missing is an estimate.
// Docs: docs/theory/platform.md, docs/howto/gpu-arrays.md.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/batch/resident.hpp"
#include "garra/platform.hpp"
#include "garra/systems/platform/status.hpp"

namespace garra::platform {

/// "converged", "certified", "mode_suspect", "near_singular", "stalled", "iteration_limit",
/// "invalid_input"
[[nodiscard]] const char* to_string(PoseStatus status);

/// Formulation of the equations.
enum class Form {
  kMinimal,  ///< six coordinates: the legs' apparent masses at their spherical joints
  kFull,     ///< the paper's 91 coordinates and Lagrange multipliers, (8)
};

/// Default length that scales rotations: root mean square distance of the platform's anchors from
/// their mean [m].
[[nodiscard]] double characteristic_length(const Platform& platform);
/// `asked` [m], or for 0 the default of the first platform.
[[nodiscard]] double characteristic_length(const Platforms& platforms, double asked);

/// Optional outputs of inverse_kinematics().
struct InverseOptions {
  bool frames = false;        ///< frames, Euler angles and parameters, joint angles of the legs
  bool limits = false;        ///< mask and margins
  bool conditioning = false;  ///< determinant, condition, scaled smallest singular value and its direction
  double characteristic_length =
      0;                        ///< L that converts radians to lengths in `conditioning` [m]; 0: the platform's own
  double near_singular = 1e-4;  ///< near singular: scaled sigma_min <= this, with `conditioning`
};

/// Motion of the platform: (v, w) and (dv/dt, dw/dt), base axes. Either may be empty.
struct Motion {
  std::vector<double> velocity, acceleration;  ///< [n,6]
};

/// Result of inverse_kinematics().
struct InverseKinematics {
  std::vector<double> lengths;        ///< [n,6] [m]
  std::vector<double> rates;          ///< [n,6] with a velocity [m/s]
  std::vector<double> accelerations;  ///< [n,6] with a velocity and an acceleration [m/s^2]
  // frames
  std::vector<double> leg_vector;      ///< [n,6,3] d
  std::vector<double> leg_quaternion;  ///< [n,6,4] Euler parameters of (x, y, z), e0 >= 0
  std::vector<double> leg_euler313;    ///< [n,6,3] psi, alpha, phi [rad]; alpha = 0: phi = 0
  /// [n,6,2] about k (from the home direction) and about the leg axis x, which Leg of platform.hpp
  /// defines [rad]
  std::vector<double> universal_angles;
  // conditioning, of the length Jacobian with its last three columns divided by the characteristic
  // length
  std::vector<double> determinant;  ///< [n] of the unscaled Jacobian (m and rad mixed); its sign distinguishes modes
  std::vector<double> condition;    ///< [n] largest over smallest singular value, scaled
  std::vector<double> sigma_min;    ///< [n] scaled
  std::vector<double> free_motion;  ///< [n,6] unit right singular vector of sigma_min: (v, L w)
  // limits
  std::vector<std::uint32_t> mask;       ///< [n] LimitBits
  std::vector<double> stroke_margin;     ///< [n,6] to the nearer end; negative beyond [m]
  std::vector<double> universal_margin;  ///< [n,6] [rad]
  std::vector<double> spherical_margin;  ///< [n,6] [rad]
  std::vector<double>
      clearance;  ///< [n] smallest distance of two legs' surfaces [m]; infinite without a collision check
  std::vector<PoseStatus> status;  ///< [n] kConverged, kNearSingular (with `conditioning`) or kInvalidInput
};
/// Leg lengths of given poses.
/// @param poses position [n,3] in m and quaternion [n,4].
/// @param motion velocity and acceleration [n,6], or empty.
/// @return lengths [n,6] in m, the outputs of `options`, and one PoseStatus per row.
/// @throws Error kUsage for sizes, kNoDevice if the device cannot run.
[[nodiscard]] InverseKinematics inverse_kinematics(const Platforms& platforms, const Poses& poses, const Motion& motion,
                                                   const InverseOptions& options = {}, const Device& device = {});

/// Options of forward_kinematics().
struct ForwardOptions {
  double tolerance = 1e-12;  ///< converged: every |length - given| <= tolerance [m]
  int max_iterations = 40;
  double near_singular = 1e-4;       ///< near singular: scaled sigma_min <= this
  double characteristic_length = 0;  ///< [m]; 0: the platform's own
  /// Rows that need more Newton iterations than this, or miss the lengths, are solved again: by
  /// continuation in proven steps from the guess, then by restarts. Negative, or >= max_iterations:
  /// off. Not for Form::kFull.
  int plain_iterations = 5;
  bool certify = false;  ///< Kantorovich test at the guess, and the uniqueness radius at the solution
  /// If the test fails: continuation on a straight line of squared lengths, from the guess, in
  /// certified steps. kCertified if it arrives, else kModeSuspect. Needs certify.
  bool certify_mode = false;
};

/// Result of forward_kinematics().
struct ForwardKinematics {
  Poses pose;
  std::vector<PoseStatus> status;
  std::vector<int> iterations;
  std::vector<double> residual;    ///< [n] largest |length - given| [m]
  std::vector<double> sigma_min;   ///< [n] scaled, at the result
  std::vector<double> uniqueness;  ///< [n] with certify: no other pose with these lengths in this radius (|dr|, L
                                   ///< |turn|) [m]; 0: none proven
};
/// Poses with given leg lengths, by Newton's method.
/// @param lengths [n,6] in m.
/// @param guess initial guess: a pose per sample, or one for all.
/// @return poses, residuals and one PoseStatus per row.
/// @throws Error kUsage for sizes or options, kNoDevice if the device cannot run.
[[nodiscard]] ForwardKinematics forward_kinematics(const Platforms& platforms, const std::vector<double>& lengths,
                                                   const Poses& guess, const ForwardOptions& options = {},
                                                   const Device& device = {});

/// Options of assembly_modes().
struct ModeOptions {
  ForwardOptions forward;
  int starts = 512;                   ///< random initial guesses of the first round, per sample
  int often = 8;                      ///< starts are doubled until every mode is found this often
  std::int64_t most_starts = 131072;  ///< largest number per sample; at least `starts`
  std::uint64_t seed = 1;
  double same = 1e-6;  ///< poses closer than this are equal (|dr|, L |turn|) [m]
};
/// Assembly modes: the distinct poses found with the given lengths. More modes may exist: `missing`
/// is an estimate from the modes found once or twice (A. Chao, Scand. J. Statist. 11, 1984).
struct AssemblyModes {
  std::vector<std::int64_t> first;  ///< [n+1] modes of sample i are rows first[i] .. first[i+1] - 1, by height of C
  Poses pose;
  std::vector<PoseStatus> status;  ///< kCertified where the uniqueness radius is positive
  std::vector<double> residual, determinant, sigma_min, uniqueness;
  std::vector<std::uint32_t> mask;   ///< LimitBits that the mode breaks
  std::vector<std::int64_t> found;   ///< per mode: starts that converged to it
  std::vector<std::int64_t> starts;  ///< [n] number of starts
  std::vector<double> missing;       ///< [n] estimated number of modes not found
};
/// Searches assembly modes from random initial guesses.
/// @param lengths [n,6] in m.
/// @return modes per sample with certificates.
/// @throws Error kUsage for sizes or options, kNoDevice if the device cannot run.
[[nodiscard]] AssemblyModes assembly_modes(const Platforms& platforms, const std::vector<double>& lengths,
                                           const ModeOptions& options = {}, const Device& device = {});

/// Singular pose next to a pose, and the way to singular poses along the axes. A rigid motion u = (shift of C, L turn)
/// has the length |u|; the turn is a rotation vector, and both are in base axes.
struct NearestSingularPose {
  bool found = false;                         ///< false: none within `reach`; the members up to `mask` hold nothing
  Place<double> place;                        ///< the singular pose
  double distance = 0;                        ///< length of the motion to it [m]; 0: the pose itself is singular
  Vec3<double> shift = Vec3<double>::zero();  ///< of C [m]
  Vec3<double> turn = Vec3<double>::zero();   ///< [rad]
  std::uint32_t mask = 0;                     ///< LimitBits that are broken there
  double length = 0;                          ///< L [m]
  double reach = 0;                           ///< longest motion that was searched [m]
  /// Motions along x, y, z [m] and about x, y, z through C [rad] to the first singular pose: forward, backward.
  /// Infinite: none within `reach`.
  std::array<std::array<double, 2>, 6> along_axes{};
};
/// @param characteristic_length L [m]; 0: the platform's own.
/// @throws Error kUsage for a pose that is not finite.
[[nodiscard]] NearestSingularPose nearest_singular_pose(const Platform& platform, const Place<double>& place,
                                                        double characteristic_length = 0);

/// Stiffness K = J^T diag(k) J of a platform with elastic legs: a small motion (shift of C; turn) changes the wrench
/// (force; moment at C) of the legs on the platform by -K times it. Legs carry no load.
/// @param leg_stiffness k of each leg, along it [N/m].
/// @throws Error kUsage for a pose that is not finite, or a stiffness that is not a number of at least 0.
[[nodiscard]] Mat<double, 6, 6> stiffness(const Platform& platform, const Place<double>& place,
                                          const std::array<double, kLegs>& leg_stiffness);

// One platform with poses in GPU memory (docs/howto/gpu-arrays.md); results have the same bits.
// Null outputs are not stored; a null velocity, acceleration or wrench is zero. Each call throws
// Error for a null required pointer, a small workspace, or a CUDA error. workspace_bytes() of the
// same arguments returns the bytes needed and runs nothing.

/// Poses in GPU memory, as Poses.
struct DevicePoses {
  std::int64_t count = 0;
  DeviceArray<const double> position = {};    ///< [count][3] of C, base axes [m]
  DeviceArray<const double> quaternion = {};  ///< [count][4] (e0, e1, e2, e3), of any length but zero
};
struct DeviceMotion {
  DeviceArray<const double> velocity = {};      ///< [count][6] v of C and w, base axes [m/s, rad/s]
  DeviceArray<const double> acceleration = {};  ///< [count][6] [m/s^2, rad/s^2]
};

/// Lengths in GPU memory, as InverseKinematics; an invalid row is NaN.
struct DeviceLengths {
  DeviceArray<double> lengths = {};        ///< [count][6] [m]
  DeviceArray<double> rates = {};          ///< [count][6] [m/s]
  DeviceArray<double> accelerations = {};  ///< [count][6] [m/s^2]
  DeviceArray<PoseStatus> status = {};     ///< [count] kConverged or kInvalidInput
};
/// Queues inverse_kinematics() without options.
void inverse_kinematics(const Platform& platform, const DevicePoses& poses, const DeviceMotion& motion,
                        const DeviceLengths& to, const DeviceCall& call);
[[nodiscard]] std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses,
                                          const DeviceMotion& motion, const DeviceLengths& to, int device = 0);

/// Details in GPU memory, as InverseKinematics with all options.
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
/// Queues inverse_kinematics() with all options. Characteristic length [m]: as in InverseOptions.
void inverse_details(const Platform& platform, const DevicePoses& poses, double characteristic_length,
                     const DeviceDetails& to, const DeviceCall& call);
[[nodiscard]] std::size_t workspace_bytes(const Platform& platform, const DevicePoses& poses,
                                          double characteristic_length, const DeviceDetails& to, int device = 0);

/// Poses found, in GPU memory, as ForwardKinematics.
struct DeviceFound {
  DeviceArray<double> position = {}, quaternion = {};  ///< [count][3], [count][4]
  DeviceArray<double> residual = {}, sigma_min = {};   ///< [count]
  DeviceArray<std::int32_t> iterations = {};           ///< [count]
  DeviceArray<PoseStatus> status = {};                 ///< [count]
  DeviceArray<double> uniqueness = {};                 ///< [count] with certify
};
/// Queues forward_kinematics(), or forward_kinematics_full() for kFull. Lengths [count][6] in m.
/// The guess is one pose per row, or one for all with DeviceArray::row = 0 (row stride); null: the
/// home pose.
void forward_kinematics(const Platform& platform, const DeviceArray<const double>& lengths, const DevicePoses& guess,
                        const ForwardOptions& options, const DeviceFound& to, const DeviceCall& call,
                        Form form = Form::kMinimal);
[[nodiscard]] std::size_t workspace_bytes(const Platform& platform, const DeviceArray<const double>& lengths,
                                          const DevicePoses& guess, const ForwardOptions& options,
                                          const DeviceFound& to, int device = 0, Form form = Form::kMinimal);

// Arrays of results: files, JSON and Python follow from these lists. A result in GPU memory has members of the same
// names.

/// Axes behind the axis of samples: {} for a number per sample, {6, 3} for a vector per leg.
using Axes = std::initializer_list<std::size_t>;

template <class R, class... T>
concept OneOf = (std::same_as<std::remove_const_t<R>, T> || ...);

/// Positions and quaternions: members of Poses, or of a struct of device arrays.
template <class R, class F>
void each_pose_array(R& r, const F& array) {
  if constexpr (requires { r.pose; }) {
    each_pose_array(r.pose, array);
  } else {
    array("position", r.position, Axes{3});
    array("quaternion", r.quaternion, Axes{4});
  }
}

/// Calls array(name, member, axes) for each array of a result, in the order of files; the status comes last.
template <OneOf<DeviceLengths, InverseKinematics> R, class F>
void each_length_array(R& r, const F& array) {
  array("lengths", r.lengths, Axes{6});
  array("length_rates", r.rates, Axes{6});
  array("length_accelerations", r.accelerations, Axes{6});
}
template <OneOf<DeviceDetails, InverseKinematics> R, class F>
void each_detail_array(R& r, const F& array) {
  array("leg_vector", r.leg_vector, Axes{6, 3});
  array("leg_quaternion", r.leg_quaternion, Axes{6, 4});
  array("leg_euler313", r.leg_euler313, Axes{6, 3});
  array("universal_angles", r.universal_angles, Axes{6, 2});
  array("determinant", r.determinant, Axes{});
  array("condition", r.condition, Axes{});
  array("sigma_min", r.sigma_min, Axes{});
  array("free_motion", r.free_motion, Axes{6});
  array("stroke_margin", r.stroke_margin, Axes{6});
  array("universal_margin", r.universal_margin, Axes{6});
  array("spherical_margin", r.spherical_margin, Axes{6});
  array("clearance", r.clearance, Axes{});
  array("limit_mask", r.mask, Axes{});
}
template <OneOf<DeviceLengths, DeviceDetails, InverseKinematics> R, class F>
void each_array(R& r, const F& array) {
  if constexpr (requires { r.lengths; }) each_length_array(r, array);
  if constexpr (requires { r.mask; }) each_detail_array(r, array);
  array("status", r.status, Axes{});
}
template <OneOf<DeviceFound, ForwardKinematics> R, class F>
void each_array(R& r, const F& array) {
  each_pose_array(r, array);
  array("iterations", r.iterations, Axes{});
  array("residual", r.residual, Axes{});
  array("sigma_min", r.sigma_min, Axes{});
  array("uniqueness", r.uniqueness, Axes{});
  array("status", r.status, Axes{});
}
/// Of modes, without the first mode of each sample.
template <OneOf<AssemblyModes> R, class F>
void each_array(R& r, const F& array) {
  each_pose_array(r, array);
  array("residual", r.residual, Axes{});
  array("determinant", r.determinant, Axes{});
  array("sigma_min", r.sigma_min, Axes{});
  array("uniqueness", r.uniqueness, Axes{});
  array("limit_mask", r.mask, Axes{});
  array("found", r.found, Axes{});
  array("status", r.status, Axes{});
}

}  // namespace garra::platform
