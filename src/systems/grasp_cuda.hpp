// The seam to kernels/grasp.cu.
#pragma once

#include <cstdint>

#include "garra/solve/friction_newton.hpp"
#include "systems/grasp_model.hpp"

namespace garra::grasp {

/// Host tiles that the samples first .. first + count - 1 are brought back to.
struct SampleTiles {
  std::int64_t first = 0, count = 0;
  double* metrics = nullptr;
  double* uniforms = nullptr;
  double* verdicts = nullptr;
};

/// Draws, builds, solves and judges on the device; counting stays on the host, so that the summary is the CPU's.
void cuda_samples(const GraspModel& model, const solvers::FrictionNewton& solver, bool check_uniqueness, int device,
                  const SampleTiles& tiles);

/// Device memory per sample [bytes].
[[nodiscard]] std::uint64_t cuda_bytes_per_sample(const GraspModel& model);

}  // namespace garra::grasp
