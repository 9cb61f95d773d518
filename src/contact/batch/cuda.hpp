// What the host hands to kernels/contact/*.cu with a solver (garra/batch/on_device.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "garra/batch/resident.hpp"

namespace garra::contact {

/// Problems of `contacts` contacts in tiles of FrictionProblem and SlidingContacts (or null), to be solved and judged
/// by the tolerance; their FrictionSolutions go to `solutions`.
struct HostTiles {
  int contacts;
  double tol;
  std::int64_t count;
  const double* problems;  ///< host memory, as the following
  const double* sliding;
  double* solutions;
};

/// Problems that are on the device already: columns of FrictionProblem and FrictionSolution, then unit slip directions
/// (or null) and what is wanted of SolutionVerdict (or nothing).
struct DeviceBatch {
  int contacts;
  double tol;
  batch::ResidentRows rows;
  batch::DeviceColumn slips;
  std::vector<batch::DeviceColumn> verdicts;
};

/// In place of a solver: forces that are there are the candidates.
struct GivenForces {
  batch::DeviceColumn force;
};

}  // namespace garra::contact
