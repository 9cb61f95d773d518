// Reads data/reference: arrays by name and JSON documents. Any trouble throws std::runtime_error,
// which fails the test.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "places.hpp"

namespace garra::test {

/// Row-major values of one dataset.
struct ReferenceArray {
  std::vector<double> values;
  std::vector<std::size_t> shape;

  [[nodiscard]] std::size_t count() const { return shape.empty() ? 0 : shape[0]; }
  /// Number of values of one item along the first axis.
  [[nodiscard]] std::size_t stride() const { return count() == 0 ? 0 : values.size() / count(); }
  /// First value of item `i` along the first axis.
  [[nodiscard]] const double* item(std::size_t i) const { return values.data() + i * stride(); }
};

[[nodiscard]] inline std::string reference_path(const std::string& file) {
  return test::source_folder() + "/data/reference/" + file;
}

/// Dataset of a file below data/reference, e.g. ("contact/random_n3.h5", "A").
[[nodiscard]] inline ReferenceArray read_reference(const std::string& file, const std::string& dataset) {
  const hid_t h5 = H5Fopen(reference_path(file).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = h5 < 0 ? -1 : H5Dopen2(h5, dataset.c_str(), H5P_DEFAULT);
  if (set < 0) {
    if (h5 >= 0) H5Fclose(h5);
    throw std::runtime_error("reference data: cannot read " + dataset + " of " + reference_path(file));
  }
  const hid_t space = H5Dget_space(set);
  std::vector<hsize_t> dims(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  ReferenceArray out;
  std::size_t total = 1;
  for (const hsize_t d : dims) {
    out.shape.push_back(static_cast<std::size_t>(d));
    total *= static_cast<std::size_t>(d);
  }
  out.values.resize(total);
  const herr_t rc = H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.values.data());
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(h5);
  if (rc < 0) throw std::runtime_error("reference data: cannot read the values of " + dataset);
  return out;
}

/// A JSON document below data/reference, e.g. "grasp/chain.json".
[[nodiscard]] inline nlohmann::json read_reference_json(const std::string& file) {
  std::ifstream in(reference_path(file));
  if (!in) throw std::runtime_error("reference data: cannot open " + reference_path(file));
  return nlohmann::json::parse(in);
}

/// All numbers of nested lists, in order.
[[nodiscard]] inline std::vector<double> to_numbers(const nlohmann::json& j) {
  if (!j.is_array()) return {j.get<double>()};
  std::vector<double> out;
  for (const nlohmann::json& e : j)
    for (const double x : to_numbers(e)) out.push_back(x);
  return out;
}

}  // namespace garra::test
