#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "base/files/data_folders.hpp"
#include "base/files/suggest.hpp"
#include "base/files/text_file.hpp"
#include "base/scenario/field_reader.hpp"
#include "base/scenario/field_writer.hpp"
#include "base/scenario/jobs.hpp"
#include "base/scenario/parts.hpp"
#include "chain/files/pose_reader.hpp"
#include "garra/io/platform_file.hpp"
#include "garra/math/rotation.hpp"
#include "garra/systems/platform/legs.hpp"
#include "platform/files/parts.hpp"

namespace garra::io {

namespace {

namespace fs = std::filesystem;
using platform::Leg;
using platform::Platform;

constexpr std::size_t kLegs = platform::kLegs;

/// Anchors in three pairs on two circles. Base pairs are at base_turn, + 120 and + 240 degrees,
/// platform pairs at platform_turn and so on. Legs 5 and 0 meet at the first pair of the platform,
/// legs 1 and 2 at that of the base.
struct Layout {
  double base_radius = 0, platform_radius = 0, base_half_angle = 0, platform_half_angle = 0;
  double base_turn = M_PI / 3, platform_turn = 0, anchor_height = 0;

  void place(std::vector<Leg>& legs) const {
    const auto on_circle = [](double radius, double at, double z) {
      double c, s;
      // Exact at multiples of a quarter turn, so that symmetric layouts are symmetric to the bit.
      exact_cos_sin(at, c, s);
      return Vec3<double>{{radius * c, radius * s, z}};
    };
    const auto third = [](std::size_t pair) { return 2 * M_PI / 3 * static_cast<double>(pair); };
    for (std::size_t i = 0; i < kLegs; ++i) {
      const double side = i % 2 == 0 ? -1 : 1;
      legs[i].base = on_circle(base_radius, base_turn + third(i / 2) + side * base_half_angle, 0);
      legs[i].anchor = on_circle(platform_radius, platform_turn + third((i + 1) / 2 % 3) - side * platform_half_angle,
                                 anchor_height);
      // Along the radius of the base, as a leg's `axis` is where a file does not say.
      legs[i].axis = (1 / base_radius) * legs[i].base;
    }
  }
};

/// Platform, and the keys of its file for all legs.
struct PlatformFile {
  Platform platform;
  std::vector<Leg> leg = std::vector<Leg>(kLegs);
  Leg common;                       ///< [legs]
  std::set<std::string> in_common;  ///< its keys
  Layout layout;
};

/// Rejects angles beyond `most` [rad], which were probably meant in degrees.
void check_angle(Fields& f, const char* key, double angle, double most = 2 * M_PI) {
  char text[96];
  std::snprintf(text, sizeof text, "Write %s = \"%g deg\" if degrees are meant; a plain number is in radians.", key,
                angle);
  f.check(std::abs(angle) <= most, key, most > M_PI ? "more than a full turn" : "more than a right angle", text);
}

AnyValue stroke(Leg& leg) {
  return list_value({2,
                     [&leg](std::size_t k) {
                       return quantity(k == 0 ? leg.length_min : leg.length_max, {kLength, Bounds::positive()});
                     },
                     "[shortest, longest], above 0 m"});
}

AnyValue link(platform::Link& link) {
  return inlined([&link](Fields& f) {
    f.key("mass", quantity(link.mass, {kMass, Bounds::not_negative()}), {.required = "Write mass = \"4 kg\"."});
    f.key("com", quantity(link.com, {kLength}),
          {.doc = "distance of the center of mass from its joint",
           .required = "Write com = 0.45: the distance of the center of mass from its joint."});
    f.key("inertia", vector(link.inertia, {kInertia}),
          {.doc = "about the center of mass, z along the leg",
           .required = "Write inertia = [xx, yy, zz]: about the center of mass, z along the leg."});
  });
}

/// Keys of legs that two tables may hold.
struct Shared {
  std::set<std::string> said;  ///< keys given in another table
  bool need;                   ///< keys not given elsewhere are required here
  std::string parts, cones;    ///< values if left out; empty: the default
};

/// Keys that all legs may share ([legs]), or that each leg has.
void part_fields(Fields& f, Leg& leg, const Shared& shared) {
  const bool stroke_needed = shared.need && !shared.said.contains("stroke");
  f.key("stroke", stroke(leg),
        {.doc = "lengths from joint to joint",
         .required = stroke_needed ? "Write stroke = [shortest, longest]. [legs] holds what all legs share." : "",
         .otherwise = shared.parts});
  f.check(!f.has("stroke", true) || leg.length_min < leg.length_max, "stroke", "the stroke is empty",
          "Write stroke = [shortest, longest].");
  f.key("tube", link(leg.lower),
        {.doc = "turns with the universal joint", .comment = "kg, m, kg*m^2", .otherwise = shared.parts});
  f.key("rod", link(leg.upper), {.doc = "slides in the tube", .otherwise = shared.parts});
  const Wanted cone{kAngle, Bounds::positive()};
  f.key("universal_cone", quantity(leg.universal_cone, cone),
        {.doc = "half angle about the direction at home; more than pi: no limit", .otherwise = shared.cones});
  f.key("spherical_cone", quantity(leg.spherical_cone, cone),
        {.doc = "likewise, of the joint at the platform", .otherwise = shared.cones});
  check_angle(f, "universal_cone", leg.universal_cone);
  check_angle(f, "spherical_cone", leg.spherical_cone);
}

void common_fields(Fields& f, PlatformFile& file, bool need) {
  part_fields(f, file.common, {{}, need, "each leg's own", ""});
  for (const char* key : {"stroke", "tube", "rod"})
    if (f.has(key, false)) file.in_common.insert(key);
}

void leg_fields(Fields& f, const PlatformFile& file, Leg& leg) {
  f.key(
      "base", vector(leg.base, {kLength}),
      {.doc = "universal joint, base frame", .required = "Write base = [x, y, z] of the universal joint, base frame."});
  f.key("anchor", vector(leg.anchor, {kLength}),
        {.doc = "spherical joint, platform frame",
         .required = "Write anchor = [x, y, z] of the spherical joint, platform frame."});
  if (f.reading()) leg.axis = leg.base;  // made a unit vector by checked()
  f.key("axis", vector(leg.axis, {kRatio}),
        {.doc = "of the universal joint, fixed to the base", .otherwise = "that of `base`"});
  part_fields(f, leg, {file.in_common, f.reading(), "that of `[legs]`", "that of `[legs]`"});
}

void layout_fields(Fields& f, Layout& l) {
  const auto length = [&](const char* key, double& value, const char* doc) {
    f.key(key, quantity(value, {kLength, Bounds::positive()}),
          {.doc = doc, .required = std::string("Write ") + key + " = \"0.5 m\"."});
  };
  const auto half = [&](const char* key, double& value,
                        const char* doc) {  // 0: both legs of a pair on one joint center
    f.key(key, quantity(value, {kAngle, Bounds::not_negative()}),
          {.doc = doc, .required = std::string("Write ") + key + " = \"12 deg\"."});
    check_angle(f, key, value, M_PI / 2);
  };
  length("base_radius", l.base_radius, "of the circle of universal joints");
  length("platform_radius", l.platform_radius, "of the circle of spherical joints");
  half("base_half_angle", l.base_half_angle, "between the legs of a pair, halved");
  half("platform_half_angle", l.platform_half_angle, "between the legs of a pair, halved");
  f.key("base_turn", quantity(l.base_turn, {kAngle}), {.doc = "where the first pair is"});
  f.key("platform_turn", quantity(l.platform_turn, {kAngle}), {.doc = "where the first pair is"});
  check_angle(f, "base_turn", l.base_turn);
  check_angle(f, "platform_turn", l.platform_turn);
  f.key("anchor_height", quantity(l.anchor_height, {kLength}), {.doc = "of the spherical joints, platform frame"});
}

void body_fields(Fields& f, Platform& p) {
  const auto home = [&p](const Node& node, const std::string& key) {
    const platform::Place<double> place = read_place(node, key, {Vec3<double>::zero(), {{1, 0, 0, 0}}});
    p.home = place.r;
    p.home_turn = place.p;
  };
  f.key("name", string(p.name), {.doc = "its name", .required = "Write name = \"its name\"."});
  f.key("source", string(p.source, true), {.doc = "where its numbers come from"});
  f.key("mass", quantity(p.mass, {kMass, Bounds::not_negative()}),
        {.doc = "of the platform alone; without the masses of platform, tubes and rods: kinematics only"});
  f.key("inertia", inertia(p.inertia), {.comment = "about the center of mass, kg*m^2"});
  f.key("gravity", vector(p.gravity, {kAcceleration}), {.doc = "base axes"});
  f.key("wall", wall(p.gravity), {.doc = "how the base is turned under gravity", .otherwise = "`\"floor\"`"});
  f.key("home", custom({home, [&p] { return text(platform::home_place(p)); }, "a pose", kPoseSchema}),
        {.doc = "of C: `{ position }` with rpy, quaternion or axis_angle",
         .comment = "m; w, x, y, z",
         .required = "Write home = { position = [x, y, z] }."});
  f.key("leg_radius", quantity(p.leg_radius, {kLength, Bounds::not_negative()}),
        {.doc = "legs are cylinders of it; 0: collisions are not looked at"});
}

void platform_fields(Fields& f, PlatformFile& file) {
  schema_field(f);
  f.table("platform", {.doc = "its body", .required = "Write [platform] with name, mass, inertia and home."},
          [&] { body_fields(f, file.platform); });
  const bool layout = f.has("layout", false), legs = f.has("leg", true);
  f.check(!f.reading() || !layout || !legs, "leg", "there is [layout] too", "Give the six legs or the layout.");
  // No leg has a table of its own in a layout: all parts come from [legs].
  const bool all_common = f.reading() && layout && !legs;
  if (f.has("legs", false) || all_common)
    f.table("legs", {.doc = "what all legs have in common"}, [&] { common_fields(f, file, all_common); });
  if (f.reading()) std::fill(file.leg.begin(), file.leg.end(), file.common);
  if (layout && !(f.reading() && legs))
    f.table("layout", {.doc = "anchors in pairs on two circles, in place of `[[leg]]`"},
            [&] { layout_fields(f, file.layout); });
  if (all_common) return;
  const std::string required = f.reading() ? "Write six tables [[leg]], or one [layout]." : "";
  f.tables("leg", {.doc = "each of the six", .required = required},
           {kLegs, [&](std::size_t n) { file.leg.resize(n, file.common); },
            [&](std::size_t i) { leg_fields(f, file, file.leg[i]); }});
  f.check(file.leg.size() == kLegs || !f.reading(), "leg",
          "a platform has 6 legs, here are " + std::to_string(file.leg.size()), "Write one [[leg]] for each.");
}

/// Pairs of legs that cross at home, seen along the mean direction of the legs: "1 and 2, 4 and 5".
std::string crossed_legs(const Platform& p) {
  const Mat3<double> A = platform::rotation_matrix(platform::normalized(p.home_turn));
  Vec3<double> along = Vec3<double>::zero(), end[kLegs];
  for (std::size_t i = 0; i < kLegs; ++i) {
    end[i] = p.home + A * p.leg[i].anchor;
    along += end[i] - p.leg[i].base;
  }
  // Whether c lies to the left of the line from a to b, or to its right.
  const auto side = [&](const Vec3<double>& a, const Vec3<double>& b, const Vec3<double>& c) {
    return dot(along, cross(b - a, c - a));
  };
  std::string out;
  for (std::size_t i = 0; i < kLegs; ++i)
    for (std::size_t j = i + 1; j < kLegs; ++j) {
      const Vec3<double>&a = p.leg[i].base, &b = p.leg[j].base;
      if (side(a, end[i], b) * side(a, end[i], end[j]) < 0 && side(b, end[j], a) * side(b, end[j], end[i]) < 0)
        out += (out.empty() ? "" : ", ") + std::to_string(i) + " and " + std::to_string(j);
    }
  return out;
}

Platform read(const Node& document) {
  TableReader root(document, "");
  check_schema(root);
  PlatformFile file;
  FieldReader f(document);
  platform_fields(f, file);
  f.finish();
  if (document.find("layout") != nullptr) file.layout.place(file.leg);
  std::copy(file.leg.begin(), file.leg.end(), file.platform.leg.begin());
  return file.platform;
}

}  // namespace

bool is_platform_path(const std::string& model) {
  return model.find('/') != std::string::npos || fs::path(model).extension() == ".toml";
}

std::string platform_file(const std::string& model) {
  std::error_code ignored;
  if (is_platform_path(model) || fs::is_regular_file(model, ignored)) return model;
  for (const fs::path& folder : data_folders("platforms")) {
    const fs::path file = folder / (model + ".toml");
    if (fs::is_regular_file(file, ignored)) return file.string();
  }
  throw Error(ExitCode::kInputOutput, io::quoted(model) + ": there is no such file, and no such platform",
              suggest(model, names_in_data("platforms", {".toml"}), "Platforms"));
}

Platform read_platform(const std::string& model, const std::vector<std::string>& overrides) {
  const std::string file = platform_file(model);
  return parse_platform(read_text(file), file, overrides);
}

Platform parse_platform(const std::string& text, const std::string& name, const std::vector<std::string>& overrides) {
  const Node document = parse_toml(text, name, overrides);
  const Platform p = read(document);
  try {
    Platform whole = platform::checked(p);
    // Only for a valid platform: warnings beside an error would hide it.
    for (std::string& warning : inertia_warnings(document)) whole.notes.push_back(std::move(warning));
    const std::string crossed = document.find("layout") != nullptr ? crossed_legs(whole) : "";
    if (!crossed.empty())
      whole.notes.push_back("legs " + crossed +
                            " cross at home, seen along the legs: legs 0 and 1 start at the first pair " +
                            "of the base, legs 5 and 0 end at that of the platform (base_turn, platform_turn)");
    return whole;
  } catch (const Error& error) {
    // Errors of the model itself concern several keys: the place is that of its first table.
    const Node* table = document.find("platform");
    // An override has line 0, which no editor can open.
    throw Error(ExitCode::kInvalidFile, name + ":" + std::to_string(std::max(table->place.line, 1)) + ":" +
                                            std::to_string(std::max(table->place.column, 1)) + ": " + error.what());
  }
}

bool is_platform_toml(const std::string& path) {
  const Node document = parse_toml(read_text(path), path);
  return document.find("job") == nullptr && document.find("platform") != nullptr;
}

std::string platform_toml(const Platform& p) {
  PlatformFile file;
  file.platform = p;
  file.leg.assign(p.leg.begin(), p.leg.end());
  return written(file, platform_fields);
}

void describe_platform_file(Fields& f) {
  PlatformFile file;
  platform_fields(f, file);
}

std::string describe_platform(const Platform& p) {
  const platform::Model<double> m = platform::make_model(p);
  const Mat3<double> A = platform::rotation_matrix(p.home_turn);
  double moving = p.mass;
  std::string lengths;
  for (std::size_t i = 0; i < kLegs; ++i) {
    char text[32];
    std::snprintf(text, sizeof text, " %.4f", platform::leg_vector<double>(m.leg[i], p.home, A).length);
    lengths += text;
    moving += p.leg[i].lower.mass + p.leg[i].upper.mass;
  }
  char mass[64];
  std::snprintf(mass, sizeof mass, "# moving mass %.6g kg\n", moving);
  std::string notes;
  for (const std::string& note : p.notes) notes += "# " + note + "\n";
  return "# lengths at home" + lengths + " m\n" + mass + notes + platform_toml(p);
}

}  // namespace garra::io
