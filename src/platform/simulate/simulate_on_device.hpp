// Initial states in GPU memory, passed by the host to kernels/platform/simulate.cu.
#pragma once

#include <vector>

#include "garra/batch/resident.hpp"
#include "platform/simulate/simulate_job.hpp"

namespace garra::platform {

/// `job` holds shared data and the number of samples.
struct DeviceMotionJob {
  const MotionJob& job;
  batch::DeviceColumn position, quaternion, velocity, wrench, force;  ///< null: not given
  std::vector<batch::DeviceColumn> trajectory;                        ///< parts of an output's row, one after another
  std::vector<batch::DeviceColumn> end;                               ///< parts of the row of a sample's end
  DeviceCall call;
  std::size_t* needed;  ///< if not null: set, and nothing runs
};

}  // namespace garra::platform
