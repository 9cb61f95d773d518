#include "garra/io/platform_scenario.hpp"

#include <algorithm>
#include <cmath>

#include "base/files/text_file.hpp"
#include "base/scenario/field_reader.hpp"
#include "base/scenario/field_writer.hpp"
#include "base/scenario/jobs.hpp"
#include "base/scenario/parts.hpp"
#include "platform/files/parts.hpp"
#include "platform/files/scenario_parts.hpp"

namespace garra::io {

namespace {

using platform::MapGrid;
using platform::Path;
using platform::Scenario;
using platform::Uncertainty;
using study::Distribution;

constexpr std::int64_t kDefaultSamples = 100'000;
constexpr std::int64_t kDefaultChunk = 16 * study::kBlock;
constexpr std::int64_t kMaxInstants = 2001, kMaxNodes = 1'000'000, kMaxOrientations = 1'000'000;
constexpr double kHalfTurn = M_PI;
constexpr double kPoseStiffness = 900, kPoseDamping = 60;  // a double pole at 30/s
const Wanted kHalfTurnOrLess{kAngle, {.low = 0, .high = kHalfTurn}};

/// A ball or cone is written as its radius.
std::string size_text(const Distribution& d, const Dimension& dimension) {
  const bool radius = d.kind == Distribution::Kind::kBallRadius || d.kind == Distribution::Kind::kConeAngle;
  return radius ? text(d.a, dimension) : text(d, dimension);
}

/// The size of a vector of random direction: a number is the radius of a ball that it is drawn from.
AnyValue ball(Distribution& into, const Dimension& dimension) {
  const Wanted wanted{dimension, Bounds::not_negative()};
  const auto read = [&into, wanted](const Node& node, const std::string& key) {
    if (node.kind == Node::Kind::kTable) {
      into = read_distribution(node, key, wanted);
      return;
    }
    into = Distribution::ball(read_bounded(node, key, wanted));
  };
  return custom({read, [&into, dimension] { return size_text(into, dimension); }, "D or a radius, " + in_words(wanted),
                 kDistributionSchema});
}

/// A number is the half angle of a cone.
AnyValue cone(Distribution& into) {
  const auto read = [&into](const Node& node, const std::string& key) {
    into = read_distribution(node, key, {kAngle, {.low = 0, .high = kHalfTurn}, true});
    if (into.is_constant()) into = Distribution::cone(into.a);
  };
  return custom(
      {read, [&into] { return size_text(into, kAngle); }, "D or a half angle, 0 to 180 deg", kDistributionSchema});
}

void uncertain_fields(Fields& f, Uncertainty& u) {
  f.table("payload", {.doc = "what the platform carries"}, [&] {
    f.key("mass", distribution(u.payload_mass, {kMass, Bounds::not_negative()}), {.doc = "fixed to the platform"});
    f.key("com", distributions(u.payload_com.data(), 3, {kLength}),
          {.doc = "its center of mass, in the platform's frame", .comment = "m, in the platform's frame"});
    f.key("radius_of_gyration", quantity(u.payload_radius, {kLength, Bounds::not_negative()}),
          {.doc = "its inertia is mass times the square of it"});
  });
  f.table("geometry", {.doc = "how far the parts are from the drawing"}, [&] {
    f.key("base_error", distribution(u.base_error, {kLength}),
          {.doc = "of each coordinate of each joint center of the base",
           .comment = "m, of each coordinate of each anchor"});
    f.key("anchor_error", distribution(u.anchor_error, {kLength}), {.doc = "the same of the platform", .comment = "m"});
    f.key("leg_mass_factor", distribution(u.mass_factor, {kRatio, Bounds::positive()}),
          {.doc = "on masses and inertias of all legs"});
  });
  f.table("friction", {.doc = "common to all actuators"}, [&] {
    f.key("coulomb", distribution(u.coulomb, {kForce, Bounds::not_negative()}), {.comment = "N, of each actuator"});
    f.key("viscous", distribution(u.viscous, {kSlidingDamping, Bounds::not_negative()}),
          {.doc = "of each actuator", .comment = "N*s/m"});
  });
  f.table("disturbance", {.doc = "of random direction"}, [&] {
    f.key("force", ball(u.force_radius, kForce),
          {.doc = "a number: radius of a ball that it is drawn from; else its size",
           .comment = "N; a number: radius of a ball that it is drawn from"});
    f.key("moment", ball(u.moment_radius, kTorque), {.doc = "likewise", .comment = "N*m"});
    f.key("tilt", cone(u.tilt),
          {.doc = "of gravity; a number: half angle of a cone that it leans in; else the angle",
           .comment = "of gravity; a number: half angle of a cone"});
  });
}

void read_poses(const Node& node, const std::string& key, const std::string& remedy, platform::Place<double> place,
                Path& path) {
  const std::vector<Node>& items = read_array(node, key, 0);
  if (items.size() < 2) fail(node.place, key, "must hold two poses or more", remedy);
  for (std::size_t k = 0; k < items.size(); ++k) {
    // Keys that a pose leaves out are as in the previous pose.
    place = read_place(items[k], item(key, k), place);
    path.pose.position.insert(path.pose.position.end(), place.r.m, place.r.m + 3);
    path.pose.quaternion.insert(path.pose.quaternion.end(), place.p.m, place.p.m + 4);
  }
}

std::string poses_text(const Path& path) {
  std::string poses;
  for (std::size_t k = 0; k < path.pose.position.size() / 3; ++k) {
    const double *r = path.pose.position.data() + 3 * k, *p = path.pose.quaternion.data() + 4 * k;
    poses += "\n  " + text(platform::Place<double>{{{r[0], r[1], r[2]}}, {{p[0], p[1], p[2], p[3]}}}) + ",";
  }
  return "[" + poses + "\n]";
}

void read_times(const Node& node, const std::string& key, Path& path) {
  const std::vector<Node>& items = read_array(node, key, path.pose.position.size() / 3);
  for (std::size_t k = 0; k < items.size(); ++k) {
    const double t = read_quantity(items[k], item(key, k), kTime);
    if (k > 0 && !(t > path.time.back()))
      fail(items[k].place, item(key, k), "is not later than the one before", "Sort poses by time.");
    path.time.push_back(t);
  }
  path.duration = path.time.back() - path.time.front();
}

void tool_field(Fields& f, Vec3<double>& tool) {
  f.key("tool", vector(tool, {kLength}),
        {.doc = "point that the positions are of, and about which the platform turns; platform frame",
         .comment = "m, platform frame: what the positions are of",
         .otherwise = "the unloaded platform's center of mass"});
}

/// Path with its platform.
void path_fields(Fields& f, const platform::Platform& of, Path& path, Vec3<double>& tool) {
  const std::string poses =
      "Write poses = [{ position = [0, 0, 1.2] }, { position = [0, 0, 1.5], rpy = [\"45 deg\", 0, 0] }].";
  const platform::Place<double> home = f.reading() && f.good() ? platform::home_place(of) : platform::Place<double>{};
  tool_field(f, tool);
  f.key("kind", choice(path.kind), {.doc = "through the poses"});
  f.key("instants", count(path.instants, {.low = 2, .high = kMaxInstants, .remedy = "Both ends are instants."}),
        {.doc = "looked at, both ends included"});
  f.key(
      "poses",
      custom({[&](const Node& node, const std::string& key) { read_poses(node, key, poses, home, path); },
              [&] { return poses_text(path); }, "two poses or more", kPosesSchema}),
      {.doc = "`[{ position = [...], rpy = [...] }, ...]`, or `quaternion`, or `axis_angle = { axis, angle }`; what a "
              "pose leaves out is as in the one before (the first: home)",
       .comment = "of the tool, base axes",
       .required = poses});
  const bool sampled = path.kind == Path::Kind::kSampled;
  f.when(
      {sampled, "`kind = \"sampled\"`", "only poses of a sampled path have times", "Write kind = \"sampled\"."}, [&] {
        f.key(
            "times",
            custom({[&](const Node& node, const std::string& key) { read_times(node, key, path); },
                    [&] { return list(path.time, static_cast<int>(path.time.size()), kTime); }, "s, one for each pose",
                    R"({"type": "array"})"}),
            {.doc = "of the poses", .comment = "s", .required = "Write one time for each pose: times = [0, 0.5, 1]."});
      });
  f.when({!sampled, "other kinds", "times say when a sampled path is where", "Leave it out."}, [&] {
    f.key("law", choice(path.law), {.doc = "along the path over time"});
    f.key("duration", quantity(path.duration, {kTime, Bounds::positive()}), {.doc = "of the whole path"});
  });
  // Six numbers of positions are two poses.
  f.check(path.kind > Path::Kind::kScrew || path.pose.position.size() <= 6, "poses",
          "a straight or screw path has two poses", "Write kind = \"spline\".");
}

void map_fields(Fields& f, MapGrid& map, Vec3<double>& tool) {
  tool_field(f, tool);
  const std::string box = "Write low = [-0.4, -0.4, 1.0] and high = [0.4, 0.4, 1.7], of the platform's center of mass.";
  f.key("low", vector(map.low, {kLength}), {.doc = "corner of the grid of positions", .required = box});
  f.key("high", vector(map.high, {kLength}), {.doc = "the opposite corner", .required = box});
  f.key("points", counts(map.points, {.high = kMaxNodes}),
        {.doc = "along x, y and z", .required = "Write how many along x, y and z: points = [21, 21, 15]."});
  f.key("orientations", count(map.orientations, {.high = kMaxOrientations}), {.comment = "drawn at each node"});
  f.key("tilt", quantity(map.tilt, kHalfTurnOrLess), {.comment = "the platform's axis leans by up to this"});
  f.key("turn", quantity(map.turn, kHalfTurnOrLess),
        {.comment = "and it is turned about it by up to this, either way"});
  std::int64_t nodes = 1;
  bool reversed = false;
  for (int k = 0; k < 3; ++k) {
    reversed = reversed || map.low[k] > map.high[k];
    // Capped at each step: the product of three large numbers may overflow.
    nodes = std::min(nodes * map.points[static_cast<std::size_t>(k)], kMaxNodes + 1);
  }
  f.check(!reversed, "high", "lies below low", "Write the smaller numbers in low.");
  f.check(nodes <= kMaxNodes, "points", "more than " + std::to_string(kMaxNodes) + " nodes", "Give fewer.");
}

/// Key of a gain, whose unit depends on what is controlled.
void gain_field(Fields& f, const std::string& name, double& into, const Dimension& of_leg, const Dimension& of_pose,
                bool pose, const std::string& doc) {
  f.key(name, quantity(into, {pose ? of_pose : of_leg, Bounds::not_negative()}), {.doc = doc});
}

/// [simulation]: forward dynamics with a controller.
void simulation_fields(Fields& f, platform::Simulation& s) {
  using platform::ControlLaw;
  platform::Controller& c = s.control;
  f.key("control", choice(c.law), {.doc = "where the forces come from"});
  const bool pose = c.law == ControlLaw::kComputedTorque, legs = c.law == ControlLaw::kLegs;
  const bool closed = pose || legs || c.law == ControlLaw::kGravity;
  if (f.reading()) {
    c.stiffness = pose ? kPoseStiffness : 2e5;
    c.damping = pose ? kPoseDamping : 4e3;
  }
  c.integral = legs || !f.reading() ? 1e6 : 0;  // the tables of keys show the default of legs
  f.when({closed, "a closed loop", "there is no controller", "Leave it out."}, [&] {
    gain_field(f, "stiffness", c.stiffness, kSlidingStiffness, {.s = -2}, pose,
               "of an error of the pose (`computed_torque`, 1/s^2; default 900) or of a length (N/m; default 2e5)");
    gain_field(f, "damping", c.damping, kSlidingDamping, kFrequency, pose,
               "of its rate: 1/s, default 60; or N s/m, default 4e3");
  });
  f.when({legs, "`control = \"legs\"`", "only legs have an integral", "Leave it out."}, [&] {
    f.key("integral", quantity(c.integral, {{.kg = 1, .s = -3}, Bounds::not_negative()}),
          {.doc = "N/(m s), of a length's error"});
  });
  f.when({c.law == ControlLaw::kForces, "`control = \"forces\"`", "the controller makes the forces", "Leave it out."},
         [&] {
           f.key("force_factor", quantity(s.force_factor, {kRatio}),
                 {.doc = "times the forces that hold the nominal machine at the start"});
         });
  f.key("force_limit", quantity(c.limit, {kForce, Bounds::positive()}, 0.0),
        {.doc = "at which the controller's forces saturate", .otherwise = "no limit"});
  f.key("period", quantity(c.period, {kTime, Bounds::positive()}),
        {.doc = "of the controller, and step of the integration; forces are constant in between"});
  double delay = c.delay * c.period;
  f.key("delay", quantity(delay, {kTime, Bounds::not_negative()}), {.doc = "from a sample to its forces"});
  const double periods = std::round(delay / c.period);
  f.check(std::abs(periods * c.period - delay) <= 1e-9 * c.period && periods <= platform::kMaxDelay, "delay",
          "is not 0 to " + std::to_string(platform::kMaxDelay) + " whole periods", "Write a multiple of the period.");
  c.delay = static_cast<int>(std::min<double>(periods, platform::kMaxDelay));
}

void plan_fields(Fields& f, Scenario& s) {
  const bool is_map = s.kind == platform::Study::kMap;
  const Case drawn{!is_map, "`[path]`", "the nodes of [map] with their orientations are the samples",
                   "Leave it out, or change map.points and map.orientations."};
  study::Plan& plan = s.plan;
  f.table("sampling", {.doc = "how many samples"}, [&] {
    f.when(drawn, [&] { samples_field(f, plan.samples, {.doc = "of a map the nodes times orientations"}); });
    chunk_field(f, plan, {.doc = "samples of one file; doubled until there are at most 4000"});
    max_unsolved_field(f, plan);
    f.when(drawn, [&] { stop_field(f, plan); });
    time_limit_field(f, plan);
  });
  output_fields(f, plan);
}

/// Default scenario.
Scenario defaults() {
  Scenario s;
  s.plan.samples = kDefaultSamples;
  s.plan.chunk = kDefaultChunk;
  s.simulation.control.stiffness = kPoseStiffness;
  s.simulation.control.damping = kPoseDamping;
  return s;
}

/// All keys of the job. `file` is the scenario file; platform files are searched beside it.
void study_scenario_fields(Fields& f, Scenario& s, const std::string& file) {
  header_fields(f, "platform", s.title, &s.plan.seed);
  platform_fields(f, file, {s.model, s.model_file, s.platform});
  const bool path = f.has("path", s.kind == platform::Study::kPath),
             map = f.has("map", s.kind == platform::Study::kMap);
  if (f.reading()) {
    f.check(path != map, path ? "map" : "path", path ? "both a path and a map" : "neither a path nor a map",
            "Write [path] with poses = [...], or [map] with low, high and points.");
    s.kind = map ? platform::Study::kMap : platform::Study::kPath;
    // A map's samples are many and its nodes hold the answer; [output] may say otherwise.
    if (map) s.plan.keep = "none";
  }
  uncertain_fields(f, s.uncertain);
  if (path) f.table("path", {.doc = "where the platform goes"}, [&] { path_fields(f, s.platform, s.path, s.tool); });
  const bool simulated = f.has("simulation", s.simulation.on);
  const Case along{path, "`[path]`", "a map has no motion", "Write [path], or leave [simulation] out."};
  if (simulated)
    f.when(along, [&] {
      f.table("simulation", {.doc = "forward dynamics with a controller, in place of inverse dynamics"},
              [&] { simulation_fields(f, s.simulation); });
    });
  if (f.reading()) s.simulation.on = simulated && path;
  if (map) f.table("map", {.doc = "or a map of its workspace"}, [&] { map_fields(f, s.map, s.tool); });
  f.table("allowed", {.doc = "limits beside those of the platform itself"}, [&] {
    f.key("force", quantity(s.allowed.force, {kForce, Bounds::positive()}, 0.0), {.doc = "of each actuator"});
    f.key("near_singular", quantity(s.allowed.near_singular, {kRatio, Bounds::not_negative()}),
          {.comment = "scaled smallest singular value of the length Jacobian"});
    f.key("characteristic_length", quantity(s.allowed.characteristic_length, {kLength, Bounds::positive()}, 0.0),
          {.doc = "what scales it", .otherwise = "the platform's own"});
    f.when({simulated, "`[simulation]`", "without [simulation] the path is followed exactly", "Leave it out."}, [&] {
      f.key("position_error", quantity(s.allowed.position_error, {kLength, Bounds::positive()}, 0.0),
            {.doc = "distance from the path, at any sample", .otherwise = "no limit"});
      f.key("angle_error", quantity(s.allowed.angle_error, {kAngle, Bounds::positive()}, 0.0),
            {.doc = "angle from it", .otherwise = "no limit"});
    });
  });
  plan_fields(f, s);
  if (f.reading() && map)
    // After reading: nodes times orientations; no key sets it.
    s.plan.samples = std::int64_t{s.map.orientations} * s.map.points[0] * s.map.points[1] * s.map.points[2];
}

Scenario build_study_scenario(const Node& document, const std::string& name) {
  const auto fields = [&](Fields& f, Scenario& s) { study_scenario_fields(f, s, name); };
  return read_job_scenario(document, "platform", "platform study", defaults(), fields);
}

}  // namespace

Scenario parse_platform_scenario(const std::string& text, const std::string& name,
                                 const std::vector<std::string>& overrides) {
  return build_study_scenario(parse_toml(text, name, overrides), name);
}

Scenario read_platform_scenario(const ScenarioDocument& document) {
  return build_study_scenario(document.root(), document.name());
}

Scenario read_platform_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_platform_scenario(read_text(path), path, overrides);
}

std::string resolved_toml(const Scenario& s) {
  return written(s, [](Fields& f, Scenario& scenario) { study_scenario_fields(f, scenario, ""); });
}

void describe_platform(Fields& f) {
  Scenario s = defaults();
  study_scenario_fields(f, s, "");
}

}  // namespace garra::io
