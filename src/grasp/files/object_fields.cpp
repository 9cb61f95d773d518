// [object]: the held object.
#include <cmath>

#include "base/scenario/field_values.hpp"
#include "base/scenario/parts.hpp"
#include "grasp/files/tables.hpp"

namespace garra::io {

namespace {

using grasp::Object;
using grasp::Shape;
using study::Distribution;

/// A sphere's radius may be uncertain: its median is the nominal radius, the rest a scale of the whole object.
AnyValue sphere_radius(Object& object) {
  const auto read = [&object](const Node& node, const std::string& key) {
    const Distribution radius = read_distribution(node, key, {kLength, Bounds::positive()});
    object.radius = radius.nominal();
    // A scale of the whole object, so that its contacts and inertia scale, too.
    if (!radius.is_constant()) object.scale = scaled(radius, 1 / object.radius);
  };
  return custom({read, [&object] { return text(object.radius, kLength); }, "D, above 0 m",
                 R"json({"anyOf": [{"type": "number", "exclusiveMinimum": 0.0},
                     {"type": "string", "pattern": "^\\s*\\+?(\\d|\\.\\d)"}, {"$ref": "#/definitions/distribution"}]})json"});
}

AnyValue gyration(Vec3<double>& squares) {
  const auto read = [&squares](const Node& node, const std::string& key) {
    const Vec3<double> k = read_vector(node, key, kLength);
    for (int i = 0; i < 3; ++i) squares[i] = k[i] * k[i];
    const double sum = squares[0] + squares[1] + squares[2];
    for (int i = 0; i < 3; ++i) {
      // The triangle inequality of moments of inertia; 1e-9 leaves a flat body its rounding.
      const bool possible = k[i] > 0 && 2 * squares[i] <= sum * (1 + 1e-9);
      if (possible) continue;
      fail(node.place, key, "no body has these radii of gyration",
           "Each must be positive, and no square larger than the sum of the other two.");
    }
  };
  const auto write = [&squares] {
    return text(vec3(std::sqrt(squares[0]), std::sqrt(squares[1]), std::sqrt(squares[2])), kLength);
  };
  return custom({read, write, "[kx, ky, kz], m", R"({"type": "array", "minItems": 3, "maxItems": 3})"});
}

/// Each coordinate is a value, or a distribution: its median is the nominal place, the rest a deviation.
AnyValue position(Object& object) {
  const auto read = [&object](const Node& node, const std::string& key) {
    const std::vector<Node>& items = read_array(node, key, 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const Distribution d = read_distribution(items[i], item(key, i), {kLength});
      if (!can_shift(d))
        fail(items[i].place, item(key, i), "this distribution cannot be split into a nominal place and a deviation",
             "Use normal or uniform, or give the deviation as shift.");
      // The nominal place and a deviation with median 0.
      object.position[static_cast<int>(i)] = d.nominal();
      if (!d.is_constant()) object.shift[i] = shifted(d, -d.nominal());
    }
  };
  return custom({read, [&object] { return text(object.position, kLength); }, "3 of D, m",
                 R"({"type": "array", "minItems": 3, "maxItems": 3})"});
}

/// A deviation that the position may have given already.
AnyValue deviations(Distribution (&into)[3], const Dimension& dimension) {
  const auto read = [&into, dimension](const Node& node, const std::string& key) {
    const std::vector<Node>& items = read_array(node, key, 3);
    for (std::size_t i = 0; i < 3; ++i) {
      // An uncertain position has set it.
      if (!into[i].is_constant())
        fail(items[i].place, item(key, i), "the position is uncertain as well",
             "Give the deviation in one of the two places.");
      into[i] = read_distribution(items[i], item(key, i), {dimension});
    }
  };
  return custom({read, [&into, dimension] { return text(into, dimension); }, "3 of D, " + si_unit(dimension),
                 R"({"type": "array", "minItems": 3, "maxItems": 3})"});
}

Case of_shape(const Object& object, Shape shape) {
  return {object.shape == shape, "shape = \"" + std::string(name_of(shape)) + "\""};
}

std::string with_unit(const std::string& key) { return "Give it with a unit: " + key + " = \"50 mm\"."; }

void dimension_fields(Fields& f, Object& object) {
  const Wanted length{kLength, Bounds::positive()};
  f.when(of_shape(object, Shape::kSphere), [&] {
    f.key("radius", sphere_radius(object),
          {.doc = "an uncertain one becomes a scale", .comment = "m", .required = with_unit("radius")});
  });
  f.when(of_shape(object, Shape::kCylinder), [&] {
    f.key("radius", quantity(object.radius, length), {.doc = "of the cylinder", .required = with_unit("radius")});
    f.key("height", quantity(object.height, length), {.doc = "along z", .required = with_unit("height")});
  });
  f.when(of_shape(object, Shape::kBox), [&] {
    f.key("size", vector(object.size, length),
          {.doc = "full edge lengths",
           .comment = "m",
           .required = "Give the edges: size = [\"80 mm\", \"60 mm\", \"120 mm\"]."});
  });
  f.when(of_shape(object, Shape::kPoints), [&] {
    f.key("gyration", gyration(object.gyration2),
          {.doc = "radii of gyration",
           .comment = "m",
           .required = "Give the three radii of gyration: gyration = [\"30 mm\", \"30 mm\", \"40 mm\"]."});
  });
}

}  // namespace

bool object_fields(Fields& f, Object& object) {
  if (f.has("name", !object.name.empty()))
    f.key(
        "name", string(object.name, true),
        {.doc = "by which `between` of contacts refers to it; required in `[[object]]`", .otherwise = "`\"object\"`"});
  f.check(object.name != "palm" && object.name != "table" && !object.name.starts_with("finger "), "name",
          "is the name of something else", "Name the object otherwise.");
  f.key("shape", choice(object.shape),
        {.doc = "of the object", .required = "Write shape = \"sphere\", \"box\", \"cylinder\" or \"points\"."});
  if (!f.sound()) {
    f.give_up();
    return false;
  }
  dimension_fields(f, object);
  // Before the following keys: contacts need shape and dimensions, even if the mass is wrong.
  const bool known = f.sound();
  const bool scaled_already = !object.scale.is_constant();
  f.check(!scaled_already || !f.has("scale", false), "scale", "both radius and scale are uncertain",
          "Give the radius as a value, or leave out the scale.");
  f.key("scale", distribution(object.scale, {kRatio, Bounds::positive()}), {.comment = "of all its lengths"});
  f.key("mass", distribution(object.mass, {kMass, Bounds::positive()}),
        {.doc = "of the object", .required = "Give it with a unit: mass = \"0.5 kg\"."});
  f.key("position", position(object),
        {.doc = "center of mass in the palm's frame; nominal place = median", .comment = "m"});
  f.key("shift", deviations(object.shift, kLength), {.doc = "its deviation, palm axes", .comment = "m"});
  f.key("rpy", vector(object.rpy, {kAngle}), {.doc = "roll, pitch, yaw about fixed axes"});
  f.key("turn", deviations(object.turn, kAngle),
        {.doc = "deviation of the orientation as a rotation vector, palm axes", .comment = "rad"});
  return known;
}

}  // namespace garra::io
