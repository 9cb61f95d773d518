#include "platform/files/parts.hpp"

#include <cmath>

#include "garra/math/rotation.hpp"

namespace garra::io {

namespace {

using platform::Quaternion;

Quaternion<double> turn_about(const Vec3<double>& unit_axis, double angle) {
  double c, s;
  exact_cos_sin(angle / 2, c, s);
  return {{c, s * unit_axis[0], s * unit_axis[1], s * unit_axis[2]}};
}

/// The scalar part is made positive, and no zero has a sign.
Quaternion<double> tidy(Quaternion<double> p) {
  // -0 + 0 is 0: written files have no "-0".
  for (int i = 0; i < 4; ++i) p[i] += 0.0;
  return p[0] < 0 ? -p : p;
}

Quaternion<double> read_quaternion(const Node& node, const std::string& key) {
  const std::vector<Node>& items = read_array(node, key, 4);
  Quaternion<double> p;
  for (std::size_t i = 0; i < 4; ++i) p[static_cast<int>(i)] = read_quantity(items[i], item(key, i), kRatio);
  const double square = dot(p, p);
  if (!(square > 0)) fail(node.place, key, "the quaternion is zero", "[1, 0, 0, 0] does not turn.");
  // A unit quaternion up to rounding keeps its bits: a written file is restored exactly.
  return std::abs(square - 1) > 1e-15 ? (1 / std::sqrt(square)) * p : p;
}

Quaternion<double> read_axis_angle(const Node& node, const std::string& key) {
  const Turn turn = read_turn(node, key);
  return tidy(turn_about(turn.axis, turn.angle));
}

}  // namespace

Turn read_turn(const Node& node, const std::string& key) {
  TableReader table(node, key);
  const Node& along = table.require("axis", "Write { axis = [1, 0, 0], angle = \"45 deg\" }.");
  const Vec3<double> axis = read_vector(along, table.name("axis"), kRatio);
  const double square = dot(axis, axis);
  if (!(square > 0)) fail(along.place, table.name("axis"), "the axis is zero", "Give a direction, such as [1, 0, 0].");
  const Node& angle = table.require("angle", "Write angle = \"45 deg\".");
  const Turn turn{std::abs(square - 1) > 1e-15 ? (1 / std::sqrt(square)) * axis : axis,
                  read_quantity(angle, table.name("angle"), kAngle)};
  table.finish();
  return turn;
}

Quaternion<double> quaternion_of_rpy(const Vec3<double>& rpy) {
  const Quaternion<double> x = turn_about({{1, 0, 0}}, rpy[0]), y = turn_about({{0, 1, 0}}, rpy[1]),
                           z = turn_about({{0, 0, 1}}, rpy[2]);
  return tidy(platform::product(z, platform::product(y, x)));
}

Vec3<double> rpy_of_quaternion(const Quaternion<double>& p) {
  return rpy_from_rotation(platform::rotation_matrix(platform::normalized(p)));
}

platform::Place<double> read_place(const Node& node, const std::string& key, const platform::Place<double>& otherwise) {
  TableReader table(node, key);
  platform::Place<double> place = otherwise;
  if (const Node* at = table.find("position")) place.r = read_vector(*at, table.name("position"), kLength);
  const Node* rpy = table.find("rpy");
  const Node* quaternion = table.find("quaternion");
  const Node* axis_angle = table.find("axis_angle");
  table.finish();
  const int given = (rpy != nullptr) + (quaternion != nullptr) + (axis_angle != nullptr);
  if (given > 1) fail(node.place, key, "turned twice", "Give only one of rpy, quaternion and axis_angle.");
  if (rpy != nullptr) place.p = quaternion_of_rpy(read_vector(*rpy, table.name("rpy"), kAngle));
  if (quaternion != nullptr) place.p = read_quaternion(*quaternion, table.name("quaternion"));
  if (axis_angle != nullptr) place.p = read_axis_angle(*axis_angle, table.name("axis_angle"));
  return place;
}

std::string text(const platform::Place<double>& place) {
  return "{ position = " + text(place.r, kLength) + ", quaternion = " + list(place.p, 4, kRatio) + " }";
}

Mat3<double> read_mounting(const Node& node, const std::string& key) {
  if (node.kind == Node::Kind::kArray) return rotation_from_rpy(read_vector(node, key, kAngle));
  const std::string name = read_choice(node, key, {"floor", "wall", "ceiling"});
  const double quarter = M_PI / 2;
  return rotation_from_rpy({{name == "ceiling" ? 2 * quarter : 0, name == "wall" ? quarter : 0, 0}});
}

AnyValue wall(Vec3<double>& gravity) {
  const auto read = [&gravity](const Node& node, const std::string& key) {
    gravity = transpose_times(read_mounting(node, key), gravity);
    for (int k = 0; k < 3; ++k) gravity[k] += 0.0;  // no zero has a sign
  };
  return custom(
      {read, [] { return std::string(); }, "`\"floor\"`, `\"wall\"`, `\"ceiling\"`, or [roll, pitch, yaw]",
       R"({"anyOf": [{"enum": ["floor", "wall", "ceiling"]}, {"type": "array", "minItems": 3, "maxItems": 3}]})"});
}

}  // namespace garra::io
