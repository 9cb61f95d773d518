// Matrices of the contact problems of a scenario's samples.
#include "arrays.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/files/matrices_file.hpp"

namespace garra::python {

namespace {

/// `text`: content of a scenario file; `name`: its path, for messages and the files beside it.
nb::dict matrices(const std::string& text, const std::string& name, const std::vector<std::string>& overrides,
                  const std::vector<std::int64_t>& samples, int threads) {
  auto m = compute([&] { return grasp::matrices(io::parse_scenario(text, name, overrides), samples, threads); });
  nb::dict out;
  const auto n = static_cast<std::size_t>(m.count);
  io::for_each_matrix(m, [&](const char* key, const std::vector<double>& x, const std::vector<std::uint64_t>& shape) {
    std::vector<std::size_t> all = {n};
    all.insert(all.end(), shape.begin(), shape.end());
    out[key] = taken(std::vector<double>(x), std::move(all));
  });
  out["sample"] = taken(std::move(m.sample), {n});
  out["reached"] = taken(std::move(m.reached), {n});
  out["joints"] = m.joints;
  out["objects"] = m.names;
  return out;
}

}  // namespace

void add_grasp_matrices(nb::module_& m) { m.def("grasp_matrices", matrices); }

}  // namespace garra::python
