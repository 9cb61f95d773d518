// Location of a contact: by keys for the object's shape, or by point and normal.
#include "grasp/files/contact_fields.hpp"

#include <array>
#include <cmath>

#include "base/files/number.hpp"
#include "base/scenario/field_values.hpp"
#include "garra/math/rotation.hpp"

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
  // Exact at multiples of 90 degrees: a face's frame has zeros and ones.
  exact_cos_sin(roll, c, s);
  return {axpy(s, f.o, c * f.t), axpy(-s, f.t, c * f.o), f.n};
}

/// n points against the outward direction (azimuth, elevation), t up along the meridian, o along
/// the parallel: R = Qz(azimuth) Qy(-pi/2 - elevation), docs/theory/grasp-model.md.
Frame meridian_frame(double azimuth, double elevation) {
  double ca, sa, ce, se;
  exact_cos_sin(azimuth, ca, sa);
  exact_cos_sin(elevation, ce, se);
  return {{{-se * ca, -se * sa, ce}}, {{-sa, ca, 0}}, {{-ce * ca, -ce * sa, -se}}};
}

/// Direction of a face such as "+x": the number of its axis and the sign.
struct Face {
  int axis = 0;
  double sign = 1;
};
Face parse_face(const std::string& text) { return {text[1] - 'x', text[0] == '+' ? 1.0 : -1.0}; }

/// Side faces have t up and o to the left when seen from outside, like a sphere's equator.
Frame face_frame(const Face& face) {
  const double quarter = M_PI / 2;
  if (face.axis == 2) return meridian_frame(0, face.sign * quarter);
  return meridian_frame(face.axis * quarter + (face.sign < 0 ? 2 * quarter : 0), 0);
}

/// Values of the keys. `point` and the frame are also written, as the resolved place.
struct Keys {
  Vec3<double> point, normal, tangent;
  double azimuth = 0, elevation = 0, height = 0, roll = 0;
  std::string face = "+z";
  std::array<double, 2> at = {};  ///< from the face's center along the next two axes, cyclically
};

/// The keys that are present.
struct Form {
  bool point, tangent, curvature, face, side;  ///< side: of a cylinder
};

/// Checks that a length stays on the surface.
void check_within(Fields& f, const std::string& key, double x, double half) {
  f.check(std::abs(x) <= half, key,
          "off the surface: " + shortest(x) + " m, but the surface ends at +-" + shortest(half) + " m",
          "Move the contact inwards or enlarge the object.");
}

bool has_direction(const Vec3<double>& v) { return norm(v) > 1e-12; }

/// Scales to length 1; leaves a unit vector unchanged to the last bit.
Vec3<double> unit_vector(const Vec3<double>& v) {
  // A written vector is a unit already: dividing again would change its last bit at every print.
  const double length = norm(v);
  return std::abs(length - 1) < 1e-14 ? v : (1 / length) * v;
}

/// The part of `along` that is perpendicular to n.
Vec3<double> level(const Vec3<double>& along, const Vec3<double>& n) {
  const double lean = dot(along, n);
  // Likewise: a vector that is perpendicular up to rounding stays unchanged.
  return std::abs(lean) < 1e-14 ? along : axpy(-lean, n, along);
}

Frame frame_at_point(const Keys& keys, bool tangent) {
  const Vec3<double> n = unit_vector(keys.normal);
  if (tangent) {
    const Vec3<double> t = unit_vector(level(keys.tangent, n));
    return {t, cross(n, t), n};
  }
  // At the poles the meridian is not defined: azimuth 0 is taken.
  const double level = std::hypot(n[0], n[1]);
  Frame f = meridian_frame(level > 1e-12 ? std::atan2(-n[1], -n[0]) : 0, std::atan2(-n[2], level));
  return {f.t, f.o, n};
}

void place_on_face(const Keys& keys, const Object& object, Contact& contact) {
  const Face face = parse_face(keys.face);
  const int axis = face.axis;
  const double half = (object.shape == Shape::kBox ? object.size[axis] : object.height) / 2;
  contact.point[axis] = face.sign * half;
  contact.point[(axis + 1) % 3] = keys.at[0];
  contact.point[(axis + 2) % 3] = keys.at[1];
  set_frame(rolled(face_frame(face), keys.roll), contact);
}

