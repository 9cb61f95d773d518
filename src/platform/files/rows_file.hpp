// Files of `garra platform ...`: poses, lengths, forces and motions of many samples (HDF5;
// docs/theory/platform.md, "Files").
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "garra/platform.hpp"
#include "garra/platform_dynamics.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/platform_simulate.hpp"
#include "garra/platform_study.hpp"

namespace garra::io {

/// Datasets that a command requires.
struct PlatformNeeds {
  bool pose = false, lengths = false, force = false;
};

/// Samples of a file; missing arrays are empty.
struct PlatformRows {
  std::int64_t count = 0;
  platform::Platforms platforms;  ///< one, or `count` where the file has parameters of its own for every sample
  platform::Poses pose;           ///< [n], or one row for all where a guess is shared
  std::vector<double> lengths, velocity, acceleration, wrench;  ///< [n,6]
  std::vector<double> force;                                    ///< [n,6]; forces over time: [k,6] or [n,k,6]
  std::int64_t force_points = 0;                                ///< k; 0: constant
};

/// Reads the samples of a file. `forces_over_time`: `force` has a time axis. Datasets base_anchors, platform_anchors,
/// universal_axes [n,6,3], platform_mass [n], platform_inertia [n,3,3], gravity [n,3], tube_mass, tube_com, rod_mass,
/// rod_com [n,6], tube_inertia, rod_inertia [n,6,3] replace those numbers of `platform`; the platforms so made are
/// checked. Throws Error, naming file and dataset: kInvalidFile for wrong content, kInputOutput for a missing file.
[[nodiscard]] PlatformRows read_platform_rows(const std::string& path, const platform::Platform& platform,
                                              const PlatformNeeds& needs, bool forces_over_time = false);

/// Attributes of a result file, name and text: model, device, version, ...
using PlatformAttributes = std::vector<std::pair<std::string, std::string>>;

// Writers: files are complete or absent; empty arrays are left out. Throw Error(kInputOutput).
/// Of InverseKinematics, ForwardKinematics, InverseDynamics and ForwardDynamics.
template <class Result>
void write_platform_results(const std::string& path, const Result& r, const PlatformAttributes& attributes);
/// With `from_home` unless `reach` is empty.
void write_platform_results(const std::string& path, const platform::AssemblyModes& r,
                            const std::vector<platform::Reach>& reach, const PlatformAttributes& attributes);
/// Poses along a path with their lengths.
void write_platform_results(const std::string& path, const platform::Poses& along, const platform::InverseKinematics& r,
                            const PlatformAttributes& attributes);
/// With base_anchors and platform_anchors [6,3] if all samples share the platform, for animations.
void write_platform_results(const std::string& path, const platform::Trajectories& r,
                            const platform::Platforms& platforms, const PlatformAttributes& attributes);

}  // namespace garra::io
