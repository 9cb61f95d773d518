#include "chain/files/pose_reader.hpp"

#include <algorithm>
#include <cmath>

#include "garra/chain.hpp"
#include "garra/math/rotation.hpp"

namespace garra::io {

namespace {

Mat3<double> read_rotation(const Node& node, const std::string& key) {
  const std::vector<Node>& rows = read_array(node, key, 3);
  Mat3<double> R;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3<double> row = read_vector(rows[i], item(key, i), kRatio);
    for (int j = 0; j < 3; ++j) R(static_cast<int>(i), j) = row[j];
  }
  // 1e-9: printed matrices of ten digits pass.
  const Mat3<double> gap = transpose_times(R, R) - Mat3<double>::identity();
  const double det = dot(column(R, 0), cross(column(R, 1), column(R, 2)));
  if (!(det > 0) || std::any_of(std::begin(gap.m), std::end(gap.m), [](double x) { return !(std::abs(x) < 1e-9); }))
    fail(node.place, key, "no rotation: its columns are not perpendicular unit vectors", "Write three rows.");
  return R;
}

AnyValue rotation(Mat3<double>& R) {
  const auto read = [&R](const Node& node, const std::string& key) { R = read_rotation(node, key); };
  const auto write = [&R] {
    std::string rows;
    for (int i = 0; i < 3; ++i) rows += (i > 0 ? ", " : "[") + text(Vec3<double>{{R(i, 0), R(i, 1), R(i, 2)}}, kRatio);
    return rows + "]";
  };
  return custom({read, write, "three rows", R"({"type": "array", "minItems": 3, "maxItems": 3})"});
}

void pose_fields(Fields& f, Pose<double>& pose) {
  // Angles are written where they read back as the same matrix to the last bit, else the matrix.
  const Mat3<double> again = rotation_from_rpy(rpy_from_rotation(pose.R));
  const bool exact = std::equal(std::begin(again.m), std::end(again.m), std::begin(pose.R.m));
  const bool angles = f.has("rpy", exact), matrix = f.has("rotation", !exact);
  f.key("position", vector(pose.p, {kLength}), {.doc = "of the origin"});
  f.check(!f.reading() || !angles || !matrix, "", "both rpy and rotation", "Give the angles or the matrix.");
  if (angles) f.key("rpy", rpy(pose.R), {.doc = "roll, pitch, yaw about fixed axes"});
  if (matrix) f.key("rotation", rotation(pose.R), {.doc = "instead of `rpy`"});
}

const char* const kNoInertia = "not the inertia of a body: it has a negative principal moment";

void moment_fields(Fields& f, Mat3<double>& I) {
  struct Moment {
    const char* key;
    int i, j;
  };
  for (const auto& [key, i, j] : {Moment{"ixx", 0, 0}, Moment{"iyy", 1, 1}, Moment{"izz", 2, 2}, Moment{"ixy", 0, 1},
                                  Moment{"ixz", 0, 2}, Moment{"iyz", 1, 2}}) {
    f.key(key, quantity(I(i, j), {kInertia}), {.required = i == j ? "Write { ixx = ..., iyy = ..., izz = ... }." : ""});
    I(j, i) = I(i, j);
  }
  f.check(chain::is_inertia(I, false), "", kNoInertia, "It is about the center of mass.");
}

/// The entries of a list, or of its three rows one after the other.
std::vector<Node> without_rows(const std::vector<Node>& list, const std::string& key) {
  if (list.size() != 3 || list[0].kind != Node::Kind::kArray) return list;
  std::vector<Node> entries;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<Node>& row = read_array(list[i], item(key, i), 3);
    entries.insert(entries.end(), row.begin(), row.end());
  }
  return entries;
}

Mat3<double> read_moments(const Node& node, const std::string& key) {
  const std::vector<Node> items = without_rows(read_array(node, key, 0), key);
  if (items.size() != 3 && items.size() != 6 && items.size() != 9)
    fail(node.place, key, "expected an array of 3, 6 or 9, found an array of " + std::to_string(items.size()),
         "Write [ixx, iyy, izz], [ixx, iyy, izz, ixy, iyz, ixz], or the matrix, row by row.");
  double v[9] = {};
  for (std::size_t i = 0; i < items.size(); ++i) v[i] = read_quantity(items[i], item(key, i), kInertia);
  Mat3<double> I = {{v[0], v[3], v[5], v[3], v[1], v[4], v[5], v[4], v[2]}};
  if (items.size() == 9) {
    std::copy_n(v, 9, I.m);
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < r; ++c) {
        // Four digits, as tables have them.
        if (std::abs(I(r, c) - I(c, r)) > 1e-4 * (std::abs(I(r, r)) + std::abs(I(c, c))))
          fail(node.place, key,
               "the matrix is not symmetric: entries " + std::to_string(3 * r + c + 1) + " and " +
                   std::to_string(3 * c + r + 1) + " differ",
               "Nine numbers are the matrix row by row: [ixx, ixy, ixz, ixy, iyy, iyz, ixz, iyz, izz].");
        I(r, c) = I(c, r) = 0.5 * (I(r, c) + I(c, r));
      }
  }
  if (!chain::is_inertia(I, false))
    fail(node.place, key, kNoInertia,
         "Order: [ixx, iyy, izz, ixy, iyz, ixz]; or use keys. It is about the center of mass.");
  return I;
}

/// Lists of six with products of inertia, of keys "inertia" or in lists there.
void find_lists(const Node& node, bool in_inertia, std::vector<Place>& places) {
  const auto is_zero = [](const Node& n) {
    return (n.kind == Node::Kind::kInteger || n.kind == Node::Kind::kFloat) && n.number == 0;
  };
  const bool numbers =
      node.items.size() == 6 && node.items[0].kind != Node::Kind::kArray && node.items[0].kind != Node::Kind::kTable;
  // Three moments have one order only; products that are zero fit any.
  if (in_inertia && numbers && !std::all_of(node.items.begin() + 3, node.items.end(), is_zero))
    places.push_back(node.place);
  for (const Node& one : node.items) find_lists(one, in_inertia, places);
  for (const Node::Member& member : node.members) find_lists(member.value, member.key == "inertia", places);
}

}  // namespace

AnyValue rpy(Mat3<double>& R) {
  const auto read = [&R](const Node& node, const std::string& key) {
    R = rotation_from_rpy(read_vector(node, key, kAngle));
  };
  return custom({read, [&R] { return text(rpy_from_rotation(R), kAngle); }, "[roll, pitch, yaw]",
                 R"({"type": "array", "minItems": 3, "maxItems": 3})"});
}

AnyValue pose(Pose<double>& pose) {
  return inlined([&pose](Fields& f) { pose_fields(f, pose); }, "`{ position, rpy }`");
}

AnyValue inertia(Mat3<double>& I) {
  const auto read = [&I](const Node& node, const std::string& key) { I = read_moments(node, key); };
  return either(Node::Kind::kTable, inlined([&I](Fields& f) { moment_fields(f, I); }),
                custom({read, [] { return std::string(); }, "a list of 3, 6 or 9, or three rows",
                        R"({"type": "array", "minItems": 3, "maxItems": 9})"}));
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
