// Measures the distance to singularity of many configurations of one arm, finds the nearest
// singularities, and maps counts.
// Takes: a Robot and q [n,j]; for a map a MapScenario.
// Gives: smallest singular value, condition and manipulability [n]; nearest singularity with
// distance and analysis; a Study for study::run.
// Units and frames: q in rad or m; world axes; wrenches are (force times L; moment about the
// center); joints count from 0, also in error texts.
// Bad input: bad options and arms without a kernel throw Error. Rows without an answer are marked
// (NaN, 0, -1: see each array).
// Not for: arms without a kernel (generic rank below 3; on a GPU or with more than 6 joints: below
// 6); coupled joints; exact answers at one configuration (singularity.hpp).
// Docs: docs/theory/singularity-maps.md, docs/howto/gpu-arrays.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/batch/resident.hpp"
#include "garra/chain.hpp"
#include "garra/core/names.hpp"
#include "garra/study/study.hpp"

namespace garra::singularity {

/// Rule for the center and the unit of length of the scaled screws, the same at every
/// configuration.
struct MapScaling {
  enum class Center {
    kNatural,  ///< the point nearest to all revolute axes, in least squares
    kTool,     ///< the tool point
    kJoint,    ///< the origin of a joint's frame, for example the center of a spherical wrist
  };
  Center center = Center::kNatural;
  int joint = 0;                 ///< kJoint: number of the joint, from 0
  std::optional<double> length;  ///< L [m]; unset: root mean square distance of the revolute axes to the center
};

/// Precision of the first pass, over all configurations. The second pass is always in double.
enum class Precision { kDouble, kSingle };
[[nodiscard]] constexpr auto names_of(Precision) { return names("fp64", "fp32"); }

/// Options of both passes.
struct MeasureOptions {
  MapScaling scaling;
  double near = 0.02;        ///< near a singularity: sigma_g <= near * sigma_1
  double tolerance = 1e-10;  ///< singular: sigma_g <= tolerance * sigma_1
  Precision precision = Precision::kDouble;
};

/// Result of the first pass over n configurations. A row with a joint value that is not finite is
/// NaN.
struct Measures {
  std::vector<double> sigma_min;          ///< [n] sigma_g, g the generic rank
  std::vector<double> inverse_condition;  ///< [n] sigma_g / sigma_1
  std::vector<double> manipulability;     ///< [n] product of sigma_1 ... sigma_g
  std::vector<double> tool;               ///< [n,3] tool point, world axes [m]
};
/// First pass: measures of singularity at every configuration.
/// @param q joint values [n, j] in rad or m.
/// @return singular value, condition and manipulability [n], and the tool point [n,3] in world axes
///         [m].
/// @throws Error kUsage for shapes, options out of range or an arm without batch kernel; kNoDevice
///         on a GPU if the generic rank is below 6.
[[nodiscard]] Measures measure(const chain::Robot& robot, const std::vector<double>& q, const MeasureOptions& options,
                               const Device& device);

/// Status of the search for the nearest singularity.
enum class SearchStatus : std::uint8_t {
  kConverged = 0,  ///< `singular_q` is a singular configuration to `tolerance`
  kDiverged,       ///< not converged within the iterations, or farther than one radian
  kNonFinite,      ///< a joint value is not finite
};

/// Result of the second pass: the singularity next to each of n configurations, and its analysis.
/// Newton's method finds it by least joint motion; a prismatic joint moves in units of L.
///
/// A row without kConverged holds NaN in real numbers, 0 in counts and masks, and -1 in escape_joint
/// and subset_last.
struct NearSingularities {
  std::vector<SearchStatus> search_status;  ///< [n]
  std::vector<double> singular_q;           ///< [n,j]
  std::vector<double> distance;             ///< [n] length of the joint motion to it [rad]
  std::vector<int> lost;                    ///< [n] lost degrees of freedom at it
  /// [n] linearly dependent joints as a bit mask, 2^k for joint k (from 0): joints that take part
  /// in the null space. For a redundant arm, whose joints all take part in self-motion: joints of
  /// the minimal singular subsets in subset_joints, if any.
  std::vector<std::uint32_t> dependent_joints;
  std::vector<int> subsets;      ///< [n] number of minimal singular intervals of joints (the paper's SOSM)
  std::vector<int> subset_last;  ///< [n,j] last joint, from 0, of the interval that starts at joint j; -1: none
  std::vector<std::uint32_t> subset_joints;  ///< [n,j] bit mask of the interval's dependent joints (SSM)
  std::vector<int> escape_joint;    ///< [n] joint of lowest order, then highest rate, from 0; -1: no single joint
  std::vector<int> escape_order;    ///< [n] 1, 2; 0: none
  std::vector<double> escape_rate;  ///< [n]
  std::vector<int> escape_sign;     ///< [n] sign of the step with faster growth; 0: equal or unknown
  std::vector<double> wrench;       ///< [n,6] first lost wrench: force times L and moment about the center, world axes
};
/// Second pass: finds and analyzes the singularity next to every configuration.
/// @param q joint values [n, j] in rad or m.
/// @return status, singular configuration, distance and analysis per row.
/// @throws Error as measure().
[[nodiscard]] NearSingularities nearest_singularities(const chain::Robot& robot, const std::vector<double>& q,
                                                      const MeasureOptions& options, const Device& device);

/// Singularity next to one configuration, as reported by `garra singularity --at`.
struct Vicinity {
  bool searched = false;              ///< false: options out of range or an arm without a kernel
  bool found = false;                 ///< the members below hold
  double distance = 0;                ///< length of the joint motion to it [rad]
  std::vector<double> q;              ///< the singular configuration
  std::string type;                   ///< singularity_type() there
  std::vector<int> dependent_joints;  ///< linearly dependent joints, from 0
  int escape_joint = -1;              ///< single joint of fastest escape, from 0; -1: none
};
/// Finds the singularity next to one configuration, up to a distance of 2 pi
/// (nearest_singularities(): 1 rad). The distance is 0 if q is singular to options.tolerance.
/// @param q joint values [j] in rad or m.
/// @return the singularity.
/// @throws Error kUsage for the number of values or one that is not finite.
[[nodiscard]] Vicinity vicinity(const chain::Robot& robot, const std::vector<double>& q,
                                const MeasureOptions& options = {});

/// n configurations [n,j] in GPU memory. Results are as in Measures and NearSingularities; a null
/// array is not wanted (garra/batch/resident.hpp).
struct DeviceConfigurations {
  std::int64_t count = 0;
  DeviceArray<const double> q;
};
struct DeviceMeasures {
  DeviceArray<double> sigma_min, inverse_condition, manipulability, tool;
};
struct DeviceNearSingularities {
  DeviceArray<SearchStatus> search_status;
  DeviceArray<double> singular_q, distance;
  DeviceArray<int> lost;
  DeviceArray<std::uint32_t> dependent_joints;
  DeviceArray<int> subsets, subset_last;
  DeviceArray<std::uint32_t> subset_joints;
  DeviceArray<int> escape_joint, escape_order;
  DeviceArray<double> escape_rate;
  DeviceArray<int> escape_sign;
  DeviceArray<double> wrench;
};
/// measure() and nearest_singularities() on GPU arrays; both queue their work in the call's stream.
/// @throws Error as on host arrays; kUsage for a null q; kNoDevice for arms of generic rank below
///         6, which have no kernels.
void measure(const chain::Robot& robot, const DeviceConfigurations& at, const MeasureOptions& options,
             const DeviceMeasures& to, const DeviceCall& call);
void nearest_singularities(const chain::Robot& robot, const DeviceConfigurations& at, const MeasureOptions& options,
                           const DeviceNearSingularities& to, const DeviceCall& call);
/// @return bytes of workspace for the calls above. Runs nothing.
[[nodiscard]] std::size_t workspace_bytes(const chain::Robot& robot, const DeviceConfigurations& at,
                                          const MeasureOptions& options, const DeviceMeasures& to, int device = 0);
[[nodiscard]] std::size_t workspace_bytes(const chain::Robot& robot, const DeviceConfigurations& at,
                                          const MeasureOptions& options, const DeviceNearSingularities& to,
                                          int device = 0);

/// Source of the values of one joint.
struct JointSource {
  enum class Kind { kFixed, kGrid, kUniform };
  Kind kind = Kind::kUniform;
  double low = 0, high = 0;  ///< [rad or m]; kFixed: both the value
  std::int64_t points = 1;   ///< kGrid: from low to high, both included
};

/// Sequence of numbers for kUniform joints.
enum class Sequence {
  kRandom,         ///< Philox of (seed, sample)
  kLowDiscrepancy  ///< additive recurrence, fills evenly
};
[[nodiscard]] constexpr auto names_of(Sequence) { return names("random", "even"); }

/// Grid of tool positions instead of joint values. Newton's method solves the inverse kinematics
/// from several random starts, to find most branches. Sample i is start i mod starts of target
/// number i / starts (integer division).
struct TaskGrid {
  Vec3<double> low = Vec3<double>::zero(), high = Vec3<double>::zero();  ///< world axes [m]
  std::array<std::int64_t, 3> points = {1, 1, 1};
  std::optional<Mat3<double>> orientation;  ///< of the tool; unset: at random for each target
  int starts = 16;
};

/// The arm with each helical joint (a joint that turns, and a slide along its axis that follows it) as one joint that
/// turns: Robot::coupled then has it as its own leader, and its pitch [m/rad] as ratio. Only functions of this header
/// and make_screws() take such an arm; they take the original, too.
/// @throws Error kUsage for other coupled joints.
[[nodiscard]] chain::Robot merge_helical(const chain::Robot& robot);

/// Two-dimensional section of the joint space: two joints on a grid, the others fixed.
struct Slice {
  int x = 0, y = 1;       ///< joints, from 0
  std::vector<double> q;  ///< [j] values of the other joints
  double x_low = 0, x_high = 0, y_low = 0, y_high = 0;
  int points = 201;  ///< along each side
};

/// Scenario of a map. Samples are a random or even sequence, the nodes of a grid (all joints kFixed
/// or kGrid; the last joint runs fastest), both (one draw of the kUniform joints at each node), or
/// a task grid.
struct MapScenario {
  std::string title;
  std::string model;       ///< name or file of the robot as the scenario gives it
  std::string model_file;  ///< the file that it was read from
  std::string base, tip;   ///< URDF: links the chain is between
  chain::Robot robot;
  std::vector<JointSource> joint;  ///< [j]; for a task grid: ranges of the starts
  Sequence sequence = Sequence::kRandom;
  std::optional<TaskGrid> task;
  MeasureOptions measure;
  bool nearest = true;                     ///< second pass: analyze the singularity next to every near sample
  int voxels = 32;                         ///< along the longest side of the box of tool positions; 0: no voxels
  std::int64_t keep_from_first = 200'000;  ///< near samples among this many first ones are stored row by row
  std::vector<Slice> slices;
  study::Plan plan;
};

/// Study for study::run (study/engine.hpp). @throws Error for an inconsistent scenario.
[[nodiscard]] std::unique_ptr<study::Study> make_study(const MapScenario& scenario);

}  // namespace garra::singularity
