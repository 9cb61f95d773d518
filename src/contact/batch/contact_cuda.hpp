// Arguments from the host to kernels/contact/*.cu, together with a solver (garra/batch/on_device.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "garra/batch/resident.hpp"

namespace garra::contact {

/// Problems of the host, to be solved and certified at the tolerance. Columns of FrictionProblem and unit slip
/// directions (or null) go in, columns of FrictionSolution and of ContactDiagnostics come out.
struct HostBatch {
  int contacts;
  double tolerance;
  batch::Rows rows;
};

inline constexpr std::size_t kProblemColumns = 3, kSolutionColumns = 13;

/// The same on the device.
struct DeviceBatch {
  int contacts;
  double tolerance;
  batch::ResidentRows rows;  ///< of FrictionProblem and FrictionSolution
  batch::DeviceColumn slips;
  std::vector<batch::DeviceColumn> diagnostics;  ///< empty: none is wanted

  /// `all` has the columns of HostBatch.
  DeviceBatch(int k, double tolerance, const batch::ResidentRows& all)
      : contacts(k), tolerance(tolerance), rows(all), slips(all.in.at(kProblemColumns)) {
    rows.in.resize(kProblemColumns);
    rows.out.resize(kSolutionColumns);
    const auto first = all.out.begin() + kSolutionColumns;
    if (std::any_of(first, all.out.end(), [](const auto& column) { return column.data != nullptr; }))
      diagnostics.assign(first, all.out.end());
  }
};

/// Takes the place of a solver: given forces are the candidates.
struct GivenForces {
  batch::DeviceColumn force;
};

}  // namespace garra::contact
