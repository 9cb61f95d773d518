// map.h5: a map of singularities as pictures need it, voxels and slices (docs/reference/run-folder.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "garra/singularity_map.hpp"

namespace garra::io {

/// Cubes over the workspace; the lists run over x fastest, then y, then z. NaN where a voxel is empty.
struct MapVoxels {
  Vec3<double> low = Vec3<double>::zero();  ///< the box's corner, world axes [m]
  double side = 0;                          ///< [m]
  std::array<int, 3> n = {0, 0, 0};         ///< along x, y, z; none: there are no voxels
  std::vector<std::int64_t> count, near;
  std::vector<double> sigma_min, sigma_max, sigma_p10, sigma_p50;
};

/// A slice evaluated; lists of nodes run over x fastest.
struct MapSlice {
  singularity::Slice slice;
  singularity::Measures measures;
  std::vector<double> locus_x, locus_y;               ///< singular configurations within it
  std::vector<std::uint32_t> locus_dependent_joints;  ///< sets of joints, joint k (from 0) worth 2^k
  std::vector<int> locus_escape;                      ///< from 0; -1: none
};

/// Throws Error(kInputOutput).
void write_map(const std::string& path, const MapVoxels& voxels, const std::vector<MapSlice>& slices);

}  // namespace garra::io
