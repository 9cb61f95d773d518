// [simulation.drive]: drives of the fingers, and limits of their joints.
#include <algorithm>

#include "base/files/csv_rows.hpp"
#include "base/files/number.hpp"
#include "base/scenario/field_values.hpp"
#include "chain/files/robot_table.hpp"
#include "grasp/files/command_fields.hpp"
#include "grasp/files/time_fields.hpp"

namespace garra::io {

namespace {

using Fingers = std::vector<grasp::Finger>;
using Rows = std::vector<std::vector<double>>;
using grasp::Drive;
using grasp::Finger;
using grasp::InTime;

std::size_t count_joints(const Fingers& fingers) {
  std::size_t n = 0;
  for (const Finger& f : fingers) n += f.joint_count();
  return n;
}

void gain_fields(Fields& f, grasp::Controller& c) {
  const auto gain = [&](const char* key, const Dimension& dimension, double& into, const char* doc) {
    f.key(key, quantity(into, {dimension, Bounds::not_negative()}), {.doc = doc});
  };
  gain("stiffness", kSlidingStiffness, c.stiffness, "of the object's position about its first one");
  gain("damping", kSlidingDamping, c.damping, "of the same");
  gain("turn_stiffness", kTurningStiffness, c.turn_stiffness, "of its orientation");
  gain("turn_damping", kTurningDamping, c.turn_damping, "of the same");
  gain("joint_stiffness", kTurningStiffness, c.joint_stiffness,
       "of each joint about its first position; of a sliding joint the same number in N/m");
  gain("joint_damping", kTurningDamping, c.joint_damping, "of the same");
}

std::string format_numbers(const double* values, std::size_t count) {
  return list(values, static_cast<int>(count), kRatio);
}

/// One list per finger, or one list for all; empty if the key is missing.
AnyValue of_fingers(Rows& rows, const Fingers& fingers, const JointWanted& wanted) {
  const auto read = [&rows, &fingers, wanted](const Node& node, const std::string& key) {
    const std::vector<Node>& items = read_array(node, key, 0);
    const bool each = !items.empty() && items[0].kind == Node::Kind::kArray;
    if (each) static_cast<void>(read_array(node, key, fingers.size()));
    for (std::size_t j = 0; j < fingers.size(); ++j)
      rows.push_back(read_joint_values(each ? items[j] : node, each ? item(key, j) : key, fingers[j], wanted));
  };
  const auto write = [&rows] {
    if (rows.empty()) return std::string();
    // One list if all are equal, as it was probably written.
    if (std::equal(rows.begin() + 1, rows.end(), rows.begin())) return format_numbers(rows[0].data(), rows[0].size());
    std::string out = "[";
    for (const auto& row : rows) out += (&row == &rows.front() ? "" : ", ") + format_numbers(row.data(), row.size());
    return out + "]";
  };
  const std::string units = si_unit(wanted.dimension.turning) + " or " + si_unit(wanted.dimension.sliding);
  return custom({read, write, "a list for all fingers, or one for each, " + units, R"({"type": "array"})"});
}

void joint_limit_fields(Fields& f, const Fingers& fingers, InTime& time) {
  f.key(
      "torque_limit", of_fingers(time.torque_limit, fingers, {kJointTorque, Bounds::positive()}),
      {.doc = "of each joint: torques are cut off there. Not beside `torque_limit` of the fingers, which does the same",
       .comment = "N*m or N, of each joint"});
  f.key("lower", of_fingers(time.lower, fingers, {kJointPosition, Bounds::any()}),
        {.doc = "of each joint; one that passes it ends the trajectory", .comment = "rad or m, of each joint"});
  f.key("upper", of_fingers(time.upper, fingers, {kJointPosition, Bounds::any()}),
        {.doc = "of each joint", .comment = "rad or m"});
  f.check(time.lower.empty() == time.upper.empty(), time.lower.empty() ? "lower" : "upper", "missing",
          "Give lower and upper, or neither.");
  if (!f.good() || time.lower.size() != time.upper.size()) return;
  for (std::size_t j = 0; j < time.lower.size(); ++j)
    for (std::size_t i = 0; i < time.lower[j].size(); ++i)
      f.check(time.lower[j][i] < time.upper[j][i], item(item("upper", j), i), "is not above the lower limit",
              "Give the range of joint " + std::to_string(i) + ".");
}

AnyValue sample_torques(InTime& time, const Fingers& fingers) {
  const auto read = [&](const Node& node, const std::string& key) {
    const std::vector<Node>& lists = read_array(node, key, fingers.size());
    for (std::size_t j = 0; j < fingers.size(); ++j) {
      const std::string finger = item(key, j);
      const std::vector<Node>& rows = read_array(lists[j], finger, time.sample_times.size());
      std::vector<double>& into = time.sample_torques.emplace_back();
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const auto row = read_joint_values(rows[k], item(finger, k), fingers[j], {kJointTorque, Bounds::any()});
        into.insert(into.end(), row.begin(), row.end());
      }
    }
  };
  const auto write = [&] {
    const std::size_t n = time.sample_times.size();
    std::string out = "[";
    for (std::size_t j = 0; j < time.sample_torques.size(); ++j) {
      const std::vector<double>& of_finger = time.sample_torques[j];
      const std::size_t joints = of_finger.size() / n;
      out += j == 0 ? "\n  [" : ",\n  [";
      for (std::size_t k = 0; k < n; ++k)
        out += (k == 0 ? "" : ", ") + format_numbers(of_finger.data() + k * joints, joints);
      out += "]";
    }
    return out + "\n]";
  };
  return custom({read, write, "for each finger a list with one row of joint torques per time, N*m or N",
                 R"({"type": "array", "minItems": 1})"});
}

/// Columns: time, then the torques of finger 0, of finger 1, ...
AnyValue torque_file(InTime& time, const Fingers& fingers, const std::string& scenario) {
  const auto read = [&, scenario](const Node& node, const std::string& key) {
    time.sample_file = existing_file(node, key, scenario);
    const auto unknown = [](const Finger& finger) { return finger.joint_count() == 0; };
    // Unknown joints have been reported; their number would only add another error.
    if (std::any_of(fingers.begin(), fingers.end(), unknown)) return;
    const std::size_t torques = count_joints(fingers);
    const CsvTable table{
        1 + torques, "torques",
        "Write the time and " + std::to_string(torques) + " torques, finger by finger, in s and N*m (N)."};
    time.sample_torques.assign(fingers.size(), {});
    for_each_row(time.sample_file, table, [&](const std::vector<double>& row, const Place& place) {
      add_time(row[0], place, "time", time.sample_times);
      auto from = row.begin() + 1;
      for (std::size_t j = 0; j < fingers.size(); ++j) {
        const auto end = from + static_cast<std::ptrdiff_t>(fingers[j].joint_count());
        time.sample_torques[j].insert(time.sample_torques[j].end(), from, end);
        from = end;
      }
    });
  };
  return custom({read, [] { return std::string(); }, "a file", R"({"type": "string"})"});
}

void sampled_fields(Fields& f, const std::string& scenario, const Fingers& fingers, InTime& time) {
  const auto of_file = [&] {
    f.key("file", torque_file(time, fingers, scenario),
          {.doc = "the same as text: a row `time, torques of finger 0, torques of finger 1, …` per time, numbers in SI "
                  "units; the first line may name the columns, `#` begins a remark. Relative to the scenario; the run "
                  "folder keeps a copy in `models/`",
           .otherwise = "this or `times` and `torques`"});
  };
  const auto of_lists = [&] {
    f.key("times", growing_times(time.sample_times, "[0, 0.5, 1]"),
          {.doc = "of the rows",
           .comment = "s",
           .required = "Write times = [0, 0.5, 1] and torques, or file = \"torques.csv\"."});
    f.key("torques", sample_torques(time, fingers),
          {.doc = "linear in between, kept before the first and after the last",
           .comment = "N*m or N, finger by finger a row per time",
           .required = "Write for each finger a list with a row of torques per time."});
  };
  lists_or_file(f, "torques", of_file, of_lists);
}

}  // namespace

void drive_fields(Fields& f, const std::string& scenario, const Fingers& fingers, InTime& time) {
  f.key(
      "kind", choice(time.drive),
      {.doc = "by the grasp controller; by the torques that the command gives each sample at its start, kept; or by a "
              "table"});
  f.when({time.drive == Drive::kController, "kind = \"controller\""}, [&] { gain_fields(f, time.controller); });
  f.when({time.drive == Drive::kSampled, "kind = \"sampled\""}, [&] { sampled_fields(f, scenario, fingers, time); });
  joint_limit_fields(f, fingers, time);
}

}  // namespace garra::io