void place_on_side(const Keys& keys, double radius, Contact& contact) {
  double c, s;
  exact_cos_sin(keys.roll, c, s);
  const Frame frame = meridian_frame(keys.azimuth, 0);
  contact.point = axpy(-radius, frame.n, vec3(0.0, 0.0, keys.height));
  // A quarter turn exchanges t and o, so the round direction becomes t's.
  contact.curvature_t = s != 0 ? 1 / radius : 0;
  contact.curvature_o = c != 0 ? 1 / radius : 0;
  set_frame(rolled(frame, keys.roll), contact);
}

/// Curvatures of the object's shape at a contact point that lies on it, if t or o is a principal direction there.
void take_curvature(const Object& object, Contact& contact) {
  constexpr double kOff = 1e-6;  ///< of the point from the surface, over the radius, and of the normal
  const bool sphere = object.shape == Shape::kSphere;
  if (!sphere && object.shape != Shape::kCylinder) return;
  const double r = object.radius, height = sphere ? contact.point[2] : 0;
  const Vec3<double> out = (1 / r) * vec3(contact.point[0], contact.point[1], height), n = column(contact.frame, 2);
  if (std::abs(norm(out) - 1) > kOff || norm(out + n) > kOff) return;
  const double along_t = sphere ? 1 : 1 - std::abs(column(contact.frame, 0)[2]);
  const double along_o = sphere ? 1 : 1 - std::abs(column(contact.frame, 1)[2]);
  if (std::min(along_t, 1 - along_t) > kOff || std::min(along_o, 1 - along_o) > kOff) return;
  contact.curvature_t = along_t > kOff ? 1 / r : 0;
  contact.curvature_o = along_o > kOff ? 1 / r : 0;
}

void place(const Keys& keys, const Form& form, const Object& object, Contact& contact) {
  if (form.point) {
    contact.point = keys.point;
    set_frame(rolled(frame_at_point(keys, form.tangent), keys.roll), contact);
    if (!form.curvature) take_curvature(object, contact);
  } else if (form.face) {
    place_on_face(keys, object, contact);
  } else if (form.side) {
    place_on_side(keys, object.radius, contact);
  } else {
    place_on_sphere({keys.azimuth, keys.elevation, keys.roll}, object.radius, contact);
  }
}

/// Between the principal directions the surface also twists, which two curvatures cannot express.
void check_roll_on_side(Fields& f, double roll) {
  double c, s;
  exact_cos_sin(roll, c, s);
  f.check(c == 0 || s == 0, "roll", "not a multiple of 90 deg on the side of a cylinder",
          "t and o must lie along and around the cylinder there.");
}

void point_fields(Fields& f, bool points_only, const Form& form, Keys& keys, Contact& contact) {
  const std::string remedy = "Give the place: point = [x, y, z] and normal = [nx, ny, nz].";
  f.key("point", vector(keys.point, {kLength}),
        {.doc = "instead of the keys of the shape",
         .required = f.reading() && points_only ? remedy : "",
         .otherwise = "none"});
  f.key(
      "normal", vector(keys.normal, {kRatio}),
      {.doc = "inward; with `point`", .comment = "inward", .required = "Give the inward normal: normal = [-1, 0, 0]."});
  const std::string none = "no direction: it is zero, or along the normal", give = "Give a vector that is not zero.";
  f.check(has_direction(keys.normal), "normal", none, give);
  f.key("tangent", vector(keys.tangent, {kRatio}),
        {.doc = "t; with `point`", .comment = "t; o = normal x tangent", .otherwise = "along the meridian"});
  f.check(!form.tangent || !has_direction(keys.normal) || has_direction(level(keys.tangent, unit_vector(keys.normal))),
          "tangent", none, give);
  const auto curvature = [&](std::size_t k) {
    return quantity(k == 0 ? contact.curvature_t : contact.curvature_o, {kCurvature});
  };
  f.key("curvature", list_value({2, curvature, "[along t, along o], 1/m"}),
        {.doc = "with `point`",
         .comment = "1/m, along t and o",
         .otherwise = "of the shape, if the point is on it; else `0`"});
  f.key("angle_sign", quantity(contact.angle_sign, {kRatio, {.low = -1, .high = 1}}),
        {.doc = "how `contacts.angle` moves it along o; with `point`",
         .comment = "how contacts.angle moves it along o",
         .otherwise = "`0`"});
}

