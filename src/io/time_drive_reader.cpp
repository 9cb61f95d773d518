// [time.drive]: how the fingers are driven, and what their joints may do.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>

#include "io/distribution_reader.hpp"
#include "io/robot_table.hpp"
#include "io/text_file.hpp"
#include "io/time_reader.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;
using Fingers = std::vector<grasp::Finger>;
using grasp::Drive;
using grasp::Finger;
using grasp::InTime;

constexpr std::size_t kMostRows = 100'000;  ///< of a table of torques
constexpr JointDimension kJointTorque{kTorque, kForce};

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

/// A list with a number for each joint of a finger.
std::vector<double> read_joints(const Node& node, const std::string& key, const Finger& finger,
                                const JointDimension& dimension, const Bounds& bounds) {
  const std::vector<Node>& items = read_array(node, key, finger.joint_count());
  std::vector<double> out;
  for (std::size_t i = 0; i < items.size(); ++i)
    out.push_back(read_bounded(items[i], item(key, i), {dimension.of(finger.prismatic(i)), bounds}));
  return out;
}

/// One list per finger, or one list for all of them; empty where the key is missing.
std::vector<std::vector<double>> read_fingers(TableReader& table, const char* name, const Fingers& fingers,
                                              const JointDimension& dimension, const Bounds& bounds) {
  const Node* node = table.find(name);
  if (node == nullptr) return {};
  const std::string key = table.name(name);
  const std::vector<Node>& items = read_array(*node, key, 0);
  const bool each = !items.empty() && items[0].kind == Node::Kind::kArray;
  if (each) static_cast<void>(read_array(*node, key, fingers.size()));
  std::vector<std::vector<double>> out;
  for (std::size_t j = 0; j < fingers.size(); ++j)
    out.push_back(read_joints(each ? items[j] : *node, each ? item(key, j) : key, fingers[j], dimension, bounds));
  return out;
}

void read_joint_limits(TableReader& table, const Fingers& fingers, InTime& time) {
  time.torque_limit = read_fingers(table, "torque_limit", fingers, kJointTorque, Bounds::positive());
  time.lower = read_fingers(table, "lower", fingers, kJointPosition, Bounds::any());
  time.upper = read_fingers(table, "upper", fingers, kJointPosition, Bounds::any());
  if (time.lower.empty() != time.upper.empty())
    fail(table.place(), table.name(time.lower.empty() ? "lower" : "upper"), "missing",
         "Give lower and upper, or neither.");
  for (std::size_t j = 0; j < time.lower.size(); ++j)
    for (std::size_t i = 0; i < time.lower[j].size(); ++i)
      if (time.lower[j][i] >= time.upper[j][i])
        fail(table.find("upper")->place, item(item(table.name("upper"), j), i), "is not above the lower limit",
             "Give the range of joint " + std::to_string(i + 1) + ".");
}

void add_time(double t, const Place& place, const std::string& key, InTime& time) {
  if (!time.sample_times.empty() && t <= time.sample_times.back())
    fail(place, key, "is not later than the time before it", "Write the times in growing order.");
  time.sample_times.push_back(t);
}

void read_torque_lists(TableReader& table, const Fingers& fingers, InTime& time) {
  const Node& times = table.require("times", "Write times = [0, 0.5, 1] and torques, or file = \"torques.csv\".");
  const std::string key = table.name("times");
  const std::vector<Node>& at = read_array(times, key, 0);
  if (at.empty()) fail(times.place, key, "no times", "Write times = [0, 0.5, 1].");
  for (std::size_t k = 0; k < at.size(); ++k)
    add_time(read_quantity(at[k], item(key, k), kTime), at[k].place, item(key, k), time);
  const Node& torques = table.require("torques", "Write for each finger a list with a row of torques per time.");
  const std::vector<Node>& lists = read_array(torques, table.name("torques"), fingers.size());
  for (std::size_t j = 0; j < fingers.size(); ++j) {
    const std::string finger = item(table.name("torques"), j);
    const std::vector<Node>& rows = read_array(lists[j], finger, at.size());
    std::vector<double>& into = time.sample_torques.emplace_back();
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto row = read_joints(rows[k], item(finger, k), fingers[j], kJointTorque, Bounds::any());
      into.insert(into.end(), row.begin(), row.end());
    }
  }
}

/// Calls use(line, its number from 1) for every line that says something; # begins a remark.
void for_each_line(const std::string& text, const std::function<void(std::string_view, int)>& use) {
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line(text.data() + begin, end - begin);
    line = line.substr(0, line.find('#'));
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) use(line, number);
    begin = end + 1;
  }
}

/// The numbers of a line, between commas or blanks; false where something else stands there.
bool read_row(std::string_view line, std::vector<double>& row) {
  const auto between = [](char c) { return c == ',' || c == ' ' || c == '\t' || c == '\r'; };
  row.clear();
  for (const char *at = line.data(), *end = at + line.size();;) {
    while (at < end && between(*at)) ++at;
    if (at == end) return true;
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || !(std::abs(value) < 1e300) || (next < end && !between(*next))) return false;
    row.push_back(value);
    at = next;
  }
}

/// Columns: time, then the torques of finger 1, of finger 2, ... The first line may name them.
void read_torque_file(const std::string& path, const Fingers& fingers, InTime& time) {
  const auto source = std::make_shared<const std::string>(path);
  const std::size_t columns = 1 + joints_of(fingers);
  time.sample_torques.assign(fingers.size(), {});
  std::vector<double> row;
  bool first = true;
  for_each_line(read_text(path), [&](std::string_view line, int number) {
    const Place place{source, number, 1};
    const bool sound = read_row(line, row), heading = first && !sound;
    first = false;
    if (heading) return;
    if (!sound || row.size() != columns)
      fail(place, "", sound ? std::to_string(row.size()) + " columns" : "expected numbers between commas",
           "Write the time and " + std::to_string(columns - 1) + " torques, finger by finger, in s and N*m (N).");
    if (time.sample_times.size() == kMostRows)
      fail(place, "", "more than " + std::to_string(kMostRows) + " rows", "Torques run linearly between fewer ones.");
    add_time(row[0], place, "time", time);
    auto from = row.begin() + 1;
    for (std::size_t j = 0; j < fingers.size(); ++j) {
      const auto end = from + static_cast<std::ptrdiff_t>(fingers[j].joint_count());
      time.sample_torques[j].insert(time.sample_torques[j].end(), from, end);
      from = end;
    }
  });
  if (time.sample_times.empty())
    fail({source, 1, 1}, "", "no torques", "Write a row with the time and all torques for each time.");
}

std::string torque_file(const Node& file, const std::string& key, const std::string& scenario) {
  const std::string path = file_beside(scenario, read_string(file, key));
  if (fs::is_regular_file(path)) return path;
  fail(file.place, key, path + ": no such file", "The path is relative to the scenario's folder.");
}

void read_sampled(TableReader& table, const std::string& scenario, const Fingers& fingers, InTime& time) {
  const Node* file = table.find("file");
  if (file == nullptr) return read_torque_lists(table, fingers, time);
  for (const char* key : {"times", "torques"})
    if (const Node* node = table.find(key))
      fail(node->place, table.name(key), "both " + std::string(key) + " and file", "Keep one of them.");
  time.sample_file = torque_file(*file, table.name("file"), scenario);
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
