// Solids of uniform density with their place in the link frame.
#include "chain/files/link_parts.hpp"

#include <cmath>
#include <filesystem>

#include "base/files/suggest.hpp"
#include "base/scenario/field_reader.hpp"
#include "base/scenario/parts.hpp"
#include "chain/files/pose_reader.hpp"
#include "garra/io/mesh_file.hpp"
#include "garra/mesh.hpp"

namespace garra::io {

namespace {

using chain::Body;

constexpr Dimension kDensity{.m = -3, .kg = 1};

/// A solid of density 1 about its own middle, which lies at `place`.
struct PlacedSolid {
  Body body;
  Pose<double> place = Pose<double>::identity();
};

Mat3<double> diagonal(double x, double y, double z) { return {{x, 0, 0, 0, y, 0, 0, 0, z}}; }

Body box(const Vec3<double>& size) {
  const double m = size[0] * size[1] * size[2];
  const auto moment = [&](int i, int j) { return m / 12 * (size[i] * size[i] + size[j] * size[j]); };
  return {m, Vec3<double>::zero(), diagonal(moment(1, 2), moment(2, 0), moment(0, 1))};
}

/// A tube along z.
Body tube(double outer, double inner, double length) {
  const double squares = outer * outer + inner * inner, m = M_PI * (outer * outer - inner * inner) * length;
  const double across = m / 12 * (3 * squares + length * length);
  return {m, Vec3<double>::zero(), diagonal(across, across, 0.5 * m * squares)};
}

/// A frame in the middle of a beam, x along it and y as near as can be to that of the link.
Pose<double> along(const Vec3<double>& from, const Vec3<double>& to) {
  const Vec3<double> x = (1 / norm(to - from)) * (to - from);
  const Vec3<double> side = std::abs(x[1]) < 0.9 ? Vec3<double>{{0, 1, 0}} : Vec3<double>{{0, 0, 1}};
  const Vec3<double> z = (1 / norm(cross(x, side))) * cross(x, side), y = cross(z, x);
  return {{{x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]}}, 0.5 * (from + to)};
}

/// Keys of one part as they are read.
struct PartKeys {
  Vec3<double> box = Vec3<double>::zero(), from = box, to = box;
  double section[2] = {0, 0}, radius = 0, inner = 0, length = 0, ball = 0, mass = 0, density = 0;
  std::string material, mesh;
  Pose<double> place = Pose<double>::identity();
};

PlacedSolid make_solid(const PartKeys& p, const std::string& folder) {
  if (norm(p.box) > 0) return {box(p.box), p.place};
  if (p.section[0] > 0) {
    const Vec3<double> size = {{norm(p.to - p.from), p.section[0], p.section[1]}};
    return {box(size), along(p.from, p.to)};
  }
  if (p.radius > 0) return {tube(p.radius, p.inner, p.length), p.place};
  if (p.ball > 0) {
    const double m = 4.0 / 3 * M_PI * p.ball * p.ball * p.ball, moment = 0.4 * m * p.ball * p.ball;
    return {{m, Vec3<double>::zero(), diagonal(moment, moment, moment)}, p.place};
  }
  mesh::Report report;
  const mesh::Mesh surface = read_mesh((std::filesystem::path(folder) / p.mesh).string(), report);
  const mesh::Body solid = mesh::solid(surface, 1);
  return {{solid.mass, solid.com, solid.inertia}, p.place};
}

void part_fields(Fields& f, PartKeys& p, const Materials& materials) {
  const auto size = [](double& value) { return quantity(value, {kLength, Bounds::positive()}); };
  int shapes = 0;
  const auto shape = [&](const char* name, AnyValue value, const char* doc) {
    if (!f.has(name, false)) return false;
    ++shapes;
    f.key(name, value, {.doc = doc});
    return true;
  };
  shape("box", vector(p.box, {kLength}), "lengths of its edges");
  if (shape("beam", list_value({2, [&](std::size_t k) { return size(p.section[k]); }, "[width, height]"}),
            "its section: width along y of the link")) {
    f.key("from", vector(p.from, {kLength}), {.doc = "where it begins"});
    f.key("to", vector(p.to, {kLength}), {.doc = "where it ends"});
    f.check(norm(p.to - p.from) > 0, "to", "the beam has no length", "Give two points: from and to.");
  }
  if (shape("cylinder", size(p.radius), "its radius; its axis is z of `rpy`")) {
    f.key("inner", quantity(p.inner, {kLength, Bounds::not_negative()}), {.doc = "radius of its bore"});
    f.key("length", size(p.length), {.required = "Write its length."});
    f.check(p.inner < p.radius, "inner", "not below the radius", "Give a smaller bore.");
  }
  shape("ball", size(p.ball), "its radius");
  shape("mesh", string(p.mesh), "a file of a closed surface (STL, OBJ), beside the robot's");
  f.check(shapes == 1, "", "one of box, beam, cylinder, ball and mesh is needed", "Write box = [x, y, z].");
  if (f.has("mass", false))
    f.key("mass", quantity(p.mass, {kMass, Bounds::positive()}), {.doc = "instead of a density"});
  if (f.has("density", false))
    f.key("density", quantity(p.density, {kDensity, Bounds::positive()}), {.doc = "of a material without a name"});
  if (f.has("material", false)) {
    f.key("material", string(p.material), {.doc = "its name in [materials]"});
    const auto known = materials.find(p.material);
    std::vector<std::string> names;
    for (const auto& [name, density] : materials) names.push_back(name);
    f.check(known != materials.end(), "material", "no material " + io::quoted(p.material),
            suggest(p.material, names, "Materials"));
    if (known != materials.end()) p.density = known->second;
  }
  f.check((p.mass > 0) != (p.density > 0), "", "its mass is not known, or twice", "Give material, density or mass.");
  if (p.section[0] > 0) return;
  f.key("position", vector(p.place.p, {kLength}), {.doc = "of its middle in the link frame"});
  f.key("rpy", rpy(p.place.R), {.doc = "of its axes"});
}

Body part_body(const PartKeys& p, const std::string& folder) {
  const PlacedSolid solid = make_solid(p, folder);
  const double scale = p.mass > 0 ? p.mass / solid.body.mass : p.density;
  const Body scaled = {scale * solid.body.mass, solid.body.com, scale * solid.body.inertia};
  return chain::merge({}, scaled, solid.place);
}

}  // namespace

