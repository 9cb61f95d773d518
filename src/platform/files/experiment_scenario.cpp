#include <algorithm>

#include "base/files/number.hpp"
#include "base/files/text_file.hpp"
#include "base/scenario/field_reader.hpp"
#include "base/scenario/field_writer.hpp"
#include "base/scenario/jobs.hpp"
#include "base/scenario/parts.hpp"
#include "garra/io/platform_experiment_scenario.hpp"
#include "platform/files/parts.hpp"
#include "platform/files/scenario_parts.hpp"

namespace garra::io {

namespace {

using platform::Experiment;
using platform::ExperimentScenario;
using Kind = Experiment::Kind;

constexpr std::int64_t kMaxSegments = 1000, kMaxInstants = 2001;
constexpr std::size_t kMaxPaths = 32;
constexpr double kMaxSteps = 1e6;

/// Case of keys that only the given kinds of experiment have.
Case of_kinds(const Experiment& e, std::initializer_list<Kind> kinds) {
  Case c{std::find(kinds.begin(), kinds.end(), e.kind) != kinds.end(), "",
         "says nothing about kind = \"" + std::string(name_of(e.kind)) + "\""};
  for (const Kind kind : kinds)
    c.label += (c.label.empty() ? "kind = \"" : " or kind = \"") + std::string(name_of(kind)) + "\"";
  return c;
}

/// One number, or a list of them.
AnyValue segments(std::vector<int>& into) {
  const auto read = [&into](const Node& node, const std::string& key) {
    into.clear();
    if (node.kind != Node::Kind::kArray) {
      into.push_back(static_cast<int>(read_count(node, key, kMaxSegments)));
      return;
    }
    for (std::size_t k = 0; k < node.items.size(); ++k)
      into.push_back(static_cast<int>(read_count(node.items[k], item(key, k), kMaxSegments)));
    if (into.empty() || into.size() > kMaxPaths)
      fail(node.place, key, "must hold 1 to " + std::to_string(kMaxPaths) + " numbers",
           "Write one for each path: segments = [1, 2, 5].");
  };
  const auto text = [&into] {
    std::string out;
    for (const int n : into) out += (out.empty() ? "" : ", ") + std::to_string(n);
    return "[" + out + "]";
  };
  return custom({read, text, "1 to 1000, or a list of them",
                 R"({"anyOf": [{"type": "integer", "minimum": 1, "maximum": 1000}, {"type": "array", "minItems": 1,
                     "maxItems": 32, "items": {"type": "integer", "minimum": 1, "maximum": 1000}}]})"});
}

/// One step size, or a list of them.
AnyValue step_sizes(std::vector<double>& into) {
  const Wanted wanted{kTime, Bounds::positive()};
  const auto read = [&into, wanted](const Node& node, const std::string& key) {
    into.clear();
    if (node.kind != Node::Kind::kArray) return into.push_back(read_bounded(node, key, wanted));
    for (std::size_t k = 0; k < node.items.size(); ++k)
      into.push_back(read_bounded(node.items[k], item(key, k), wanted));
    if (into.empty() || into.size() > kMaxPaths)
      fail(node.place, key, "must hold 1 to " + std::to_string(kMaxPaths) + " step sizes",
           "Write step = [\"1 ms\", \"2 ms\"].");
  };
  const auto text = [&into] { return list(into, static_cast<int>(into.size()), kTime); };
  return custom({read, text, "s, > 0, or a list of them",
                 R"({"anyOf": [{"type": ["number", "string"]}, {"type": "array", "minItems": 1, "maxItems": 32}]})"});
}

void path_fields(Fields& f, Experiment& e) {
  f.key("segments", segments(e.segments),
        {.doc = "paths in that many parts; every pose is the guess of the next",
         .comment = "paths in that many parts; every pose is the guess of the next",
         .otherwise = "`[1, 2, 5, 10, 20, 40]`; of a stroke `[11]`"});
  f.key("tolerance", quantity(e.tolerance, {kLength, {.low = 0, .high = 1e-3, .above_low = true}}),
        {.doc = "converged when every length is within this", .comment = "m, of every length"});
}

void move_fields(Fields& f, Experiment& e) {
  const auto rotation = [&](const Node& node, const std::string& key) {
    const Turn turn = read_turn(node, key);
    e.axis = turn.axis;
    e.angle = turn.angle;
  };
  f.key("translation", vector(e.translation, {kLength}), {.doc = "base axes; this or a rotation, at least"});
  f.key("rotation",
        custom(
            {rotation, [&] { return "{ axis = " + text(e.axis, kRatio) + ", angle = " + text(e.angle, kAngle) + " }"; },
             "`{ axis, angle }`",
             R"({"type": "object", "properties": {"axis": {"type": "array"}, "angle": {"type": ["number", "string"]}},
                    "required": ["axis", "angle"], "additionalProperties": false})"}),
        {.comment = "base axes"});
  f.check(norm(e.translation) != 0 || e.angle != 0, "", "nothing moves",
          "Write translation = [0, 0, \"400 mm\"], or rotation = { axis = [1, 0, 0], angle = \"45 deg\" }.");
  f.key("parts", choice(e.parts),
        {.doc = "equal parts of the pose, of the leg lengths, or a path for each",
         .comment = "equal parts of the pose, the lengths, or both"});
}

