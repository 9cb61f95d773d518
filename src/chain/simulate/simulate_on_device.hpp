// Samples that are on the GPU already: what the host hands to kernels/chain/simulate.cuh.
#pragma once

#include <vector>

#include "chain/simulate/simulate_job.hpp"
#include "garra/batch/resident.hpp"

namespace garra::chain {

/// `job` has what the samples share, and their number.
struct DeviceSimulateJob {
  const SimulateJob& job;
  batch::DeviceColumn q, qd, damping, amplitude;  ///< null: not given
  std::vector<batch::DeviceColumn> values;        ///< of each of the job's columns
  std::vector<batch::DeviceColumn> trajectory;    ///< parts of an output's row, one after another
  std::vector<batch::DeviceColumn> summary;       ///< parts of a sample's
  DeviceCall call;
  std::size_t* needed;  ///< set, and nothing runs, where it is not null
};

}  // namespace garra::chain
