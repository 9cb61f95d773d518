// Files of `garra chain simulate`.
#include "chain/files/trajectory_file.hpp"

#include "garra/io/chain_file.hpp"

namespace garra::io {

namespace {

constexpr const char* kExpectation =
    "A file of initial states holds q [n,j] and, where wanted, qd, damping, amplitude [n,j], torque [k,j], tool_wrench "
    "[k,6] and a group "
    "`parameters` of columns [n].";

std::vector<double> read_rows(const Hdf5Reader& file, const std::string& name, const Shape& expected) {
  if (!file.has(name)) return {};
  file.require_shape(name, expected);
  return file.doubles(name);
}

/// Rows of an array over time; none where the file has no such array.
std::vector<double> read_points(const std::string& path, const std::string& name, std::uint64_t width) {
  const Hdf5Reader file(path, kExpectation);
  if (!file.has(name)) return {};
  static_cast<void>(file.rows(name, {width}));
  return file.doubles(name);
}

std::vector<std::int32_t> to_int32(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

void write_ends(Hdf5Writer& file, const chain::Trajectories& t) {
  const auto n = static_cast<std::uint64_t>(t.count), j = static_cast<std::uint64_t>(t.joints);
  file.write("end_q", {n, j}, t.end_q);
  file.write("end_qd", {n, j}, t.end_qd);
  file.write("peak_speed", {n, j}, t.peak_speed);
  file.write("peak_torque", {n, j}, t.peak_torque);
  file.write("end_time", {n}, t.end_time);
  file.write("settling_time", {n}, t.settling_time);
  file.write("end_dissipated", {n}, t.end_dissipated);
  file.write("end_work", {n}, t.end_work);
  file.write("end_stop_loss", {n}, t.end_stop_loss);
  file.write("end_balance", {n}, t.end_balance);
  file.write("worst_balance", {n}, t.worst_balance);
  file.write("steps", {n}, to_int32(t.steps));
  file.write("rejected", {n}, to_int32(t.rejected));
  file.write("status", {n}, enum_numbers<std::int32_t>(t.status));
}

}  // namespace

void write_outputs(Hdf5Writer& file, const chain::Trajectories& t) {
  const auto n = static_cast<std::uint64_t>(t.count), k = static_cast<std::uint64_t>(t.times.size()),
             j = static_cast<std::uint64_t>(t.joints);
  file.write("times", {k}, t.times);
  file.write("q", {n, k, j}, t.q);
  file.write("qd", {n, k, j}, t.qd);
  file.write("tip", {n, k, 3}, t.tip);
  file.write("kinetic_energy", {n, k}, t.kinetic);
  file.write("potential_energy", {n, k}, t.potential);
  file.write("dissipated", {n, k}, t.dissipated);
  file.write("work", {n, k}, t.work);
  file.write("balance", {n, k}, t.balance);
}

chain::Samples read_samples(const std::string& path, int joints) {
  // q, qd and parameters are those of a state file.
  chain::States states = read_states(path, joints);
  const Hdf5Reader file(path, kExpectation);
  const Shape rows = {static_cast<std::uint64_t>(states.count), static_cast<std::uint64_t>(joints)};
  chain::Samples out;
  out.count = states.count;
  out.q = std::move(states.q);
  out.qd = std::move(states.qd);
  out.damping = read_rows(file, "damping", rows);
  out.amplitude = read_rows(file, "amplitude", rows);
  out.parameters = std::move(states.parameters);
  return out;
}

std::vector<double> read_torque_points(const std::string& path, int joints) {
  return read_points(path, "torque", static_cast<std::uint64_t>(joints));
}

std::vector<double> read_tool_wrenches(const std::string& path) { return read_points(path, "tool_wrench", 6); }

void write_trajectories(const std::string& path, const chain::Trajectories& t, const TrajectoryAttributes& attributes) {
  Hdf5Writer file;
  // Without output times only the ends are written.
  if (const std::uint64_t n = static_cast<std::uint64_t>(t.count), k = t.times.size(); k > 0) {
    write_outputs(file, t);
    file.write("stop_loss", {n, k}, t.stop_loss);
  }
  write_ends(file, t);
  file.attribute("/", "model", attributes.model);
  file.attribute("/", "method", attributes.method);
  file.attribute("/", "torque", attributes.torque);
  file.attribute("/", "device", attributes.device);
  file.attribute("/", "version", attributes.version);
  file.attribute("status", "names", enum_names<chain::SimulationStatus>(chain::kSimulationStatusCount));
  file.commit(path);
}

}  // namespace garra::io
