// File of `garra grasp matrices` (docs/theory/grasp-matrices.md). SI units.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "garra/grasp_analysis.hpp"

namespace garra::io {

/// Arrays of a GraspMatrices by name, with the shape of one sample: the list for files and Python.
template <class Use>
void for_each_matrix(const grasp::GraspMatrices& m, const Use& use) {
  const auto N = static_cast<std::uint64_t>(m.contacts), B = static_cast<std::uint64_t>(m.objects),
             R = static_cast<std::uint64_t>(m.numbers) * N;
  std::uint64_t Q = 0;
  for (const int joints : m.joints) Q += static_cast<std::uint64_t>(joints);
  use("W", m.W, std::vector<std::uint64_t>{6 * B, R});
  use("J", m.J, std::vector<std::uint64_t>{R, Q});
  use("M_obj", m.M_obj, std::vector<std::uint64_t>{6 * B, 6 * B});
  use("M_man", m.M_man, std::vector<std::uint64_t>{Q, Q});
  use("A", m.A, std::vector<std::uint64_t>{R, R});
  use("b", m.b, std::vector<std::uint64_t>{R});
  use("mu", m.mu, std::vector<std::uint64_t>{N});
  use("R_PC", m.R_PC, std::vector<std::uint64_t>{N, 3, 3});
  use("p_PC", m.p_PC, std::vector<std::uint64_t>{N, 3});
  use("q", m.q, std::vector<std::uint64_t>{Q});
  use("qd", m.qd, std::vector<std::uint64_t>{Q});
  use("load", m.load, std::vector<std::uint64_t>{6 * B});
  use("effort", m.effort, std::vector<std::uint64_t>{Q});
}

/// Writes the file, whole or not at all, with attributes (name, text). Throws Error(kInputOutput).
void write_matrices(const std::string& path, const grasp::GraspMatrices& m,
                    const std::vector<std::pair<std::string, std::string>>& attributes);

}  // namespace garra::io
