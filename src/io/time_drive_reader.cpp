// [time.drive]: how the fingers are driven, and what their joints may do.
#include "io/command_reader.hpp"
#include "io/csv_rows.hpp"
#include "io/distribution_reader.hpp"
#include "io/robot_table.hpp"
#include "io/time_reader.hpp"

namespace garra::io {

namespace {

using Fingers = std::vector<grasp::Finger>;
using grasp::Drive;
using grasp::Finger;
using grasp::InTime;

std::size_t joints_of(const Fingers& fingers) {
  std::size_t n = 0;
  for (const Finger& f : fingers) n += f.joint_count();
  return n;
}

void read_gains(TableReader& table, grasp::Controller& c) {
  const auto gain = [&](const char* key, const Dimension& dimension, double& into) {
    if (const Node* node = table.find(key))
      into = read_bounded(*node, table.name(key), {dimension, Bounds::not_negative()});
  };
  gain("stiffness", kSlidingStiffness, c.stiffness);
  gain("damping", kSlidingDamping, c.damping);
  gain("turn_stiffness", kTurningStiffness, c.turn_stiffness);
  gain("turn_damping", kTurningDamping, c.turn_damping);
  gain("joint_stiffness", kTurningStiffness, c.joint_stiffness);
  gain("joint_damping", kTurningDamping, c.joint_damping);
}

/// One list per finger, or one list for all of them; empty where the key is missing.
std::vector<std::vector<double>> read_fingers(TableReader& table, const char* name, const Fingers& fingers,
                                              const JointWanted& wanted) {
  const Node* node = table.find(name);
  if (node == nullptr) return {};
  const std::string key = table.name(name);
  const std::vector<Node>& items = read_array(*node, key, 0);
  const bool each = !items.empty() && items[0].kind == Node::Kind::kArray;
  if (each) static_cast<void>(read_array(*node, key, fingers.size()));
  std::vector<std::vector<double>> out;
  for (std::size_t j = 0; j < fingers.size(); ++j)
    out.push_back(read_joint_values(each ? items[j] : *node, each ? item(key, j) : key, fingers[j], wanted));
  return out;
}

void read_joint_limits(TableReader& table, const Fingers& fingers, InTime& time) {
  time.torque_limit = read_fingers(table, "torque_limit", fingers, {kJointTorque, Bounds::positive()});
  time.lower = read_fingers(table, "lower", fingers, {kJointPosition, Bounds::any()});
  time.upper = read_fingers(table, "upper", fingers, {kJointPosition, Bounds::any()});
  if (time.lower.empty() != time.upper.empty())
    fail(table.place(), table.name(time.lower.empty() ? "lower" : "upper"), "missing",
         "Give lower and upper, or neither.");
  for (std::size_t j = 0; j < time.lower.size(); ++j)
    for (std::size_t i = 0; i < time.lower[j].size(); ++i)
      if (time.lower[j][i] >= time.upper[j][i])
        fail(table.find("upper")->place, item(item(table.name("upper"), j), i), "is not above the lower limit",
             "Give the range of joint " + std::to_string(i + 1) + ".");
}

void read_torque_lists(TableReader& table, const Fingers& fingers, InTime& time) {
  const Node& times = table.require("times", "Write times = [0, 0.5, 1] and torques, or file = \"torques.csv\".");
  const std::string key = table.name("times");
  const std::vector<Node>& at = read_array(times, key, 0);
  if (at.empty()) fail(times.place, key, "no times", "Write times = [0, 0.5, 1].");
  for (std::size_t k = 0; k < at.size(); ++k)
    add_time(read_quantity(at[k], item(key, k), kTime), at[k].place, item(key, k), time.sample_times);
  const Node& torques = table.require("torques", "Write for each finger a list with a row of torques per time.");
  const std::vector<Node>& lists = read_array(torques, table.name("torques"), fingers.size());
  for (std::size_t j = 0; j < fingers.size(); ++j) {
    const std::string finger = item(table.name("torques"), j);
    const std::vector<Node>& rows = read_array(lists[j], finger, at.size());
    std::vector<double>& into = time.sample_torques.emplace_back();
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto row = read_joint_values(rows[k], item(finger, k), fingers[j], {kJointTorque, Bounds::any()});
      into.insert(into.end(), row.begin(), row.end());
    }
  }
}

/// Columns: time, then the torques of finger 1, of finger 2, ...
void read_torque_file(const std::string& path, const Fingers& fingers, InTime& time) {
  const std::size_t torques = joints_of(fingers);
  const CsvTable table{
      1 + torques, "torques",
      "Write the time and " + std::to_string(torques) + " torques, finger by finger, in s and N*m (N)."};
  time.sample_torques.assign(fingers.size(), {});
  for_each_row(path, table, [&](const std::vector<double>& row, const Place& place) {
    add_time(row[0], place, "time", time.sample_times);
    auto from = row.begin() + 1;
    for (std::size_t j = 0; j < fingers.size(); ++j) {
      const auto end = from + static_cast<std::ptrdiff_t>(fingers[j].joint_count());
      time.sample_torques[j].insert(time.sample_torques[j].end(), from, end);
      from = end;
    }
  });
}

void read_sampled(TableReader& table, const std::string& scenario, const Fingers& fingers, InTime& time) {
  const Node* file = table.find("file");
  if (file == nullptr) return read_torque_lists(table, fingers, time);
  for (const char* key : {"times", "torques"})
    if (const Node* node = table.find(key))
      fail(node->place, table.name(key), "both " + std::string(key) + " and file", "Keep one of them.");
  time.sample_file = existing_file(*file, table.name("file"), scenario);
  read_torque_file(time.sample_file, fingers, time);
}

}  // namespace

void read_drive(const Node& node, const std::string& name, const Fingers& fingers, InTime& time) {
  TableReader table(node, "time.drive");
  if (const Node* kind = table.find("kind"))
    time.drive = read_enum<Drive>(*kind, table.name("kind"), {"controller", "constant", "sampled"});
  if (time.drive == Drive::kController) read_gains(table, time.controller);
  if (time.drive == Drive::kSampled) read_sampled(table, name, fingers, time);
  read_joint_limits(table, fingers, time);
  table.finish();
}

}  // namespace garra::io
