// Datasets of nominal.h5, [design][time][...].
#include "chain/files/nominal_file.hpp"

#include "base/files/hdf5.hpp"

namespace garra::io {

void write_nominal(const std::string& path, const chain::NominalTrajectories& nominal) {
  const chain::Trajectories& m = nominal.motion;
  const auto d = static_cast<std::uint64_t>(m.count), t = static_cast<std::uint64_t>(m.times.size()),
             j = static_cast<std::uint64_t>(m.joints);
  Hdf5Writer file;
  file.write("times", {t}, m.times);
  file.write("q", {d, t, j}, m.q);
  file.write("qd", {d, t, j}, m.qd);
  file.write("torque", {d, t, j}, nominal.torque);
  file.write("tip", {d, t, 3}, m.tip);
  file.write("points", {d, t, j + 2, 3}, nominal.points);
  file.write("kinetic_energy", {d, t}, m.kinetic);
  file.write("potential_energy", {d, t}, m.potential);
  file.write("dissipated", {d, t}, m.dissipated);
  file.write("work", {d, t}, m.work);
  file.write("balance", {d, t}, m.balance);
  file.write("settling_time", {d}, m.settling_time);
  std::vector<std::int32_t> status, design(nominal.design.begin(), nominal.design.end());
  for (const chain::SimulationStatus s : m.status) status.push_back(static_cast<std::int32_t>(s));
  file.write("status", {d}, status);
  file.write("design", {d}, design);
  std::vector<std::string> names;
  for (int i = 0; i < chain::kSimulationStatusCount; ++i)
    names.emplace_back(to_string(static_cast<chain::SimulationStatus>(i)));
  file.attribute("status", "names", names);
  file.commit(path);
}

}  // namespace garra::io
