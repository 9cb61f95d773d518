// [object]: what is held.
#include <cmath>

#include "io/distribution_reader.hpp"
#include "io/scenario_parts.hpp"

namespace garra::io {

namespace {

using grasp::Object;
using grasp::Shape;
using study::Distribution;

Shape read_shape(TableReader& table) {
  const Node& node =
      table.require("shape", "Write shape = \"sphere\", \"box\", \"cylinder\" or \"points\".");
  const std::string shape =
      read_choice(node, table.name("shape"), {"sphere", "box", "cylinder", "points"});
  if (shape == "sphere") return Shape::kSphere;
  if (shape == "box") return Shape::kBox;
  return shape == "cylinder" ? Shape::kCylinder : Shape::kPoints;
}

/// A sphere's radius may be uncertain: its median is the nominal radius, the rest a scale of the
/// whole object.
void read_sphere_radius(TableReader& table, Object& object) {
  const Node& node = table.require("radius", "Give it with a unit: radius = \"50 mm\".");
  const Distribution radius =
      read_distribution(node, table.name("radius"), {kLength, Bounds::positive()});
  object.radius = radius.nominal();
  if (!radius.is_constant()) object.scale = scaled(radius, 1 / object.radius);
}

void read_gyration(TableReader& table, Object& object) {
  const Node& node = table.require(
      "gyration",
      "Give the three radii of gyration: gyration = [\"30 mm\", \"30 mm\", \"40 mm\"].");
  const Vec3<double> k = read_vector(node, table.name("gyration"), kLength);
  for (int i = 0; i < 3; ++i) object.gyration2[i] = k[i] * k[i];
  const Vec3<double>& g = object.gyration2;
  const double sum = g[0] + g[1] + g[2];
  for (int i = 0; i < 3; ++i) {
    const bool possible = k[i] > 0 && 2 * g[i] <= sum * (1 + 1e-9);
    if (possible) continue;
    fail(node.place, table.name("gyration"), "no body has these radii of gyration",
         "Each must be positive, and no square larger than the sum of the other two.");
  }
}

void read_dimensions(TableReader& table, Object& object) {
  const auto length = [&](const std::string& key) {
    const Node& node = table.require(key, "Give it with a unit: " + key + " = \"50 mm\".");
    return read_bounded(node, table.name(key), {kLength, Bounds::positive()});
  };
  switch (object.shape) {
    case Shape::kSphere:
      return read_sphere_radius(table, object);
    case Shape::kCylinder:
      object.radius = length("radius");
      object.height = length("height");
      return;
    case Shape::kBox: {
      const Node& node =
          table.require("size", "Give the edges: size = [\"80 mm\", \"60 mm\", \"120 mm\"].");
      const std::vector<Node>& edges = read_array(node, table.name("size"), 3);
      for (std::size_t i = 0; i < 3; ++i) {
        object.size[static_cast<int>(i)] =
            read_bounded(edges[i], item(table.name("size"), i), {kLength, Bounds::positive()});
      }
      return;
    }
    case Shape::kPoints:
      return read_gyration(table, object);
  }
}

void read_scale(TableReader& table, Object& object) {
  const Node* node = table.find("scale");
  if (node == nullptr) return;
  if (!object.scale.is_constant()) {
    fail(node->place, table.name("scale"), "both radius and scale are uncertain",
         "Give the radius as a value, or leave out the scale.");
  }
  object.scale = read_distribution(*node, table.name("scale"), {kRatio, Bounds::positive()});
}

/// Each coordinate is a value, or a distribution: its median is the nominal place, the rest a
/// deviation.
void read_position(TableReader& table, Object& object) {
  const Node* node = table.find("position");
  if (node == nullptr) return;
  const std::vector<Node>& items = read_array(*node, table.name("position"), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string key = item(table.name("position"), i);
    const Distribution d = read_distribution(items[i], key, {kLength});
    if (!can_shift(d))
      fail(items[i].place, key,
           "this distribution cannot be split into a nominal place and a deviation",
           "Use normal or uniform, or give the deviation as shift.");
    object.position[static_cast<int>(i)] = d.nominal();
    if (!d.is_constant()) object.shift[i] = shifted(d, -d.nominal());
  }
}

void read_deviations(TableReader& table, const std::string& name, const Dimension& dimension,
                     Distribution (&into)[3]) {
  const Node* node = table.find(name);
  if (node == nullptr) return;
  const std::vector<Node>& items = read_array(*node, table.name(name), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string key = item(table.name(name), i);
    if (!into[i].is_constant())
      fail(items[i].place, key, "the position is uncertain as well",
           "Give the deviation in one of the two places.");
    into[i] = read_distribution(items[i], key, {dimension});
  }
}

}  // namespace

Object read_object(TableReader& root) {
  TableReader table(root.require("object", "Write an [object] table with shape and mass."),
                    "object");
  Object object;
  object.shape = read_shape(table);
  read_dimensions(table, object);
  read_scale(table, object);
  const Node& mass = table.require("mass", "Give it with a unit: mass = \"0.5 kg\".");
  object.mass = read_distribution(mass, table.name("mass"), {kMass, Bounds::positive()});
  read_position(table, object);
  read_deviations(table, "shift", kLength, object.shift);
  if (const Node* rpy = table.find("rpy"))
    object.rpy = read_vector(*rpy, table.name("rpy"), kAngle);
  read_deviations(table, "turn", kAngle, object.turn);
  table.finish();
  return object;
}

}  // namespace garra::io
