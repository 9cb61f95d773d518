// Singularities of very many configurations of one arm: how near each is, which singularity is the nearest, and maps
// that keep only counts (docs/theory/singularity-maps.md). One configuration exactly: singularity.hpp.
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

/// Center and unit of length of the scaled screws, by the same rule at every configuration.
struct MapScaling {
  enum class Center {
    kNatural,  ///< the point nearest to all revolute axes, in least squares
    kTool,     ///< the tool point
    kJoint,    ///< the origin of a joint's frame: of a spherical wrist its center
  };
  Center center = Center::kNatural;
  int joint = 0;                 ///< kJoint: which, from 0
  std::optional<double> length;  ///< L [m]; unset: root mean square distance of the revolute axes to the center
};

/// What the first pass, over all configurations, is computed in. The second pass is always in double.
enum class Precision { kDouble, kSingle };
[[nodiscard]] constexpr auto names_of(Precision) { return names("fp64", "fp32"); }

struct MeasureOptions {
  MapScaling scaling;
  double near = 0.02;        ///< near a singularity: sigma_g <= near * sigma_1
  double tolerance = 1e-10;  ///< singular: sigma_g <= tolerance * sigma_1
  Precision precision = Precision::kDouble;
};

/// First pass: n configurations. NaN where a joint value is not finite.
struct Measures {
  std::vector<double> sigma_min;          ///< [n] sigma_g, g the generic rank
  std::vector<double> inverse_condition;  ///< [n] sigma_g / sigma_1
  std::vector<double> manipulability;     ///< [n] product of sigma_1 ... sigma_g
  std::vector<double> tool;               ///< [n,3] tool point, world axes [m]
};
/// q: [n, joints] rad or m. Throws Error(kUsage) for options out of range or an arm that has no batch kernel, saying
/// why.
[[nodiscard]] Measures measure(const chain::Robot& robot, const std::vector<double>& q, const MeasureOptions& options,
                               const Device& device);

/// Where the search for the nearest singularity has ended.
enum class Landing : std::uint8_t {
  kLanded = 0,  ///< at a singular configuration: `singular_q` is one to `tolerance`
  kLost,        ///< no convergence within the iterations, or farther away than a radian
  kNonFinite,   ///< a joint value is not finite
};

/// Second pass: the singularity next to each of n configurations, by Newton's iteration on what vanishes there (least
/// joint motion; a prismatic joint's in units of L), and its analysis. Rows that did not land hold NaN and zeros.
struct NearSingularities {
  std::vector<Landing> landing;    ///< [n]
  std::vector<double> singular_q;  ///< [n,j]
  std::vector<double> distance;    ///< [n] length of the joint motion that leads there [rad]
  std::vector<int> lost;           ///< [n] lost freedoms there
  /// [n] joints to blame, joint k (from 0) worth 2^k: those with a part in the null space; of a redundant arm, all of
  /// whose joints take part in ordinary self-motion, those of its minimal singular subsets, if there are any.
  std::vector<std::uint32_t> responsible;
  std::vector<int> subsets;                  ///< [n] number of minimal singular intervals (SOSM)
  std::vector<int> subset_last;              ///< [n,j] last joint of the one that starts at joint j, from 0; -1: none
  std::vector<std::uint32_t> subset_joints;  ///< [n,j] its minimal singular subset (SSM)
  std::vector<int> escape_joint;             ///< [n] lowest order, then highest rate; from 0; -1: no joint alone
  std::vector<int> escape_order;             ///< [n] 1, 2; 0: none
  std::vector<double> escape_rate;           ///< [n]
  std::vector<int> escape_sign;              ///< [n] step that grows faster; 0: both alike or unknown
  std::vector<double> wrench;  ///< [n,6] first lost wrench: moment about the center and force times L, world axes
};
[[nodiscard]] NearSingularities nearest_singularities(const chain::Robot& robot, const std::vector<double>& q,
                                                      const MeasureOptions& options, const Device& device);

/// The singularity next to one configuration, as `garra singularity --at` names it.
struct Vicinity {
  bool searched = false;         ///< false: no search exists for arms of this rank or number of joints
  bool found = false;            ///< all that follows holds
  double distance = 0;           ///< length of the joint motion that leads there [rad]
  std::vector<double> q;         ///< the singular configuration
  std::string type;              ///< singularity_type() there
  std::vector<int> responsible;  ///< joints to blame, from 0
  int escape_joint = -1;         ///< the joint that leads out fastest, from 0; -1: none alone
};
/// At any distance. Of an arm that is singular at q to options.tolerance the distance is 0.
[[nodiscard]] Vicinity vicinity(const chain::Robot& robot, const std::vector<double>& q,
                                const MeasureOptions& options = {});

