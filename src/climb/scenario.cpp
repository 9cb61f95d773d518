// The fields of a scenario with job = "platform_climb".
#include "climb/scenario.hpp"

#include "base/scenario/field_writer.hpp"
#include "base/scenario/jobs.hpp"
#include "base/scenario/parts.hpp"
#include "platform/files/scenario_parts.hpp"

namespace garra::io {

namespace {

using climb::Scenario;

const Wanted kNewtons{kForce, Bounds::positive()}, kMeters{kLength, Bounds::positive()};

Scenario defaults() {
  Scenario s;
  s.plan.samples = 10'000;
  return s;
}

void ring_fields(Fields& f, climb::Ring& r) {
  f.key("pads", count(r.pads, {.low = 3, .high = climb::kMostPads, .remedy = "Three pads or more hold."}),
        {.doc = "at equal angles"});
  f.key("trunk_radius", distribution(r.trunk_radius, kMeters), {.doc = "of the whole trunk"});
  f.key("grip_force", distribution(r.squeeze, kNewtons),
        {.doc = "normal force of every pad before the load comes; drawn for each hold"});
  f.key("friction", distribution(r.friction, {kRatio, Bounds::positive()}), {.doc = "drawn for each pad and hold"});
  f.key("force_limit", quantity(r.force_limit, kNewtons), {.doc = "largest normal force of a pad"});
  f.key("normal_stiffness", quantity(r.normal_stiffness, {kSlidingStiffness, Bounds::positive()}), {.doc = "of a pad"});
  f.key("tangential_stiffness", quantity(r.tangential_stiffness, {kSlidingStiffness, Bounds::positive()}),
        {.doc = "of a pad"});
  f.key("height", quantity(r.height, {kLength}), {.doc = "of the pads above the ring's frame"});
  f.key("mass", quantity(r.mass, {kMass, Bounds::positive()}), {.doc = "of the ring"});
}

void gait_fields(Fields& f, climb::Gait& g) {
  f.key("low", quantity(g.low, kMeters), {.doc = "distance of the rings' frames at the start of a cycle"});
  f.key("stride", quantity(g.stride, kMeters), {.doc = "climbed in a cycle"});
  f.key("duration", quantity(g.duration, {kTime, Bounds::positive()}), {.doc = "of each of its two moves"});
  f.key("instants", count(g.instants, {.low = 2, .high = climb::kMostInstants, .remedy = "Both ends are instants."}),
        {.doc = "of each move that are looked at"});
  f.key("cycles", count(g.cycles, {.high = climb::kMostCycles, .remedy = "Study a part of the climb."}),
        {.doc = "one after another"});
}

void scenario_fields(Fields& f, Scenario& s, const std::string& file) {
  header_fields(f, "platform_climb", s.title, &s.plan.seed);
  platform_fields(f, file, {s.model, s.model_file, s.platform});
  f.table("ring", {.doc = "both rings"}, [&] { ring_fields(f, s.ring); });
  f.table("gait", {.doc = "the upper ring goes up, then the lower one follows"}, [&] { gait_fields(f, s.gait); });
  f.table("payload", {.doc = "fixed to the upper ring"}, [&] {
    f.key("mass", distribution(s.payload, {kMass, Bounds::not_negative()}), {.doc = "of it"});
    f.key("com", distributions(s.payload_com.data(), 3, {kLength}), {.doc = "its center of mass, in the ring's frame"});
  });
  f.table("disturbance", {.doc = "from any side"}, [&] {
    f.key("push", distribution(s.push, {kForce, Bounds::not_negative()}), {.doc = "horizontal, on the upper ring"});
  });
  f.table("allowed", {.doc = "limits beside those of the platform itself"}, [&] {
    f.key("force", quantity(s.force_limit, kNewtons, std::numeric_limits<double>::infinity()),
          {.doc = "of each actuator", .otherwise = "no limit"});
    f.key("near_singular", quantity(s.near_singular, {kRatio, Bounds::not_negative()}),
          {.comment = "scaled smallest singular value of the length Jacobian"});
    f.key("slip", quantity(s.slip, {kLength, Bounds::not_negative()}), {.doc = "of a pad while its ring holds"});
  });
  f.table("sampling", {.doc = "how many samples"}, [&] {
    samples_field(f, s.plan.samples, {.doc = "climbs"});
    chunk_field(f, s.plan, {.doc = "samples of one file of a run"});
    max_unsolved_field(f, s.plan);
    stop_field(f, s.plan);
    time_limit_field(f, s.plan);
  });
  output_fields(f, s.plan);
  f.check(!f.reading() || !f.good() || s.platform.mass > 0, "platform", "has no masses",
          "Give the masses of the platform and of its legs.");
}

}  // namespace

Scenario read_climb(const ScenarioDocument& document) {
  const auto fields = [&](Fields& f, Scenario& s) { scenario_fields(f, s, document.name()); };
  return read_job_scenario(document.root(), "platform_climb", "study of a climb", defaults(), fields);
}

std::string resolved_toml(const Scenario& s) {
  return written(s, [](Fields& f, Scenario& scenario) { scenario_fields(f, scenario, ""); });
}

void describe_platform_climb(Fields& f) {
  Scenario s = defaults();
  scenario_fields(f, s, "");
}

}  // namespace garra::io
