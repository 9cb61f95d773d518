#include "io/pose_reader.hpp"

#include <algorithm>
#include <cmath>

#include "garra/chain.hpp"
#include "garra/math/rotation.hpp"
#include "io/number.hpp"
#include "io/scenario_text.hpp"

namespace garra::io {

namespace {

Mat3<double> read_rotation(const Node& node, const std::string& key) {
  const std::vector<Node>& rows = read_array(node, key, 3);
  Mat3<double> R;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3<double> row = read_vector(rows[i], item(key, i), kRatio);
    for (int j = 0; j < 3; ++j) R(static_cast<int>(i), j) = row[j];
  }
  const Mat3<double> gap = transpose_times(R, R) - Mat3<double>::identity();
  const double det = dot(column(R, 0), cross(column(R, 1), column(R, 2)));
  if (!(det > 0) || std::any_of(std::begin(gap.m), std::end(gap.m), [](double x) { return !(std::abs(x) < 1e-9); }))
    fail(node.place, key, "no rotation: its columns are not perpendicular unit vectors", "Write three rows.");
  return R;
}

Mat3<double> checked_inertia(const Node& node, const std::string& key, const Mat3<double>& I) {
  if (chain::is_inertia(I, false)) return I;
  const bool keys = node.kind == Node::Kind::kTable;
  const std::string order = keys ? "" : "Order: [ixx, iyy, izz, ixy, iyz, ixz]; or use keys. ";
  fail(node.place, key, "not the inertia of a body: it has a negative principal moment",
       order + "It is about the center of mass.");
}

Mat3<double> read_moments(const Node& node, const std::string& key) {
  TableReader table(node, key);
  const auto moment = [&](const char* name) {
    return read_quantity(table.require(name, "Write { ixx = ..., iyy = ..., izz = ... }."), table.name(name), kInertia);
  };
  const auto product = [&](const char* name) {
    const Node* given = table.find(name);
    return given == nullptr ? 0 : read_quantity(*given, table.name(name), kInertia);
  };
  const double xy = product("ixy"), xz = product("ixz"), yz = product("iyz");
  const double xx = moment("ixx"), yy = moment("iyy"), zz = moment("izz");
  table.finish();
  return {{xx, xy, xz, xy, yy, yz, xz, yz, zz}};
}

/// Lists of six with products of inertia, of keys "inertia" or in lists there.
void find_lists(const Node& node, bool in_inertia, std::vector<Place>& places) {
  const auto is_zero = [](const Node& n) {
    return (n.kind == Node::Kind::kInteger || n.kind == Node::Kind::kFloat) && n.number == 0;
  };
  const bool numbers =
      node.items.size() == 6 && node.items[0].kind != Node::Kind::kArray && node.items[0].kind != Node::Kind::kTable;
  if (in_inertia && numbers && !std::all_of(node.items.begin() + 3, node.items.end(), is_zero))
    places.push_back(node.place);
  for (const Node& one : node.items) find_lists(one, in_inertia, places);
  for (const Node::Member& member : node.members) find_lists(member.value, member.key == "inertia", places);
}

}  // namespace

Pose<double> read_pose(const Node& node, const std::string& key) {
  TableReader table(node, key);
  Pose<double> pose = Pose<double>::identity();
  if (const Node* p = table.find("position")) pose.p = read_vector(*p, table.name("position"), kLength);
  const Node *rpy = table.find("rpy"), *rotation = table.find("rotation");
  table.finish();
  if (rpy != nullptr && rotation != nullptr)
    fail(node.place, key, "both rpy and rotation", "Give the angles or the matrix.");
  if (rpy != nullptr) pose.R = rotation_from_rpy(read_vector(*rpy, table.name("rpy"), kAngle));
  if (rotation != nullptr) pose.R = read_rotation(*rotation, table.name("rotation"));
  return pose;
}

std::string pose_text(const Pose<double>& pose) {
  const Vec3<double> rpy = rpy_from_rotation(pose.R);
  const Mat3<double> again = rotation_from_rpy(rpy);
  std::string turn = "rpy = " + text(rpy, kAngle);
  if (!std::equal(std::begin(again.m), std::end(again.m), std::begin(pose.R.m))) {
    turn = "rotation = [";
    for (int i = 0; i < 3; ++i)
      turn += (i > 0 ? ", " : "") + text(Vec3<double>{{pose.R(i, 0), pose.R(i, 1), pose.R(i, 2)}}, kRatio);
    turn += "]";
  }
  return "{ position = " + text(pose.p, kLength) + ", " + turn + " }";
}

Mat3<double> read_inertia(const Node& node, const std::string& key) {
  if (node.kind == Node::Kind::kTable) return checked_inertia(node, key, read_moments(node, key));
  const std::vector<Node>& items = read_array(node, key, 0);
  if (items.size() != 3 && items.size() != 6) static_cast<void>(read_array(node, key, 3));
  double v[6] = {};
  for (std::size_t i = 0; i < items.size(); ++i) v[i] = read_quantity(items[i], item(key, i), kInertia);
  const Mat3<double> I = {{v[0], v[3], v[5], v[3], v[1], v[4], v[5], v[4], v[2]}};
  return checked_inertia(node, key, I);
}

std::string inertia_text(const Mat3<double>& I) {
  const auto moment = [&](const char* key, int i, int j) { return std::string(key) + " = " + shortest(I(i, j)); };
  return "{ " + moment("ixx", 0, 0) + ", " + moment("iyy", 1, 1) + ", " + moment("izz", 2, 2) + ", " +
         moment("ixy", 0, 1) + ", " + moment("ixz", 0, 2) + ", " + moment("iyz", 1, 2) + " }";
}

std::vector<std::string> inertia_warnings(const Node& document) {
  std::vector<Place> places;
  find_lists(document, false, places);
  if (places.empty()) return {};
  const std::string times = places.size() > 1 ? " (" + std::to_string(places.size()) + " times)" : "";
  return {to_string(places.front()) + ": inertia: six numbers are read as [ixx, iyy, izz, ixy, iyz, ixz]" + times +
          "; write { ixx = ..., iyy = ..., ... } to be sure"};
}

}  // namespace garra::io
