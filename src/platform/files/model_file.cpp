#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "base/files/data_folders.hpp"
#include "base/files/suggest.hpp"
#include "base/files/text_file.hpp"
#include "base/scenario/distribution_reader.hpp"
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

std::vector<std::string> platform_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::path& folder : data_folders("platforms"))
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

double read_positive(const Node& node, const std::string& key, const Dimension& dimension) {
  return read_bounded(node, key, {dimension, Bounds::positive()});
}

platform::Link read_link(const Node& node, const std::string& key) {
  TableReader table(node, key);
  platform::Link link;
  link.mass = read_positive(table.require("mass", "Write mass = \"4 kg\"."), table.name("mass"), kMass);
  link.com = read_quantity(table.require("com", "Write com = 0.45: the distance of the center of mass from its joint."),
                           table.name("com"), kLength);
  link.inertia =
      read_vector(table.require("inertia", "Write inertia = [xx, yy, zz]: about the center of mass, z along the leg."),
                  table.name("inertia"), kInertia);
  table.finish();
  return link;
}

/// What all legs may have in common ([legs]), or each of its own.
class LegParts {
 public:
  explicit LegParts(const Node* common) : common_(common) {}

  /// Takes the keys of a leg's table, then those of [legs].
  void read(TableReader& table, Leg& leg) const {
    const Part stroke = find(table, "stroke");
    const std::vector<Node>& items =
        read_array(need(table, stroke, "Write stroke = [shortest, longest]."), stroke.key, 2);
    leg.length_min = read_positive(items[0], item(stroke.key, 0), kLength);
    leg.length_max = read_positive(items[1], item(stroke.key, 1), kLength);
    if (!(leg.length_min < leg.length_max))
      fail(stroke.node->place, stroke.key, "the stroke is empty", "Write stroke = [shortest, longest].");
    const char* remedy = "Write { mass = 4, com = 0.45, inertia = [xx, yy, zz] }.";
    const Part tube = find(table, "tube"), rod = find(table, "rod");
    leg.lower = read_link(need(table, tube, remedy), tube.key);
    leg.upper = read_link(need(table, rod, remedy), rod.key);
    read_cone(find(table, "universal_cone"), leg.universal_cone);
    read_cone(find(table, "spherical_cone"), leg.spherical_cone);
  }
  /// Refuses what [legs] may not have.
  void finish() const {
    if (common_ == nullptr) return;
    TableReader table(*common_, "legs");
    for (const char* key : {"stroke", "tube", "rod", "universal_cone", "spherical_cone"})
      // Known, though each leg may have read its own in its place.
      static_cast<void>(table.find(key));
    table.finish();
  }

 private:
  struct Part {
    const Node* node;
    std::string key;   ///< full name
    const char* name;  ///< the key alone
  };

  [[nodiscard]] Part find(TableReader& table, const char* name) const {
    if (const Node* own = table.find(name)) return {own, table.name(name), name};
    const Node* common = common_ == nullptr ? nullptr : common_->find(name);
    return {common, std::string("legs.") + name, name};
  }
  [[nodiscard]] static const Node& need(TableReader& table, const Part& part, const char* remedy) {
    if (part.node != nullptr) return *part.node;
    return table.require(part.name, std::string(remedy) + " [legs] holds what all legs share.");
  }
  static void read_cone(const Part& part, double& cone) {
    if (part.node != nullptr) cone = read_positive(*part.node, part.key, kAngle);
  }

  const Node* common_;
};

