// Datasets of nominal.h5, [design][time][...].
#include "chain/files/nominal_file.hpp"

#include "chain/files/trajectory_file.hpp"

namespace garra::io {

void write_nominal(const std::string& path, const chain::NominalTrajectories& nominal) {
  const chain::Trajectories& m = nominal.motion;
  const auto d = static_cast<std::uint64_t>(m.count), t = static_cast<std::uint64_t>(m.times.size()),
             j = static_cast<std::uint64_t>(m.joints);
  Hdf5Writer file;
  write_outputs(file, m);
  file.write("torque", {d, t, j}, nominal.torque);
  file.write("points", {d, t, j + 2, 3}, nominal.points);
  file.write("settling_time", {d}, m.settling_time);
  file.write("status", {d}, enum_numbers<std::int32_t>(m.status));
  file.write("design", {d}, std::vector<std::int32_t>(nominal.design.begin(), nominal.design.end()));
  file.attribute("status", "names", enum_names<chain::SimulationStatus>(chain::kSimulationStatusCount));
  file.commit(path);
}

}  // namespace garra::io
