// Reads and writes the files of `garra grasp analyze`.
#include "grasp/files/states_file.hpp"

#include <optional>
#include <span>

#include "base/files/hdf5.hpp"

namespace garra::io {

namespace {

const char* const kStatesFile =
    "A file for `garra grasp analyze` holds, as far as they differ from the scenario's, position [n,3], quaternion "
    "[n,4] (w, x, y, z), velocity, spin [n,3], wrench [n,6], friction [n,contacts] and finger_0/q, finger_0/qd, "
    "finger_0/tau [n,joints], finger_1/...";

/// Reader of arrays [n, columns] of one group. The first one determines the number of instants.
class StatesReader {
 public:
  StatesReader(const std::string& path, const std::string& group)
      : file_(path, kStatesFile), prefix_(group.empty() ? "" : group + "/") {
    if (!group.empty() && !file_.has(group)) file_.refuse(group, "there is no such group");
  }

  void read(const std::string& name, std::size_t columns, std::vector<double>& to) {
    const std::string dataset = prefix_ + name;
    if (!file_.has(dataset)) return;
    const Shape shape = file_.shape(dataset);
    // The first present array sets n for all others.
    if (!count_ && !shape.empty()) count_ = shape[0];
    file_.require_shape(dataset, {count_.value_or(0), columns});
    to = file_.doubles(dataset);
  }
  /// One array per finger, or none at all.
  void read_fingers(const char* name, const grasp::Scenario& s, std::vector<std::vector<double>>& to) {
    // Files of version 0.2 and older count fingers from 1.
    const std::size_t first = file_.has(prefix_ + "finger_" + std::to_string(s.fingers.size())) ? 1 : 0;
    const auto dataset = [&](std::size_t j) { return "finger_" + std::to_string(first + j) + "/" + name; };
    std::size_t found = 0;
    for (std::size_t j = 0; j < s.fingers.size(); ++j) found += file_.has(prefix_ + dataset(j));
    if (found == 0) return;
    to.resize(s.fingers.size());
    for (std::size_t j = 0; j < s.fingers.size(); ++j) {
      if (!file_.has(prefix_ + dataset(j)))
        file_.refuse(prefix_ + dataset(j), "is missing, but another finger has its " + std::string(name),
                     "Give it for every finger, or for none.");
      read(dataset(j), s.fingers[j].joint_count(), to[j]);
    }
  }
  [[nodiscard]] std::int64_t count() const {
    if (!count_) file_.refuse(prefix_ + "position", "nothing that an analysis reads is there");
    return static_cast<std::int64_t>(*count_);
  }

 private:
  Hdf5Reader file_;
  std::string prefix_;
  std::optional<std::uint64_t> count_;
};

void write_modes(Hdf5Writer& file, const char* name, const Shape& shape, const std::vector<int>& modes,
                 const std::vector<std::string>& names) {
  const std::vector<std::int32_t> values(modes.begin(), modes.end());
  file.write(name, shape, std::span<const std::int32_t>(values));
  file.attribute(name, "names", names);
}

}  // namespace

grasp::GraspStates read_grasp_states(const std::string& path, const grasp::Scenario& scenario,
                                     const std::string& group) {
  StatesReader file(path, group);
  grasp::GraspStates x;
  file.read("position", 3, x.position);
  file.read("quaternion", 4, x.quaternion);
  file.read("velocity", 3, x.velocity);
  file.read("spin", 3, x.spin);
  file.read("wrench", 6, x.wrench);
  file.read("friction", scenario.contacts.size(), x.friction);
  file.read_fingers("q", scenario, x.q);
  file.read_fingers("qd", scenario, x.qd);
  file.read_fingers("tau", scenario, x.tau);
  x.count = file.count();
  return x;
}

void write_analysis(const std::string& path, const grasp::Analysis& a,
                    const std::vector<std::pair<std::string, std::string>>& attributes) {
  Hdf5Writer file;
  const std::uint64_t n = a.status.size(), contacts = static_cast<std::uint64_t>(a.contacts);
  const auto put = [&](const std::string& name, const Shape& shape, const std::vector<double>& values) {
    file.write(name, shape, std::span<const double>(values));
  };
  file.write("status", {n}, enum_numbers<std::uint8_t>(a.status));
  file.attribute("status", "names", enum_names<Status>(kStatusCount));
  put("residual", {n}, a.residual);
  put("iterations", {n}, a.iterations);
  write_modes(file, "mode_before", {n, contacts}, a.mode_before, {"rolling", "sliding", "open"});
  write_modes(file, "mode_after", {n, contacts}, a.mode_after, {"stick", "slip", "break"});
  put("gap", {n, contacts}, a.gap);
  put("normal", {n, contacts, 3}, a.normal);
  put("relative_velocity", {n, contacts, 3}, a.relative_velocity);
  put("force", {n, contacts, 3}, a.force);
  put("relative_acceleration", {n, contacts, 3}, a.relative_acceleration);
  if (!a.moment.empty()) put("moment", {n, contacts}, a.moment);
  put("acceleration", {n, 6 * static_cast<std::uint64_t>(a.objects)}, a.acceleration);
  for (std::size_t j = 0; j < a.q.size(); ++j) {
    const std::string finger = "finger_" + std::to_string(j);
    const Shape shape = {n, n == 0 ? 0 : a.q[j].size() / n};
    file.group(finger);
    put(finger + "/q", shape, a.q[j]);
    put(finger + "/qd", shape, a.qd[j]);
    put(finger + "/qdd", shape, a.qdd[j]);
    put(finger + "/tau", shape, a.tau[j]);
  }
  for (const auto& [name, text] : attributes) file.attribute("/", name, text);
  file.commit(path);
}

}  // namespace garra::io