/// Anchors in three pairs on two circles: base pairs about base_turn, + 120 and + 240 degrees, platform pairs about
/// platform_turn and so on; legs 6 and 1 meet at the first pair of the platform, legs 1 and 2 at that of the base.
void read_layout(const Node& node, Platform& p) {
  TableReader table(node, "layout");
  const auto length = [&](const char* key) {
    return read_positive(table.require(key, std::string("Write ") + key + " = \"0.5 m\"."), table.name(key), kLength);
  };
  const auto angle = [&](const char* key, double otherwise) {
    const Node* given = table.find(key);
    return given == nullptr ? otherwise : read_quantity(*given, table.name(key), kAngle);
  };
  const auto need_angle = [&](const char* key) {  // 0: both legs of a pair on one joint center
    return read_bounded(table.require(key, std::string("Write ") + key + " = \"12 deg\"."), table.name(key),
                        {kAngle, Bounds::not_negative()});
  };
  const double base_radius = length("base_radius"), platform_radius = length("platform_radius");
  const double base_half = need_angle("base_half_angle"), platform_half = need_angle("platform_half_angle");
  const double base_turn = angle("base_turn", M_PI / 3), platform_turn = angle("platform_turn", 0);
  double height = 0;
  if (const Node* given = table.find("anchor_height"))
    height = read_quantity(*given, table.name("anchor_height"), kLength);
  table.finish();
  const auto on_circle = [](double radius, double at, double z) {
    double c, s;
    // Exact at multiples of a quarter turn, so that symmetric layouts are symmetric to the bit.
    exact_cos_sin(at, c, s);
    return Vec3<double>{{radius * c, radius * s, z}};
  };
  for (std::size_t i = 0; i < kLegs; ++i) {
    const auto third = [](std::size_t pair) { return 2 * M_PI / 3 * static_cast<double>(pair); };
    const double side = i % 2 == 0 ? -1 : 1;
    p.leg[i].base = on_circle(base_radius, base_turn + third(i / 2) + side * base_half, 0);
    p.leg[i].anchor = on_circle(platform_radius, platform_turn + third((i + 1) / 2 % 3) - side * platform_half, height);
    // Along the radius of the base, as a leg's `axis` is where a file does not say.
    p.leg[i].axis = (1 / base_radius) * p.leg[i].base;
  }
}

void read_leg(TableReader& table, Leg& leg) {
  leg.base = read_vector(table.require("base", "Write base = [x, y, z] of the universal joint, base frame."),
                         table.name("base"), kLength);
  leg.anchor = read_vector(table.require("anchor", "Write anchor = [x, y, z] of the spherical joint, platform frame."),
                           table.name("anchor"), kLength);
  if (const Node* axis = table.find("axis")) {
    leg.axis = read_vector(*axis, table.name("axis"), kRatio);
  } else {
    // Made a unit vector by checked().
    leg.axis = leg.base;
  }
}

void read_legs(TableReader& root, const LegParts& parts, Platform& p) {
  const Node& node = root.require("leg", "Write six tables [[leg]], or one [layout].");
  const std::vector<Node>& items = read_array(node, "leg", 0);
  if (items.size() != kLegs) {
    fail(node.place, "leg", "a platform has 6 legs, here are " + std::to_string(items.size()),
         "Write one [[leg]] for each.");
  }
  for (std::size_t i = 0; i < kLegs; ++i) {
    TableReader table(items[i], item("leg", i));
    read_leg(table, p.leg[i]);
    parts.read(table, p.leg[i]);
    table.finish();
  }
}

void read_gravity(TableReader& table, Platform& p) {
  if (const Node* node = table.find("gravity")) p.gravity = read_vector(*node, table.name("gravity"), kAcceleration);
  if (const Node* node = table.find("wall")) {
    // R_WO maps base to world: gravity in base axes is its transpose times that of the world.
    p.gravity = transpose_times(read_mounting(*node, table.name("wall")), p.gravity);
    for (int i = 0; i < 3; ++i) p.gravity[i] += 0.0;  // no zero has a sign
  }
}

void read_body(TableReader& root, Platform& p) {
  TableReader table(root.require("platform", "Write [platform] with name, mass, inertia and home."), "platform");
  p.name = read_string(table.require("name", "Write name = \"its name\"."), table.name("name"));
  if (const Node* node = table.find("source")) p.source = read_string(*node, table.name("source"));
  p.mass = read_positive(table.require("mass", "Write mass = \"25 kg\"."), table.name("mass"), kMass);
  p.inertia = read_inertia(table.require("inertia", "Write inertia = { ixx = ..., iyy = ..., izz = ... }."),
                           table.name("inertia"));
  const platform::Place<double> home = read_place(table.require("home", "Write home = { position = [x, y, z] }."),
                                                  table.name("home"), {Vec3<double>::zero(), {{1, 0, 0, 0}}});
  p.home = home.r;
  p.home_turn = home.p;
  if (const Node* node = table.find("leg_radius"))
    p.leg_radius = read_bounded(*node, table.name("leg_radius"), {kLength, Bounds::not_negative()});
  read_gravity(table, p);
  table.finish();
}

