// A platform study written back as TOML, with everything filled in.
#include "garra/io/platform_scenario.hpp"
#include "io/number.hpp"
#include "io/platform_parts.hpp"
#include "io/platform_scenario_parts.hpp"

namespace garra::io {

namespace {

using platform::Path;
using platform::Scenario;
using study::Distribution;

/// A ball or cone is written as its radius.
std::string size_text(const Distribution& d, const Dimension& dimension) {
  const bool radius = d.kind == Distribution::Kind::kBallRadius || d.kind == Distribution::Kind::kConeAngle;
  return radius ? text(d.a, dimension) : text(d, dimension);
}

void write_uncertain(const platform::Uncertainty& u, Writer& w) {
  w.table("payload");
  w.quantity("mass", u.payload_mass, kMass);
  w.line("com", list(u.payload_com, 3, kLength), "m, in the platform's frame");
  w.quantity("radius_of_gyration", u.payload_radius, kLength);
  w.table("geometry");
  w.line("base_error", text(u.base_error, kLength), "m, of each coordinate of each anchor");
  w.line("anchor_error", text(u.anchor_error, kLength), "m");
  w.quantity("leg_mass_factor", u.mass_factor, kRatio);
  w.table("friction");
  w.line("coulomb", text(u.coulomb, kForce), "N, of each actuator");
  w.line("viscous", text(u.viscous, kSlidingDamping), "N*s/m");
  w.table("disturbance");
  w.line("force", size_text(u.force_radius, kForce), "N; a number: radius of a ball that it is drawn from");
  w.line("moment", size_text(u.moment_radius, kTorque), "N*m");
  w.line("tilt", size_text(u.tilt, kAngle), "of gravity; a number: half angle of a cone");
}

void write_path(const Path& path, Writer& w) {
  constexpr const char* kKind[] = {"straight", "screw", "spline", "sampled"};
  constexpr const char* kLaw[] = {"quintic", "trapezoid", "uniform"};
  w.table("path");
  w.line("kind", text(std::string(kKind[static_cast<int>(path.kind)])));
  w.line("instants", std::to_string(path.instants));
  std::string poses;
  for (std::size_t k = 0; k < path.pose.position.size() / 3; ++k) {
    const double *r = path.pose.position.data() + 3 * k, *p = path.pose.quaternion.data() + 4 * k;
    poses += "\n  " + text(platform::Place<double>{{{r[0], r[1], r[2]}}, {{p[0], p[1], p[2], p[3]}}}) + ",";
  }
  w.line("poses", "[" + poses + "\n]", "of the unloaded platform's center of mass, base axes");
  if (path.kind == Path::Kind::kSampled) {
    w.line("times", list(path.time, static_cast<int>(path.time.size()), kTime), "s");
  } else {
    w.line("law", text(std::string(kLaw[static_cast<int>(path.law)])));
    w.quantity("duration", path.duration, kTime);
  }
}

void write_map(const platform::MapGrid& map, Writer& w) {
  w.table("map");
  w.quantity("low", map.low, kLength);
  w.quantity("high", map.high, kLength);
  w.line("points", "[" + std::to_string(map.points[0]) + ", " + std::to_string(map.points[1]) + ", " +
                       std::to_string(map.points[2]) + "]");
  w.line("orientations", std::to_string(map.orientations), "drawn at each node");
  w.line("tilt", text(map.tilt, kAngle), "the platform's axis leans by up to this");
  w.line("turn", text(map.turn, kAngle), "and it is turned about it by up to this, either way");
}

}  // namespace

std::string resolved_toml(const Scenario& s) {
  Writer w;
  w.line("schema", "1");
  w.line("job", "\"platform\"");
  w.line("title", text(s.title));
  w.line("seed", std::to_string(s.plan.seed));
  write({s.model, s.model_file, s.platform}, w);
  write_uncertain(s.uncertain, w);
  const bool is_map = s.kind == platform::Study::kMap;
  if (is_map)
    write_map(s.map, w);
  else
    write_path(s.path, w);
  w.table("allowed");
  if (s.allowed.force > 0) w.quantity("force", s.allowed.force, kForce);
  w.line("near_singular", shortest(s.allowed.near_singular), "scaled smallest singular value of the length Jacobian");
  w.quantity("characteristic_length", s.allowed.characteristic_length, kLength);
  w.table("sampling");
  if (!is_map) w.line("samples", std::to_string(s.plan.samples));
  w.line("chunk", std::to_string(s.plan.chunk));
  w.line("max_unsolved", shortest(s.plan.max_unsolved), "share of the samples");
  if (s.plan.stop_half_width > 0) w.line("stop", "{ half_width = " + shortest(s.plan.stop_half_width) + " }");
  if (s.plan.time_limit > 0) w.quantity("time_limit", s.plan.time_limit, kTime);
  w.table("output");
  w.line("keep", text(s.plan.keep));
  return w.take();
}

}  // namespace garra::io
