// results.h5: the samples that a run kept, one row each (docs/run-folder.md).
#pragma once

#include <string>
#include <vector>

namespace garra::io {

/// Rows of (index, outcome, residual, margin, inputs [draws], c [forces], a [forces]).
struct SampleTable {
  int draws = 0, forces = 0;
  std::vector<std::string> input_names, outcome_names;
  std::vector<double> rows;
};
void write_sample_table(const std::string& path, const SampleTable& table);

}  // namespace garra::io