void face_fields(Fields& f, const Object& object, Keys& keys) {
  const bool box = object.shape != Shape::kCylinder;
  std::vector<std::string> faces = {"+z", "-z"};
  if (box) faces = {"+x", "-x", "+y", "-y", "+z", "-z"};
  f.key("face", choice(keys.face, faces),
        {.doc = "of a cylinder `\"+z\"` or `\"-z\"`, instead of `azimuth`",
         .required = f.reading() && box ? "Say which face of the box: face = \"+x\"." : "",
         .otherwise = "required on a box"});
  f.key("at", list_value({2, [&](std::size_t k) { return quantity(keys.at[k], {kLength}); }, "[u, v], m"}),
        {.doc = "from the face's center along the next two axes, cyclically"});
  const int axis = parse_face(keys.face).axis;
  for (std::size_t k = 0; k < 2; ++k) {
    const double size = object.size[(axis + 1 + static_cast<int>(k)) % 3] / 2;
    check_within(f, item("at", k), keys.at[k], box ? size : object.radius);
  }
  f.check(box || std::hypot(keys.at[0], keys.at[1]) <= object.radius, "at", "off the end of the cylinder",
          "Move the contact inwards or enlarge the object.");
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

/// { common = D, each = D }, `common` in [contacts] only.
void shared_friction_fields(Fields& f, study::Distribution* common, Contact& contact) {
  const Wanted wanted{kRatio, Bounds::not_negative()};
  study::Distribution none;
  const bool shared = f.has("common", false);
  if (f.reading() || common != nullptr) f.key("common", distribution(common != nullptr ? *common : none, wanted));
  f.check(!shared || common != nullptr, "common", "is one draw for all contacts",
          "Write it in [contacts], and here each = ....");
  f.check(shared || contact.common_friction, "each",
          "is a factor on the friction common to all contacts, and there is none",
          "Write friction = { common = ... } in [contacts], or a friction of its own here.");
  // Without `each` the factor is 1.
  if (f.reading()) contact.friction = study::Distribution::constant(1);
  f.key("each", distribution(contact.friction, wanted));
  if (f.reading()) contact.common_friction = true;
}

AnyValue friction(Contact& contact, study::Distribution* common) {
  const Wanted wanted{kRatio, Bounds::not_negative()};
  const AnyValue own = distribution(contact.friction, wanted),
                 shared = inlined([&contact, common](Fields&f) { shared_friction_fields(f, common, contact); },
                                  common != nullptr ? "`{ common = D, each = D }`" : "`{ each = D }`");
  const auto read = [&contact, own, shared](const Node& node, const std::string& key) {
    const bool factor =
        node.kind == Node::Kind::kTable && (node.find("common") != nullptr || node.find("each") != nullptr);
    // A contact's own friction overrides that of [contacts].
    if (!factor) contact.common_friction = false;
    AnyValue(factor ? shared : own).read(node, key);
  };
  const auto write = [&contact, own, shared] { return contact.common_friction ? shared.text() : own.text(); };
  return custom({read, write, own.takes() + ", or " + shared.takes(),
                 R"json({"anyOf": [{"type": "number", "minimum": 0.0},
                     {"type": "string", "pattern": "^\\s*\\+?(\\d|\\.\\d)"}, {"$ref": "#/definitions/distribution"},
                     {"type": "object", "additionalProperties": false, "properties": {
                         "common": {"anyOf": [{"type": ["number", "string"]}, {"$ref": "#/definitions/distribution"}]},
                         "each": {"anyOf": [{"type": ["number", "string"]}, {"$ref": "#/definitions/distribution"}]}}}]})json"});
}

/// The whole command, contact axes.
AnyValue own_force(std::optional<Vec3<double>>& force) {
  const auto read = [&force](const Node& node, const std::string& key) {
    const Vec3<double> v = read_vector(node, key, kForce);
    // A negative normal force would pull at the object, which no contact can do.
    if (v[0] < 0)
      fail(node.items[0].place, item(key, 0), "pulls: the normal force must not be negative",
           "Write force = [n, t, o]: n presses into the object, t and o lie along it.");
    force = v;
  };
  return custom({read, [&force] { return force ? text(*force, kForce) : std::string(); }, "[n, t, o], N",
                 R"({"type": "array", "minItems": 3, "maxItems": 3})"});
}

}  // namespace

void place_on_sphere(const SpherePlace& place, double radius, Contact& contact) {
  const Frame frame = meridian_frame(place.azimuth, place.elevation);
  contact.point = -radius * frame.n;
  contact.curvature_t = contact.curvature_o = 1 / radius;
  set_frame(rolled(frame, place.roll), contact);
}

