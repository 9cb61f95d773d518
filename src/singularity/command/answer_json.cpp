#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/answer_parts.hpp"
#include "garra/math/screw_algebra.hpp"
#include "singularity/command/singularity_answer.hpp"

namespace garra::cli {

namespace {

using namespace singularity;
using Json = nlohmann::ordered_json;

/// Without the signs of zeros and the last digits of what should be zero.
double clean(double x) { return std::abs(x) < 1e-12 ? 0 : x; }

/// Rounding errors of zeros mean nothing to a reader.
std::vector<double> cleaned(std::vector<double> values) {
  for (double& x : values) x = clean(x);
  return values;
}

Json screw_json(const Screw<double>& s) { return cleaned({s.w[0], s.w[1], s.w[2], s.v[0], s.v[1], s.v[2]}); }

Json screws_json(const std::vector<Screw<double>>& screws) {
  Json out = Json::array();
  for (const Screw<double>& s : screws) out.push_back(screw_json(s));
  return out;
}

Json wrenches_json(const std::vector<Wrench<double>>& wrenches) {
  Json out = Json::array();
  for (const Wrench<double>& f : wrenches) out.push_back(screw_json({f.force, f.moment}));
  return out;
}

Json actuator_json(const Actuator& f) {
  Json products = Json::array();
  for (const Actuator::Product& p : f.products)
    products.push_back({{"receptor", p.receptor}, {"outside_span", p.outside}});
  return {{"joint", f.joint},
          {"products", products},
          {"weighted_outside_span", f.weighted_outside},
          {"restores", f.restores}};
}

Json interval_json(const Interval& i) {
  Json actuators = Json::array();
  for (const Actuator& f : i.actuators) actuators.push_back(actuator_json(f));
  return {{"first", i.first},
          {"last", i.last},
          {"dim", i.dim},
          {"ssm", i.dependent_joints},
          {"null_vector", cleaned(i.null_vector)},
          {"reciprocal", wrenches_json(i.reciprocal)},
          {"actuators", actuators}};
}

Json escape_json(const EscapeSet& e) {
  return {{"joints", e.joints}, {"order", e.order},         {"rate", e.rate},
          {"sign", e.sign},     {"direction", e.direction}, {"sigma", e.sigma}};
}

/// The motion that is lost with a wrench: a turn about `direction` where `pitch` is null, else one of `point` along it.
Json lost_motion_json(const Wrench<double>& wrench) {
  const ScrewAxis<double> line = screw_axis(Screw<double>{wrench.force, wrench.moment});
  const bool turn = norm(wrench.force) < 1e-10;
  const Vec3<double> d = turn ? (1 / norm(wrench.moment)) * wrench.moment : line.direction, p = line.point;
  return {{"direction", cleaned({d[0], d[1], d[2]})},
          {"point", turn ? Json(nullptr) : Json(cleaned({p[0], p[1], p[2]}))},
          {"pitch", turn ? Json(nullptr) : Json(clean(line.pitch))}};
}

Json joint_json(const JointEscape& e) {
  return {{"joint", e.joint},
          {"order", e.order},
          {"rate", e.rate},
          {"sign", e.sign},
          {"sigma", {e.sigma_plus, e.sigma_minus}},
          {"rank", {e.rank_plus, e.rank_minus}}};
}

Json intervals_json(const Analysis& a) {
  Json out = Json::array();
  for (const std::array<int, 3>& d : a.dims) out.push_back(d);
  return out;
}

}  // namespace

double condition_number(const Analysis& a) {
  return a.singular_values[0] / a.singular_values[static_cast<std::size_t>(a.generic_rank) - 1];
}

void add_vicinity(const Analysis& a, const Vicinity& near, Json& to) {
  to["condition"] = a.arm_singular ? Json(nullptr) : Json(condition_number(a));
  to["nearest"] = nullptr;
  if (!near.found) return;
  to["nearest"] = {{"distance", a.arm_singular ? 0 : near.distance},
                   {"type", near.type},
                   {"joints", a.arm_singular ? a.dependent_joints : near.dependent_joints},
                   {"escape_joint", near.escape_joint < 0 ? Json(nullptr) : Json(near.escape_joint)},
                   {"q", near.q}};
}

void add_tool_speed(const chain::Robot& robot, const ToolSpeed& speed, Json& to) {
  to["tool_speed"] = nullptr;
  if (!speed.possible) return;
  Json directions = Json::array(), limits = Json::array();
  for (const Vec3<double>& d : speed.direction) directions.push_back({clean(d[0]), clean(d[1]), clean(d[2])});
  for (const chain::Joint& joint : robot.joint) limits.push_back(number_to_json(joint.velocity_limit));
  to["tool_speed"] = {{"joint_speed", speed.joint_speed},
                      {"direction", directions},
                      {"velocity_limit", limits},
                      {"joint", speed.joint},
                      {"name", robot.joint[static_cast<std::size_t>(speed.joint)].name},
                      {"orientation_kept", speed.orientation_kept},
                      {"speed", number_to_json(speed.speed)}};
}

Json screws_json(const ScrewSet& set) { return screws_json(set.screw); }

Json singularity_json(const Analysis& a, const AnalyzeOptions* options) {
  Json sosm = Json::array(), escape = Json::array(), clearing = Json::array(), alone = Json::array(),
       lost = Json::array();
  for (const JointEscape& e : a.escape) alone.push_back(joint_json(e));
  for (const Wrench<double>& u : a.lost_wrenches) lost.push_back(lost_motion_json(u));
  for (const Interval& i : a.intervals) sosm.push_back(interval_json(i));
  for (const EscapeSet& e : a.escape_sets) escape.push_back(escape_json(e));
  for (const std::vector<int>& set : a.clearing_sets) clearing.push_back(set);
  const Vec3<double>& c = a.scaling.origin;
  Json out = {{"joints", a.joints},
              {"rank", a.rank},
              {"generic_rank", a.generic_rank},
              {"lost_freedoms", a.lost_freedoms},
              {"arm_singular", a.arm_singular},
              {"subchain_singular", a.subchain_singular},
              {"dependent_joints", a.dependent_joints},
              {"sos", intervals_json(a)},
              {"sosm", sosm},
              {"lost_wrenches", wrenches_json(a.lost_wrenches)},
              {"lost_motions", lost},
              {"null_space", a.null_space},
              {"escape", escape},
              {"joints_alone", alone},
              {"best_direction", a.best_direction},
              {"best_rate", a.best_rate},
              {"clearing_sets", clearing},
              {"self_motion", to_string(a.self_motion)},
              {"singular_values", a.singular_values},
              {"gap", number_to_json(a.gap)},
              {"scaling", {{"origin", {c[0], c[1], c[2]}}, {"length", a.scaling.length}}}};
  out["recovery"] = a.recovery.motion.empty()
                        ? Json(nullptr)
                        : Json{{"motion", a.recovery.motion}, {"rank", a.recovery.rank}, {"sigma", a.recovery.sigma}};
  if (options != nullptr) {
    out["tolerance"] = options->tolerance;
    out["step"] = options->step;
  }
  return out;
}

}  // namespace garra::cli