void read_schema(TableReader& root) {
  const Node& schema = root.require("schema", "Write schema = 1 in the first line.");
  if (read_integer(schema, "schema") == 1) return;
  fail(schema.place, "schema", "unknown version " + std::to_string(read_integer(schema, "schema")),
       "This program reads schema = 1.");
}

Platform build(TableReader& root) {
  read_schema(root);
  Platform p;
  read_body(root, p);
  const LegParts parts(root.find("legs"));
  const Node* layout = root.find("layout");
  const Node* legs = root.find("leg");
  // Unknown tables are refused before legs are read, which a misspelt [legs] would make incomplete.
  root.finish();
  parts.finish();
  if (layout == nullptr) {
    read_legs(root, parts, p);
  } else {
    if (legs != nullptr) fail(legs->place, "leg", "there is [layout] too", "Give the six legs or the layout.");
    read_layout(*layout, p);
    // No leg has a table of its own in a layout: all parts come from [legs].
    Node none;
    none.place = layout->place;
    TableReader table(none, "legs");
    for (Leg& leg : p.leg) parts.read(table, leg);
  }
  return p;
}

std::string link_text(const platform::Link& link) {
  return "{ mass = " + text(link.mass, kMass) + ", com = " + text(link.com, kLength) +
         ", inertia = " + text(link.inertia, kInertia) + " }";
}

void write_leg(const Leg& leg, Writer& w) {
  w.table("[leg]");
  w.quantity("base", leg.base, kLength);
  w.quantity("anchor", leg.anchor, kLength);
  w.line("axis", text(leg.axis, kRatio));
  w.line("stroke", list(std::array{leg.length_min, leg.length_max}, 2, kLength), "m");
  w.line("tube", link_text(leg.lower), "kg, m, kg*m^2");
  w.line("rod", link_text(leg.upper));
  w.line("universal_cone", text(leg.universal_cone, kAngle));
  w.line("spherical_cone", text(leg.spherical_cone, kAngle));
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
              suggest(model, platform_names(), "Platforms"));
}

Platform read_platform(const std::string& model, const std::vector<std::string>& overrides) {
  const std::string file = platform_file(model);
  return parse_platform(read_text(file), file, overrides);
}

Platform parse_platform(const std::string& text, const std::string& name, const std::vector<std::string>& overrides) {
  const Node document = parse_toml(text, name, overrides);
  TableReader root(document, "");
  const Platform p = build(root);
  try {
    Platform whole = platform::checked(p);
    // Only of a platform that is accepted: warnings beside an error would hide it.
    for (std::string& warning : inertia_warnings(document)) whole.notes.push_back(std::move(warning));
    return whole;
  } catch (const Error& error) {
    // What the model itself refuses concerns several keys: the place is that of the table that it begins with.
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
  Writer w;
  w.line("schema", "1");
  w.table("platform");
  w.line("name", text(p.name));
  if (!p.source.empty()) w.line("source", text(p.source));
  w.quantity("mass", p.mass, kMass);
  w.line("inertia", inertia_text(p.inertia), "about the center of mass, kg*m^2");
  w.quantity("gravity", p.gravity, kAcceleration);
  w.line("home", text(platform::home_of(p)), "m; w, x, y, z");
  w.quantity("leg_radius", p.leg_radius, kLength);
  for (const Leg& leg : p.leg) write_leg(leg, w);
  return w.take();
}

std::string describe_platform(const Platform& p) {
  const platform::Model<double> m = platform::model_of(p);
  const Mat3<double> A = platform::rotation_of(p.home_turn);
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
