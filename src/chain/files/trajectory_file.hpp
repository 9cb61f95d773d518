// What `garra chain simulate` reads besides q and qd, and its result file (docs/theory/chain-simulation.md, "Files").
#pragma once

#include <string>

#include "base/files/hdf5.hpp"
#include "garra/chain_simulate.hpp"

namespace garra::io {

/// Initial states and what the samples have of their own: q [n,j]; qd, damping, amplitude [n,j] and the group
/// `parameters` where they are there. Throws Error as read_states().
[[nodiscard]] chain::Samples read_samples(const std::string& path, int joints);

/// `torque` [k,j] of a sampled torque; empty where the file has none.
[[nodiscard]] std::vector<double> read_torque_points(const std::string& path, int joints);

/// `tool_wrench` [k,6] of a sampled force on the tool; empty where the file has none.
[[nodiscard]] std::vector<double> read_tool_wrenches(const std::string& path);

/// Trajectories at their output times: times, q, qd, tip, energies, balance.
void write_outputs(Hdf5Writer& file, const chain::Trajectories& t);

/// What a result file says of its origin.
struct TrajectoryAttributes {
  std::string model, method, torque, device, version;
};

/// Whole or not at all. Throws Error(kInputOutput).
void write_trajectories(const std::string& path, const chain::Trajectories& t, const TrajectoryAttributes& attributes);

}  // namespace garra::io