void materials_field(Fields& f, Materials& materials) {
  std::vector<std::string> names;
  for (const auto& [name, density] : materials) names.push_back(name);
  f.entries("materials", {names, [&](const std::string& name) {
                            f.key(name, quantity(materials[name], {kDensity, Bounds::positive()}),
                                  {.doc = "density of a material that parts of links name"});
                          }});
}

AnyValue part_list(std::vector<Body>& bodies, const Materials& materials, const std::string& folder) {
  const auto read = [&bodies, &materials, folder](const Node& node, const std::string& key) {
    bodies.clear();
    const std::vector<Node>& items = read_array(node, key, 0);
    for (std::size_t k = 0; k < items.size(); ++k) {
      PartKeys part;
      inlined([&](Fields& f) { part_fields(f, part, materials); }).read(items[k], item(key, k));
      bodies.push_back(part_body(part, folder));
    }
  };
  // Printed, a robot has its bodies: masses, centers and inertias.
  return custom({read, [] { return std::string(); }, "a list of `{ box, material, position }`",
                 R"({"type": "array", "items": {"type": "object"}})"});
}

Body merged_body(const std::vector<Body>& parts) {
  Body sum;
  for (const Body& part : parts) sum = chain::merge(sum, part, Pose<double>::identity());
  return sum;
}

}  // namespace garra::io
