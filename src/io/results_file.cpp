#include "io/results_file.hpp"

#include <cstdint>

#include "io/hdf5.hpp"

namespace garra::io {

namespace {

/// Columns first .. first + width - 1 of the table, row-major.
std::vector<double> columns(const SampleTable& t, std::size_t row, std::size_t first, std::size_t width) {
  std::vector<double> out;
  out.reserve(t.rows.size() / row * width);
  for (std::size_t at = 0; at + row <= t.rows.size(); at += row)
    for (std::size_t k = 0; k < width; ++k) out.push_back(t.rows[at + first + k]);
  return out;
}

}  // namespace

void write_sample_table(const std::string& path, const SampleTable& t) {
  const auto draws = static_cast<std::size_t>(t.draws), forces = static_cast<std::size_t>(t.forces);
  const std::size_t row = 4 + draws + 2 * forces;
  const std::uint64_t n = t.rows.size() / row;
  Hdf5Writer file;
  file.write("index", {n}, columns(t, row, 0, 1));  // exact up to 2^53
  std::vector<std::uint8_t> outcome;
  for (const double o : columns(t, row, 1, 1)) outcome.push_back(static_cast<std::uint8_t>(o));
  file.write("outcome", {n}, outcome);
  file.attribute("outcome", "names", t.outcome_names);
  file.write("residual", {n}, columns(t, row, 2, 1));
  file.write("margin", {n}, columns(t, row, 3, 1));
  file.write("inputs", {n, draws}, columns(t, row, 4, draws));
  file.attribute("inputs", "names", t.input_names);
  file.write("c", {n, forces}, columns(t, row, 4 + draws, forces));
  file.write("a", {n, forces}, columns(t, row, 4 + draws + forces, forces));
  file.commit(path);
}

}  // namespace garra::io