void stroke_fields(Fields& f, const platform::Platform& of, Experiment& e) {
  const auto stroke = [](const platform::Leg& leg) { return leg.length_max - leg.length_min; };
  const auto least = std::min_element(of.leg.begin(), of.leg.end(),
                                      [&](const auto& a, const auto& b) { return stroke(a) < stroke(b); });
  const double most = f.reading() && e.kind == Kind::kStroke ? stroke(*least) : e.travel;
  e.travel = most;
  f.key("travel", quantity(e.travel, {kLength, Bounds::positive()}),
        {.doc = "of every leg, from its shortest length",
         .comment = "m, of every leg, from its shortest",
         .otherwise = "the smallest stroke"});
  f.check(!f.good() || e.travel <= most * (1 + 1e-12), "travel",
          "leg " + std::to_string(least - of.leg.begin()) + " has a stroke of " + shortest(most) + " m",
          "Write at most that, or leave it out for all of it.");
}

void free_motion_fields(Fields& f, Experiment& e) {
  const bool own = f.has("forces", !e.force.empty()), factor = f.has("force_factor", e.force.empty());
  const auto forces = [&](const Node& node, const std::string& key) {
    const std::vector<Node>& items = read_array(node, key, platform::kLegs);
    for (std::size_t k = 0; k < items.size(); ++k) e.force.push_back(read_quantity(items[k], item(key, k), kForce));
  };
  if (factor)
    f.key("force_factor", quantity(e.force_factor, {kRatio}), {.comment = "times the forces that hold the start"});
  if (own)
    f.key("forces",
          custom({forces, [&] { return e.force.empty() ? "" : list(e.force, platform::kLegs, kForce); }, "six, N",
                  R"({"type": "array", "minItems": 6, "maxItems": 6})"}),
          {.doc = "instead of `force_factor`", .comment = "N"});
  f.check(!f.reading() || !own || !factor, "forces", "both forces and force_factor", "Keep one of them.");
  f.key("duration", quantity(e.duration, {kTime, Bounds::positive()}), {.doc = "of the motion"});
  f.key("step", step_sizes(e.steps),
        {.doc = "of both integrators; a list compares several", .comment = "s, of both integrators"});
  f.check(e.duration / *std::min_element(e.steps.begin(), e.steps.end()) <= kMaxSteps, "step",
          "more than a million steps", "Write a longer step or a shorter duration.");
  f.key("correct_above", quantity(e.correct_above, {kRatio, Bounds::positive()}),
        {.doc = "constraint error above which the hybrid method corrects (m, 1)"});
  f.key("instants", count(e.instants, {.low = 2, .high = kMaxInstants, .remedy = "Both ends are instants."}),
        {.doc = "looked at, both ends included"});
}

void experiment_fields(Fields& f, ExperimentScenario& s) {
  Experiment& e = s.experiment;
  f.key("kind", choice(e.kind),
        {.doc = "a key of another kind is an error",
         .required = "Write kind = \"move\", \"stroke\" or \"free_motion\"."});
  if (f.reading()) {
    e.start = platform::home_place(s.platform);
    e.segments = e.kind == Kind::kMove ? std::vector<int>{1, 2, 5, 10, 20, 40} : std::vector<int>{11};
  }
  f.when(of_kinds(e, {Kind::kMove, Kind::kFreeMotion}), [&] {
    f.key("start",
          custom({[&](const Node& node, const std::string& key) { e.start = read_place(node, key, e.start); },
                  [&] { return text(e.start); }, "a pose", kPoseSchema}),
          {.doc = "`{ position, rpy }`, or as a pose of a path",
           .comment = "of the platform's center of mass, base axes",
           .otherwise = "home"});
  });
  f.when(of_kinds(e, {Kind::kMove}), [&] { move_fields(f, e); });
  f.when(of_kinds(e, {Kind::kStroke}), [&] { stroke_fields(f, s.platform, e); });
  f.when(of_kinds(e, {Kind::kMove, Kind::kStroke}), [&] { path_fields(f, e); });
  f.when(of_kinds(e, {Kind::kFreeMotion}), [&] { free_motion_fields(f, e); });
  f.key("max_unsolved", quantity(s.max_unsolved, {kRatio, {.low = 0, .high = 1}}),
        {.doc = "exit code 4 above this share of poses or instants that a form has not come to",
         .comment = "share of the poses or instants"});
}

/// All keys of the job.
void experiment_scenario_fields(Fields& f, ExperimentScenario& s, const std::string& file) {
  header_fields(f, "platform_experiment", s.title, nullptr);
  // An experiment is computed once, without samples: keys of samples are errors with the reason.
  f.when({false, "", "nothing in an experiment is drawn at random", "Leave it out."}, [&] {
    for (const char* name : {"seed", "sampling", "output"}) f.table(name, {}, [] {});
  });
  platform_fields(f, file, {s.model, s.model_file, s.platform});
  const std::string remedy = "Write [experiment] with kind = \"move\", \"stroke\" or \"free_motion\".";
  f.table("experiment", {.doc = "what is done", .required = remedy}, [&] { experiment_fields(f, s); });
}

ExperimentScenario build_experiment_scenario(const Node& document, const std::string& name) {
  const auto fields = [&](Fields& f, ExperimentScenario& s) { experiment_scenario_fields(f, s, name); };
  return read_job_scenario(document, "platform_experiment", "experiment on a platform", ExperimentScenario(), fields);
}

}  // namespace

ExperimentScenario parse_platform_experiment(const std::string& text, const std::string& name,
                                             const std::vector<std::string>& overrides) {
  return build_experiment_scenario(parse_toml(text, name, overrides), name);
}

ExperimentScenario read_platform_experiment(const ScenarioDocument& document) {
  return build_experiment_scenario(document.root(), document.name());
}

ExperimentScenario read_platform_experiment(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_platform_experiment(read_text(path), path, overrides);
}

std::string resolved_toml(const ExperimentScenario& s) {
  return written(s, [](Fields& f, ExperimentScenario& scenario) { experiment_scenario_fields(f, scenario, ""); });
}

void describe_platform_experiment(Fields& f) {
  ExperimentScenario s;
  experiment_scenario_fields(f, s, "");
}

}  // namespace garra::io
