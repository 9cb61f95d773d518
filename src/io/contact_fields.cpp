#include "io/contact_fields.hpp"

#include <cmath>

#include "garra/math/rotation.hpp"
#include "io/command_reader.hpp"
#include "io/field_values.hpp"
#include "io/number.hpp"

namespace garra::io {

namespace {

using grasp::Contact;
using grasp::Object;
using grasp::Shape;

struct Frame {
  Vec3<double> t, o, n;
};

void set_frame(const Frame& f, Contact& contact) {
  for (int i = 0; i < 3; ++i) {
    contact.frame(i, 0) = f.t[i];
    contact.frame(i, 1) = f.o[i];
    contact.frame(i, 2) = f.n[i];
  }
}

/// Turns t and o about n.
Frame rolled(const Frame& f, double roll) {
  double c, s;
  exact_cos_sin(roll, c, s);
  return {axpy(s, f.o, c * f.t), axpy(-s, f.t, c * f.o), f.n};
}

/// n points against the outward direction (azimuth, elevation), t up along the meridian, o along
/// the parallel: R = Qz(azimuth) Qy(-pi/2 - elevation), docs/grasp-model.md.
Frame meridian_frame(double azimuth, double elevation) {
  double ca, sa, ce, se;
  exact_cos_sin(azimuth, ca, sa);
  exact_cos_sin(elevation, ce, se);
  return {{{-se * ca, -se * sa, ce}}, {{-sa, ca, 0}}, {{-ce * ca, -ce * sa, -se}}};
}

double angle_or_zero(TableReader& table, const std::string& key) {
  const Node* node = table.find(key);
  return node == nullptr ? 0.0 : read_quantity(*node, table.name(key), kAngle);
}

/// A length that must not leave the surface.
double read_within(const Node& node, const std::string& key, double half) {
  const double x = read_quantity(node, key, kLength);
  if (std::abs(x) > half) {
    fail(node.place, key, "off the surface: " + shortest(x) + " m, but the surface ends at +-" + shortest(half) + " m",
         "Move the contact inwards or enlarge the object.");
  }
  return x;
}

/// Where a face "+x" looks: the number of its axis and the sign.
struct Face {
  int axis = 0;
  double sign = 1;
};
Face read_face(const Node& node, const std::string& key, const std::vector<std::string>& choices) {
  const std::string text = read_choice(node, key, choices);
  return {text[1] - 'x', text[0] == '+' ? 1.0 : -1.0};
}

/// Side faces have t up and o to the left when seen from outside, like a sphere's equator.
Frame face_frame(const Face& face) {
  const double quarter = M_PI / 2;
  if (face.axis == 2) return meridian_frame(0, face.sign * quarter);
  return meridian_frame(face.axis * quarter + (face.sign < 0 ? 2 * quarter : 0), 0);
}

struct At {
  double u = 0, v = 0;
};

At read_at(TableReader& table, double half_u, double half_v) {
  const Node* node = table.find("at");
  if (node == nullptr) return {};
  const std::string key = table.name("at");
  const std::vector<Node>& items = read_array(*node, key, 2);
  return {read_within(items[0], item(key, 0), half_u), read_within(items[1], item(key, 1), half_v)};
}

void place_on_box(TableReader& table, const Object& object, Contact& contact) {
  const Node& node = table.require("face", "Say which face of the box: face = \"+x\".");
  const Face face = read_face(node, table.name("face"), {"+x", "-x", "+y", "-y", "+z", "-z"});
  const int u = (face.axis + 1) % 3, v = (face.axis + 2) % 3;
  const At at = read_at(table, object.size[u] / 2, object.size[v] / 2);
  contact.point[face.axis] = face.sign * object.size[face.axis] / 2;
  contact.point[u] = at.u;
  contact.point[v] = at.v;
  set_frame(rolled(face_frame(face), angle_or_zero(table, "roll")), contact);
}

void place_on_cylinder_end(TableReader& table, const Node& node, const Object& object, Contact& contact) {
  const Face face = read_face(node, table.name("face"), {"+z", "-z"});
  const At at = read_at(table, object.radius, object.radius);
  if (std::hypot(at.u, at.v) > object.radius) {
    fail(table.place(), table.name("at"), "off the end of the cylinder",
         "Move the contact inwards or enlarge the object.");
  }
  contact.point = {{at.u, at.v, face.sign * object.height / 2}};
  set_frame(rolled(face_frame(face), angle_or_zero(table, "roll")), contact);
}

void place_on_cylinder_side(TableReader& table, const Object& object, Contact& contact) {
  const Node& azimuth_node = table.require("azimuth", "Say where: azimuth = \"30 deg\", or face = \"+z\".");
  const double azimuth = read_quantity(azimuth_node, table.name("azimuth"), kAngle);
  double height = 0;
  if (const Node* node = table.find("height")) height = read_within(*node, table.name("height"), object.height / 2);
  const double roll = angle_or_zero(table, "roll");
  double c, s;
  exact_cos_sin(roll, c, s);
  // Between the principal directions the surface also twists, which two curvatures cannot say.
  if (c != 0 && s != 0) {
    fail(table.place(), table.name("roll"), "not a multiple of 90 deg on the side of a cylinder",
         "t and o must lie along and around the cylinder there.");
  }
  const Frame frame = meridian_frame(azimuth, 0);
  contact.point = axpy(-object.radius, frame.n, vec3(0.0, 0.0, height));
  contact.curvature_t = s != 0 ? 1 / object.radius : 0;
  contact.curvature_o = c != 0 ? 1 / object.radius : 0;
  set_frame(rolled(frame, roll), contact);
}

void place_on_cylinder(TableReader& table, const Object& object, Contact& contact) {
  const Node* face = table.find("face");
  if (face != nullptr) {
    place_on_cylinder_end(table, *face, object, contact);
  } else {
    place_on_cylinder_side(table, object, contact);
  }
}

/// Scales to length 1; leaves a vector that has it already as it is, to the last bit.
Vec3<double> unit(const Vec3<double>& v, const Place& place, const std::string& key) {
  const double length = norm(v);
  if (!(length > 1e-12))
    fail(place, key, "no direction: it is zero, or along the normal", "Give a vector that is not zero.");
  return std::abs(length - 1) < 1e-14 ? v : (1 / length) * v;
}

Frame read_frame(TableReader& table) {
  const Node& node = table.require("normal", "Give the inward normal: normal = [-1, 0, 0].");
  const Vec3<double> n = unit(read_vector(node, table.name("normal"), kRatio), node.place, table.name("normal"));
  const Node* tangent = table.find("tangent");
  if (tangent == nullptr) {
    const double level = std::hypot(n[0], n[1]);
    Frame f = meridian_frame(level > 1e-12 ? std::atan2(-n[1], -n[0]) : 0, std::atan2(-n[2], level));
    return {f.t, f.o, n};
  }
  const Vec3<double> along = read_vector(*tangent, table.name("tangent"), kRatio);
  const double lean = dot(along, n);
  const Vec3<double> level = std::abs(lean) < 1e-14 ? along : axpy(-lean, n, along);
  const Vec3<double> t = unit(level, tangent->place, table.name("tangent"));
  return {t, cross(n, t), n};
}

void place_at_point(TableReader& table, const Node& point, Contact& contact) {
  contact.point = read_vector(point, table.name("point"), kLength);
  set_frame(rolled(read_frame(table), angle_or_zero(table, "roll")), contact);
  if (const Node* node = table.find("curvature")) {
    const std::vector<Node>& items = read_array(*node, table.name("curvature"), 2);
    contact.curvature_t = read_quantity(items[0], item(table.name("curvature"), 0), kCurvature);
    contact.curvature_o = read_quantity(items[1], item(table.name("curvature"), 1), kCurvature);
  }
  if (const Node* node = table.find("angle_sign")) {
    contact.angle_sign = read_bounded(*node, table.name("angle_sign"), {kRatio, {.low = -1, .high = 1}});
  }
}

/// One value for both surface directions, or [along t, along o].
AnyValue slide(Contact& contact) {
  const auto read = [&contact](const Node& node, const std::string& key) {
    const Wanted wanted{kLength};
    if (node.kind != Node::Kind::kArray) {
      contact.slide_t = contact.slide_o = read_distribution(node, key, wanted);
      return;
    }
    const std::vector<Node>& items = read_array(node, key, 2);
    contact.slide_t = read_distribution(items[0], item(key, 0), wanted);
    contact.slide_o = read_distribution(items[1], item(key, 1), wanted);
  };
  const auto write = [&contact] {
    return "[" + text(contact.slide_t, kLength) + ", " + text(contact.slide_o, kLength) + "]";
  };
  return custom({read, write, "D or [D along t, D along o], m",
                 R"({"anyOf": [{"type": ["number", "string", "array"]}, {"$ref": "#/definitions/distribution"}]})"});
}

AnyValue friction(Contact& contact, study::Distribution* common) {
  const auto read = [&contact, common](const Node& node, const std::string& key) {
    read_friction(node, key, common, contact);
  };
  const auto write = [&contact] {
    const std::string own = text(contact.friction, kRatio);
    return contact.common_friction ? "{ each = " + own + " }" : own;
  };
  const std::string shared = common != nullptr ? "`{ common = D, each = D }`" : "`{ each = D }`";
  return custom({read, write, "D, at least 0, or " + shared,
                 R"({"anyOf": [{"type": ["number", "string"]}, {"$ref": "#/definitions/distribution"},
                     {"type": "object", "properties": {"common": {}, "each": {}}, "additionalProperties": false}]})"});
}

/// The whole command, contact axes.
AnyValue own_force(std::optional<Vec3<double>>& force) {
  const auto read = [&force](const Node& node, const std::string& key) {
    const Vec3<double> v = read_vector(node, key, kForce);
    if (v[0] < 0)
      fail(node.items[0].place, item(key, 0), "pulls: the normal force must not be negative",
           "Write force = [n, t, o]: n presses into the object, t and o lie along it.");
    force = v;
  };
  return custom({read, [&force] { return force ? text(*force, kForce) : std::string(); }, "[n, t, o], N",
                 R"({"type": "array", "minItems": 3, "maxItems": 3})"});
}

/// The place as it was resolved.
void write_place(const Contact& c, Writer& w) {
  w.quantity("point", c.point, kLength);
  w.line("normal", text(column(c.frame, 2), kRatio), "inward");
  w.line("tangent", text(column(c.frame, 0), kRatio), "t; o = normal x tangent");
  w.line("curvature", "[" + shortest(c.curvature_t) + ", " + shortest(c.curvature_o) + "]", "1/m, along t and o");
  w.line("angle_sign", shortest(c.angle_sign), "how contacts.angle moves it along o");
}

void note_place(Fields& f) {
  const auto note = [&](const char* name, const std::string& takes, const Words& words) {
    f.key(name, custom({{}, [] { return std::string(); }, takes}), words);
  };
  const Words zero{.otherwise = "`0`"};
  const std::string at = "[u, v], m", roll = "an angle; on the side of a cylinder multiples of 90 deg";
  f.when({true, "any shape"}, [&] {
    note("point", "[x, y, z], m", {.doc = "instead of the keys of the shape"});
    note("normal", "[x, y, z]", {.doc = "inward; with `point`"});
    note("tangent", "[x, y, z]", {.doc = "t; with `point`", .otherwise = "along the meridian"});
    note("curvature", "[along t, along o], 1/m", {.doc = "with `point`", .otherwise = "`0`"});
    note("angle_sign", "-1 to 1", {.doc = "how `contacts.angle` moves it along o; with `point`", .otherwise = "`0`"});
    note("roll", roll, {.doc = "turns t towards o", .otherwise = "`0`"});
  });
  f.when({true, "sphere, cylinder"}, [&] { note("azimuth", "an angle", {.doc = "about z"}); });
  f.when({true, "sphere"}, [&] { note("elevation", "an angle", {.doc = "towards z", .otherwise = "`0`"}); });
  f.when({true, "cylinder"}, [&] { note("height", "m", {.doc = "along its axis", .otherwise = "`0`"}); });
  f.when({true, "box, cylinder"}, [&] {
    note("face", "`\"+x\"` .. `\"-z\"`", {.doc = "of a cylinder `\"+z\"` or `\"-z\"`, instead of `azimuth`"});
    note("at", at, {.doc = "from the face's centre along the next two axes, cyclically", .otherwise = "`[0, 0]`"});
  });
}

}  // namespace

void place_on_sphere(const SpherePlace& place, double radius, Contact& contact) {
  const Frame frame = meridian_frame(place.azimuth, place.elevation);
  contact.point = -radius * frame.n;
  contact.curvature_t = contact.curvature_o = 1 / radius;
  set_frame(rolled(frame, place.roll), contact);
}

namespace {

/// Which keys say where it is depends on the object's shape; `point` with `normal` works on any.
void read_contact_place(TableReader& table, const Object& object, Contact& contact) {
  if (const Node* point = table.find("point")) return place_at_point(table, *point, contact);
  switch (object.shape) {
    case Shape::kSphere: {
      const Node& azimuth = table.require("azimuth", "Say where: azimuth = \"30 deg\" (and elevation).");
      const SpherePlace place{read_quantity(azimuth, table.name("azimuth"), kAngle), angle_or_zero(table, "elevation"),
                              angle_or_zero(table, "roll")};
      return place_on_sphere(place, object.radius, contact);
    }
    case Shape::kBox:
      return place_on_box(table, object, contact);
    case Shape::kCylinder:
      return place_on_cylinder(table, object, contact);
    case Shape::kPoints:
      static_cast<void>(table.require("point", "Give the place: point = [x, y, z] and normal = [nx, ny, nz]."));
  }
}

}  // namespace

// What is written is the place that the keys lead to, not the keys.
void contact_place_fields(Fields& f, bool known, const Object& object, Contact& contact) {
  if (TableReader* table = f.reader()) {
    if (known) f.then([&] { read_contact_place(*table, object, contact); });
    if (!known || !f.sound()) f.give_up();
  } else if (Writer* w = f.writer()) {
    write_place(contact, *w);
  } else {
    note_place(f);
  }
}

void contact_input_fields(Fields& f, Contact& contact, study::Distribution* common_friction) {
  f.key("friction", friction(contact, common_friction),
        {.doc = "each (1) times one draw for all contacts: [friction that contacts "
                "share](#friction-that-contacts-share)",
         .otherwise = common_friction != nullptr ? "required, here or in each `[[contact]]`" : "that of `[contacts]`"});
  f.key("slide", slide(contact),
        {.doc = "deviation of the contact point along the surface", .comment = "m, along t and o"});
  f.key("tilt", distribution(contact.tilt, {kAngle, {.low = 0, .high = M_PI / 2}, true}),
        {.doc = "angle between the true and the modelled normal"});
  f.key("squeeze_error", distribution(contact.squeeze_error, {kForce}), {.doc = "added to the commanded normal force"});
  f.key("force_limit",
        quantity(contact.force_limit, {kForce, Bounds::positive()}, std::numeric_limits<double>::infinity()),
        {.doc = "the largest normal force with which a wrench may be balanced"});
}

void contact_command_fields(Fields& f, Contact& contact) {
  f.key("squeeze", distribution(contact.squeeze, {kForce, Bounds::not_negative()}),
        {.doc = "this contact's commanded normal force: [commands](#commands)", .otherwise = "`load.squeeze`"});
  f.key("force", own_force(contact.force),
        {.doc = "its whole commanded force instead: [commands](#commands)",
         .comment = "N, along n, t, o: the whole command"});
}

}  // namespace garra::io
