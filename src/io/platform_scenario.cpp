#include "garra/io/platform_scenario.hpp"

#include <algorithm>
#include <cmath>

#include "io/distribution_reader.hpp"
#include "io/platform_parts.hpp"
#include "io/platform_scenario_parts.hpp"
#include "io/scenario_parts.hpp"
#include "io/text_file.hpp"

namespace garra::io {

namespace {

using platform::MapGrid;
using platform::Path;
using platform::Scenario;
using platform::Uncertainty;
using study::Distribution;

constexpr std::int64_t kDefaultSamples = 100'000;
constexpr std::int64_t kDefaultChunk = 16 * study::kBlock;
constexpr std::int64_t kMostInstants = 2001, kMostNodes = 1'000'000, kMostOrientations = 1'000'000;

void declare_tables(TableReader& root) {
  for (const char* key : {"schema", "job", "title", "seed", "platform", "payload", "geometry", "friction",
                          "disturbance", "path", "map", "allowed", "sampling", "output"})
    static_cast<void>(root.find(key));
  root.finish();
}

void read_payload(const Node& node, Uncertainty& u) {
  TableReader table(node, "payload");
  const Wanted mass{kMass, Bounds::not_negative()};
  if (const Node* m = table.find("mass")) u.payload_mass = read_distribution(*m, table.name("mass"), mass);
  if (const Node* com = table.find("com")) {
    const std::vector<Node>& items = read_array(*com, table.name("com"), 3);
    for (std::size_t k = 0; k < 3; ++k)
      u.payload_com[k] = read_distribution(items[k], item(table.name("com"), k), {kLength});
  }
  if (const Node* r = table.find("radius_of_gyration"))
    u.payload_radius = read_bounded(*r, table.name("radius_of_gyration"), {kLength, Bounds::not_negative()});
  table.finish();
}

void read_input(TableReader& table, const char* key, const Wanted& wanted, Distribution& into) {
  if (const Node* node = table.find(key)) into = read_distribution(*node, table.name(key), wanted);
}

void read_geometry(const Node& node, Uncertainty& u) {
  TableReader table(node, "geometry");
  read_input(table, "base_error", {kLength}, u.base_error);
  read_input(table, "anchor_error", {kLength}, u.anchor_error);
  read_input(table, "leg_mass_factor", {kRatio, Bounds::positive()}, u.mass_factor);
  table.finish();
}

void read_friction(const Node& node, Uncertainty& u) {
  TableReader table(node, "friction");
  read_input(table, "coulomb", {kForce, Bounds::not_negative()}, u.coulomb);
  read_input(table, "viscous", {kSlidingDamping, Bounds::not_negative()}, u.viscous);
  table.finish();
}

/// The size of a vector of random direction: a number is the radius of a ball that it is drawn from.
void read_ball(TableReader& table, const char* key, const Dimension& dimension, Distribution& into) {
  const Node* node = table.find(key);
  if (node == nullptr) return;
  const Wanted wanted{dimension, Bounds::not_negative()};
  if (node->kind == Node::Kind::kTable) {
    into = read_distribution(*node, table.name(key), wanted);
    return;
  }
  const double radius = read_bounded(*node, table.name(key), wanted);
  if (radius > 0) into = {Distribution::Kind::kBallRadius, radius, 0, 0, 1};
}

/// A number is the half angle of a cone.
void read_tilt(TableReader& table, Distribution& into) {
  const Node* node = table.find("tilt");
  if (node == nullptr) return;
  const Wanted wanted{kAngle, {.low = 0, .high = M_PI}, true};
  into = read_distribution(*node, table.name("tilt"), wanted);
  if (into.is_constant() && into.a > 0) into = {Distribution::Kind::kConeAngle, into.a, 1 - std::cos(into.a), 0, 1};
}

void read_disturbance(const Node& node, Uncertainty& u) {
  TableReader table(node, "disturbance");
  read_ball(table, "force", kForce, u.force_radius);
  read_ball(table, "moment", kTorque, u.moment_radius);
  read_tilt(table, u.tilt);
  table.finish();
}

void read_poses(TableReader& table, const platform::Platform& of, Path& path) {
  const std::string remedy =
      "Write poses = [{ position = [0, 0, 1.2] }, { position = [0, 0, 1.5], rpy = [\"45 deg\", 0, 0] }].";
  const Node& node = table.require("poses", remedy);
  const std::vector<Node>& items = read_array(node, table.name("poses"), 0);
  if (items.size() < 2) fail(node.place, table.name("poses"), "must hold two poses or more", remedy);
  platform::Place<double> place = platform::home_of(of);
  for (std::size_t k = 0; k < items.size(); ++k) {
    place = read_place(items[k], item(table.name("poses"), k), place);
    path.pose.position.insert(path.pose.position.end(), place.r.m, place.r.m + 3);
    path.pose.quaternion.insert(path.pose.quaternion.end(), place.p.m, place.p.m + 4);
  }
}

void read_times(TableReader& table, Path& path) {
  const Node* node = table.find("times");
  const std::size_t poses = path.pose.position.size() / 3;
  if (path.kind != Path::Kind::kSampled) {
    if (node != nullptr)
      fail(node->place, table.name("times"), "only poses of a sampled path have times", "Write kind = \"sampled\".");
    return;
  }
  const Node& times = table.require("times", "Write one time for each pose: times = [0, 0.5, 1].");
  const std::vector<Node>& items = read_array(times, table.name("times"), poses);
  for (std::size_t k = 0; k < items.size(); ++k) {
    const double t = read_quantity(items[k], item(table.name("times"), k), kTime);
    if (k > 0 && !(t > path.time.back()))
      fail(items[k].place, item(table.name("times"), k), "is not later than the one before", "Sort poses by time.");
    path.time.push_back(t);
  }
  path.duration = path.time.back() - path.time.front();
}

void read_path(const Node& node, Scenario& s) {
  TableReader table(node, "path");
  Path& path = s.path;
  if (const Node* kind = table.find("kind"))
    path.kind = read_enum<Path::Kind>(*kind, table.name("kind"), {"straight", "screw", "spline", "sampled"});
  if (const Node* instants = table.find("instants"))
    path.instants = static_cast<int>(read_count(*instants, table.name("instants"), kMostInstants));
  if (path.instants < 2) fail(node.place, table.name("instants"), "must be at least 2", "Both ends are instants.");
  read_poses(table, s.platform, path);
  for (const char* key : {"law", "duration"})
    if (const Node* timed = table.find(key); timed != nullptr && path.kind == Path::Kind::kSampled)
      fail(timed->place, table.name(key), "times say when a sampled path is where", "Leave it out.");
  if (const Node* law = table.find("law"))
    path.law = read_enum<Path::Law>(*law, table.name("law"), {"quintic", "trapezoid", "uniform"});
  if (const Node* duration = table.find("duration"))
    path.duration = read_bounded(*duration, table.name("duration"), {kTime, Bounds::positive()});
  read_times(table, path);
  if (path.kind <= Path::Kind::kScrew && path.pose.position.size() > 6)
    fail(node.place, table.name("poses"), "a straight or screw path has two poses", "Write kind = \"spline\".");
  table.finish();
}

void read_map(const Node& node, Scenario& s) {
  TableReader table(node, "map");
  MapGrid& map = s.map;
  const char* box = "Write low = [-0.4, -0.4, 1.0] and high = [0.4, 0.4, 1.7], of the platform's center of mass.";
  const Node &low = table.require("low", box), &high = table.require("high", box);
  map.low = read_vector(low, table.name("low"), kLength);
  map.high = read_vector(high, table.name("high"), kLength);
  const Node& points = table.require("points", "Write how many along x, y and z: points = [21, 21, 15].");
  const std::vector<Node>& items = read_array(points, table.name("points"), 3);
  std::int64_t nodes = 1;
  for (std::size_t k = 0; k < 3; ++k) {
    if (map.low[static_cast<int>(k)] > map.high[static_cast<int>(k)])
      fail(high.place, table.name("high"), "lies below low", "Write the smaller numbers in low.");
    map.points[k] = static_cast<int>(read_count(items[k], item(table.name("points"), k), kMostNodes));
    nodes *= map.points[k];
    if (nodes > kMostNodes)
      fail(points.place, table.name("points"), "more than " + std::to_string(kMostNodes) + " nodes", "Give fewer.");
  }
  if (const Node* n = table.find("orientations"))
    map.orientations = static_cast<int>(read_count(*n, table.name("orientations"), kMostOrientations));
  const Wanted angle{kAngle, {.low = 0, .high = M_PI}};
  if (const Node* tilt = table.find("tilt")) map.tilt = read_bounded(*tilt, table.name("tilt"), angle);
  if (const Node* turn = table.find("turn")) map.turn = read_bounded(*turn, table.name("turn"), angle);
  table.finish();
}

void read_allowed(const Node& node, Scenario& s) {
  TableReader table(node, "allowed");
  if (const Node* force = table.find("force"))
    s.allowed.force = read_bounded(*force, table.name("force"), {kForce, Bounds::positive()});
  if (const Node* near = table.find("near_singular"))
    s.allowed.near_singular = read_bounded(*near, table.name("near_singular"), {kRatio, Bounds::not_negative()});
  if (const Node* length = table.find("characteristic_length"))
    s.allowed.characteristic_length =
        read_bounded(*length, table.name("characteristic_length"), {kLength, Bounds::positive()});
  table.finish();
}

void read_plan(TableReader& root, Scenario& s) {
  TableReader table(root.find_table("sampling"), "sampling");
  study::Plan& plan = s.plan;
  plan.samples = kDefaultSamples;
  plan.chunk = kDefaultChunk;
  if (s.kind == platform::Study::kMap)
    for (const char* key : {"samples", "stop"})
      if (const Node* node = table.find(key))
        fail(node->place, table.name(key), "the nodes of [map] with their orientations are the samples",
             "Leave it out, or change map.points and map.orientations.");
  read_sampling(table, plan);
  if (s.kind == platform::Study::kMap)
    plan.samples = std::int64_t{s.map.orientations} * s.map.points[0] * s.map.points[1] * s.map.points[2];
  if (const Node* share = table.find("max_unsolved"))
    plan.max_unsolved = read_bounded(*share, table.name("max_unsolved"), {kRatio, {.low = 0, .high = 1}});
  table.finish();
  if (s.kind == platform::Study::kMap) plan.keep = "none";
  read_output(root.find_table("output"), plan);
}

Scenario build(const Node& document, const std::string& name) {
  TableReader root(document, "");
  require_job(root, "platform", "platform study");
  declare_tables(root);
  Scenario s;
  for (Distribution& d : s.uncertain.payload_com) d = Distribution::constant(0);
  read_title_and_seed(root, s.title, s.plan);
  ChosenPlatform chosen = read_chosen_platform(root, name);
  s.model = std::move(chosen.model);
  s.model_file = std::move(chosen.file);
  s.platform = std::move(chosen.platform);
  const Node *path = root.find("path"), *map = root.find("map");
  if ((path == nullptr) == (map == nullptr))
    fail(root.place(), path == nullptr ? "path" : "map",
         path == nullptr ? "neither a path nor a map" : "both a path and a map",
         "Write [path] with poses = [...], or [map] with low, high and points.");
  s.kind = map != nullptr ? platform::Study::kMap : platform::Study::kPath;
  read_payload(root.find_table("payload"), s.uncertain);
  read_geometry(root.find_table("geometry"), s.uncertain);
  read_friction(root.find_table("friction"), s.uncertain);
  read_disturbance(root.find_table("disturbance"), s.uncertain);
  if (path != nullptr)
    read_path(*path, s);
  else
    read_map(*map, s);
  read_allowed(root.find_table("allowed"), s);
  read_plan(root, s);
  return s;
}

}  // namespace

Scenario parse_platform_scenario(const std::string& text, const std::string& name,
                                 const std::vector<std::string>& overrides) {
  return build(parse_toml(text, name, overrides), name);
}

Scenario read_platform_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_platform_scenario(read_text(path), path, overrides);
}

}  // namespace garra::io