// The keys of the location depend on the object's shape; `point` with `normal` works on any, and is the written form.
void contact_place_fields(Fields& f, bool known, const Object& object, Contact& contact) {
  // Without a known object no key can be checked; its own error was reported.
  if (!known) return f.give_up();
  const auto is = [&](Shape shape) { return object.shape == shape; };
  Form form{};
  form.point = f.has("point", true) || is(Shape::kPoints);
  form.tangent = f.has("tangent", true);
  form.curvature = f.has("curvature", true);
  form.face = !form.point && (is(Shape::kBox) || (is(Shape::kCylinder) && f.has("face", false)));
  form.side = !form.point && !form.face && is(Shape::kCylinder);
  const bool sphere = !form.point && is(Shape::kSphere);
  // The resolved place is written, as `point`, `normal` and `tangent`.
  Keys keys{contact.point, column(contact.frame, 2), column(contact.frame, 0)};
  f.when({form.point, "any shape"}, [&] { point_fields(f, is(Shape::kPoints), form, keys, contact); });
  f.when({sphere || form.side, "sphere, cylinder"}, [&] {
    f.key("azimuth", quantity(keys.azimuth, {kAngle}),
          {.doc = "about z",
           .required =
               "Say where: azimuth = \"30 deg\"" + std::string(sphere ? " (and elevation)." : ", or face = \"+z\".")});
  });
  f.when({sphere, "sphere"}, [&] { f.key("elevation", quantity(keys.elevation, {kAngle}), {.doc = "towards z"}); });
  f.when({form.side, "cylinder"}, [&] {
    f.key("height", quantity(keys.height, {kLength}), {.doc = "along its axis"});
    check_within(f, "height", keys.height, object.height / 2);
  });
  f.when({form.face, "box, cylinder"}, [&] { face_fields(f, object, keys); });
  // A written frame includes the roll already.
  if (!f.writing())
    f.key("roll", quantity(keys.roll, {kAngle}),
          {.doc = "turns t towards o; on the side of a cylinder multiples of 90 deg"});
  if (form.side) check_roll_on_side(f, keys.roll);
  f.then([&] { place(keys, form, object, contact); });
}

void contact_input_fields(Fields& f, Contact& contact, study::Distribution* common_friction) {
  f.key("friction", friction(contact, common_friction),
        {.doc = "each (1) times one draw for all contacts: [friction that contacts "
                "share](#friction-that-contacts-share)",
         .otherwise = common_friction != nullptr ? "required, here or in each `[[contact]]`" : "that of `[contacts]`"});
  f.key("slide", slide(contact),
        {.doc = "deviation of the contact point along the surface", .comment = "m, along t and o"});
  f.key("tilt", distribution(contact.tilt, {kAngle, {.low = 0, .high = M_PI / 2}, true}),
        {.doc = "angle between the true and the modeled normal"});
  f.key("grip_force_error", distribution(contact.grip_force_error, {kForce}),
        {.doc = "added to the commanded normal force"});
  f.key("force_limit",
        quantity(contact.force_limit, {kForce, Bounds::positive()}, std::numeric_limits<double>::infinity()),
        {.doc = "the largest normal force with which a wrench may be balanced"});
  std::string mode = contact.slides ? "slide" : "roll";
  if (f.has("mode", contact.slides))
    f.key("mode", choice(mode, {"roll", "slide"}),
          {.doc = "`\"slide\"`: it slips already, and friction opposes the slip ([sliding "
                  "contacts](../theory/grasp-sliding.md)); not with `[simulation]`"});
  contact.slides = mode == "slide";
  if (f.has("slip", dot(contact.slip, contact.slip) > 0))
    f.key(
        "slip",
        list_value({2, [&](std::size_t k) { return quantity(contact.slip[static_cast<int>(k)], {kRatio}); }, "[t, o]"}),
        {.doc = "direction of that slip, of the object relative to its partner; its speed does not matter",
         .otherwise = "from `[motion]` and the `rates` of the finger"});
}

void contact_command_fields(Fields& f, Contact& contact) {
  f.key("grip_force", distribution(contact.grip_force, {kForce, Bounds::not_negative()}),
        {.doc = "this contact's commanded normal force: [commands](#commands)", .otherwise = "`load.grip_force`"});
  f.key("force", own_force(contact.force),
        {.doc = "its whole commanded force instead: [commands](#commands)",
         .comment = "N, along n, t, o: the whole command"});
}

}  // namespace garra::io
