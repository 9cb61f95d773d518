#include "grasp/files/matrices_file.hpp"

#include <span>

#include "base/files/hdf5.hpp"

namespace garra::io {

void write_matrices(const std::string& path, const grasp::GraspMatrices& m,
                    const std::vector<std::pair<std::string, std::string>>& attributes) {
  Hdf5Writer file;
  const auto n = static_cast<std::uint64_t>(m.count);
  for_each_matrix(m, [&](const char* name, const std::vector<double>& values, const std::vector<std::uint64_t>& shape) {
    Shape all = {n};
    all.insert(all.end(), shape.begin(), shape.end());
    file.write(name, all, std::span<const double>(values));
  });
  file.write("sample", {n}, std::span<const std::int64_t>(m.sample));
  file.write("reached", {n}, std::span<const std::uint8_t>(m.reached));
  const std::vector<std::int32_t> joints(m.joints.begin(), m.joints.end());
  file.write("joints", {joints.size()}, std::span<const std::int32_t>(joints));
  if (m.objects > 1) file.attribute("/", "objects", m.names);
  for (const auto& [name, text] : attributes) file.attribute("/", name, text);
  file.commit(path);
}

}  // namespace garra::io