/// n configurations on the GPU [n,j], and where what there is to say of them goes, as in Measures and in
/// NearSingularities: null where it is not wanted (garra/batch/resident.hpp, docs/howto/gpu-arrays.md).
struct DeviceConfigurations {
  std::int64_t count = 0;
  DeviceArray<const double> q;
};
struct DeviceMeasures {
  DeviceArray<double> sigma_min, inverse_condition, manipulability, tool;
};
struct DeviceNearSingularities {
  DeviceArray<Landing> landing;
  DeviceArray<double> singular_q, distance;
  DeviceArray<int> lost;
  DeviceArray<std::uint32_t> responsible;
  DeviceArray<int> subsets, subset_last;
  DeviceArray<std::uint32_t> subset_joints;
  DeviceArray<int> escape_joint, escape_order;
  DeviceArray<double> escape_rate;
  DeviceArray<int> escape_sign;
  DeviceArray<double> wrench;
};
/// Queue their work in the call's stream. Throw Error, as those of arrays of the host; kNoDevice where no kernel is,
/// which arms that move with fewer than six freedoms have not.
void measure(const chain::Robot& robot, const DeviceConfigurations& at, const MeasureOptions& options,
             const DeviceMeasures& to, const DeviceCall& call);
void nearest_singularities(const chain::Robot& robot, const DeviceConfigurations& at, const MeasureOptions& options,
                           const DeviceNearSingularities& to, const DeviceCall& call);
/// Bytes of workspace that they take.
[[nodiscard]] std::size_t workspace_bytes(const chain::Robot& robot, const DeviceConfigurations& at,
                                          const MeasureOptions& options, const DeviceMeasures& to, int device = 0);
[[nodiscard]] std::size_t workspace_bytes(const chain::Robot& robot, const DeviceConfigurations& at,
                                          const MeasureOptions& options, const DeviceNearSingularities& to,
                                          int device = 0);

/// Where the values of a joint come from.
struct JointSource {
  enum class Kind { kFixed, kGrid, kUniform };
  Kind kind = Kind::kUniform;
  double low = 0, high = 0;  ///< [rad or m]; kFixed: both the value
  std::int64_t points = 1;   ///< kGrid: from low to high, both included
};

/// Numbers for the joints that are kUniform.
enum class Sequence {
  kRandom,         ///< Philox of (seed, sample)
  kLowDiscrepancy  ///< additive recurrence, fills evenly
};
[[nodiscard]] constexpr auto names_of(Sequence) { return names("random", "even"); }

/// Targets on a grid of tool positions, instead of joint values: inverse kinematics by Newton's iteration from several
/// random starts, so that most branches are seen. Sample i is start i % starts of target i / starts.
struct TaskGrid {
  Vec3<double> low = Vec3<double>::zero(), high = Vec3<double>::zero();  ///< world axes [m]
  std::array<std::int64_t, 3> points = {1, 1, 1};
  std::optional<Mat3<double>> orientation;  ///< of the tool; unset: at random for each target
  int starts = 16;
};

/// A picture: two joints on a grid, the others fixed.
struct Slice {
  int x = 0, y = 1;       ///< joints, from 0
  std::vector<double> q;  ///< [j] of the others
  double x_low = 0, x_high = 0, y_low = 0, y_high = 0;
  int points = 201;  ///< along each side
};

/// Everything a map is made of. Samples: a random or even sequence, the nodes of a grid (all joints kFixed or kGrid;
/// the last joint runs fastest), both (one draw of the kUniform joints at each node), or a task grid.
struct MapScenario {
  std::string title;
  std::string model;       ///< name or file of the robot as the scenario gives it
  std::string model_file;  ///< the file that it was read from
  std::string base, tip;   ///< URDF: links the chain is between
  chain::Robot robot;
  std::vector<JointSource> joint;  ///< [j]; for a task grid where starts are drawn from
  Sequence sequence = Sequence::kRandom;
  std::optional<TaskGrid> task;
  MeasureOptions measure;
  bool nearest = true;                     ///< second pass: analyse the singularity next to every near sample
  int voxels = 32;                         ///< along the longest side of the box of tool positions; 0: no voxels
  std::int64_t keep_from_first = 200'000;  ///< near ones among so many first samples are kept row by row
  std::vector<Slice> slices;
  study::Plan plan;
};

/// The study for study::run (study/engine.hpp). Throws Error where the scenario makes no sense.
[[nodiscard]] std::unique_ptr<study::Study> make_study(const MapScenario& scenario);

}  // namespace garra::singularity
