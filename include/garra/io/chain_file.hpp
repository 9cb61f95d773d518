// Chain states and the outputs computed from them, as HDF5 files (docs/reference/chain-files.md). SI units.
//
// State file: q [n,j]; qd, qdd, tau [n,j] and wrench [n,6] if an output reads them. For tolerance studies it has a
// group `parameters` of datasets [n] called "joint.quantity.change", joints counted from 0: "2.mass.scale", "3.d.add".
// Result file: one dataset per output, by its name, and status [n].
#pragma once

#include <string>

#include "garra/chain_eval.hpp"

namespace garra::io {

/// Reads a state file for a chain of this many joints. Values that are NaN or infinite are no error here: such a state
/// ends as Status::kInvalidInput. Throws Error, naming file and dataset: kInvalidFile for wrong content, kInputOutput
/// for a missing or damaged file.
[[nodiscard]] chain::States read_states(const std::string& path, int joints);

/// Writes a state file: whole or not at all; arrays that are empty are left out. Throws Error(kInputOutput).
void write_states(const std::string& path, const chain::States& states);

/// Provenance of a result file, stored as its attributes.
struct ResultAttributes {
  std::string model;  ///< the robot's name
  chain::EvalOptions options;
  std::string device;
  std::string version;
};

/// Writes a result file: whole or not at all. Throws Error(kInputOutput).
void write_results(const std::string& path, const chain::Results& results, const ResultAttributes& attributes);

}  // namespace garra::io
