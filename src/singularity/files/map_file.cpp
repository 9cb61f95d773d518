#include "singularity/files/map_file.hpp"

#include "base/files/hdf5.hpp"

namespace garra::io {

namespace {

void write_voxels(Hdf5Writer& file, const MapVoxels& v) {
  const Shape shape = {static_cast<std::uint64_t>(v.n[2]), static_cast<std::uint64_t>(v.n[1]),
                       static_cast<std::uint64_t>(v.n[0])};
  file.group("voxels");
  file.attribute("voxels", "low", std::vector<double>{v.low[0], v.low[1], v.low[2]});
  file.attribute("voxels", "side", v.side);
  file.write("voxels/count", shape, v.count);
  file.write("voxels/near", shape, v.near);
  file.write("voxels/sigma_min", shape, v.sigma_min);
  file.write("voxels/sigma_max", shape, v.sigma_max);
  file.write("voxels/sigma_p10", shape, v.sigma_p10);
  file.write("voxels/sigma_p50", shape, v.sigma_p50);
}

std::vector<double> evenly(double low, double high, int points) {
  std::vector<double> x;
  for (int k = 0; k < points; ++k) x.push_back(k == points - 1 ? high : low + (high - low) * k / (points - 1));
  return x;
}

void write_slice(Hdf5Writer& file, const std::string& name, const MapSlice& m) {
  const singularity::Slice& s = m.slice;
  const auto n = static_cast<std::uint64_t>(s.points), locus = static_cast<std::uint64_t>(m.locus_x.size());
  const auto at = [&](const char* dataset) { return name + "/" + dataset; };
  file.group(name);
  file.attribute(name, "x", std::int64_t{s.x});
  file.attribute(name, "y", std::int64_t{s.y});
  file.attribute(name, "q", s.q);
  file.write(at("x"), {n}, evenly(s.x_low, s.x_high, s.points));
  file.write(at("y"), {n}, evenly(s.y_low, s.y_high, s.points));
  file.write(at("sigma_min"), {n, n}, m.measures.sigma_min);
  file.write(at("inverse_condition"), {n, n}, m.measures.inverse_condition);
  file.write(at("manipulability"), {n, n}, m.measures.manipulability);
  file.write(at("locus_x"), {locus}, m.locus_x);
  file.write(at("locus_y"), {locus}, m.locus_y);
  file.write(at("locus_dependent_joints"), {locus}, m.locus_dependent_joints);
  const std::vector<std::int32_t> escape(m.locus_escape.begin(), m.locus_escape.end());
  file.write(at("locus_escape"), {locus}, escape);
}

}  // namespace

void write_map(const std::string& path, const MapVoxels& voxels, const std::vector<MapSlice>& slices) {
  Hdf5Writer file;
  if (!voxels.count.empty()) write_voxels(file, voxels);
  file.group("slices");
  for (std::size_t k = 0; k < slices.size(); ++k) write_slice(file, "slices/" + std::to_string(k), slices[k]);
  file.commit(path);
}

}  // namespace garra::io
