#include "garra/io/platform_experiment_scenario.hpp"

#include <algorithm>
#include <cmath>

#include "io/distribution_reader.hpp"
#include "io/number.hpp"
#include "io/platform_parts.hpp"
#include "io/platform_scenario_parts.hpp"
#include "io/scenario_parts.hpp"
#include "io/text_file.hpp"

namespace garra::io {

namespace {

using platform::Experiment;
using platform::ExperimentScenario;
using Kind = Experiment::Kind;

constexpr std::int64_t kMostSegments = 1000, kMostInstants = 2001;
constexpr std::size_t kMostPaths = 32;
constexpr double kMostSteps = 1e6;
const std::vector<std::string> kKinds = {"move", "stroke", "free_motion"};
const std::vector<std::string> kParts = {"both", "pose", "lengths"};

/// A key of [experiment] and the kinds that it says something about.
struct Key {
  const char* name;
  bool of[3];
};
constexpr Key kKeys[] = {
    {"start", {true, false, true}},     {"translation", {true, false, false}},  {"rotation", {true, false, false}},
    {"parts", {true, false, false}},    {"travel", {false, true, false}},       {"segments", {true, true, false}},
    {"tolerance", {true, true, false}}, {"force_factor", {false, false, true}}, {"forces", {false, false, true}},
    {"duration", {false, false, true}}, {"step", {false, false, true}},         {"instants", {false, false, true}}};

/// Refuses keys of other kinds of experiment.
void require_own_keys(TableReader& table, Kind kind) {
  const auto own = static_cast<std::size_t>(kind);
  for (const Key& key : kKeys) {
    const Node* node = table.find(key.name);
    if (node == nullptr || key.of[own]) continue;
    std::string others;
    for (std::size_t k = 0; k < kKinds.size(); ++k)
      if (key.of[k]) others += (others.empty() ? "kind = \"" : " or kind = \"") + kKinds[k] + "\"";
    fail(node->place, table.name(key.name), "says nothing about kind = \"" + kKinds[own] + "\"",
         "Leave it out; it belongs to " + others + ".");
  }
}

/// One number, or a list of them.
void read_segments(TableReader& table, std::vector<int>& segments) {
  const Node* node = table.find("segments");
  if (node == nullptr) return;
  const std::string key = table.name("segments");
  segments.clear();
  if (node->kind != Node::Kind::kArray) {
    segments.push_back(static_cast<int>(read_count(*node, key, kMostSegments)));
    return;
  }
  for (std::size_t k = 0; k < node->items.size(); ++k)
    segments.push_back(static_cast<int>(read_count(node->items[k], item(key, k), kMostSegments)));
  if (segments.empty() || segments.size() > kMostPaths)
    fail(node->place, key, "must hold 1 to " + std::to_string(kMostPaths) + " numbers",
         "Write one for each path: segments = [1, 2, 5].");
}

void read_tolerance(TableReader& table, double& tolerance) {
  if (const Node* node = table.find("tolerance"))
    tolerance = read_bounded(*node, table.name("tolerance"), {kLength, {.low = 0, .high = 1e-3, .above_low = true}});
}

void read_move(TableReader& table, Experiment& e) {
  e.segments = {1, 2, 5, 10, 20, 40};
  if (const Node* node = table.find("translation"))
    e.translation = read_vector(*node, table.name("translation"), kLength);
  if (const Node* node = table.find("rotation")) {
    const Turn turn = read_turn(*node, table.name("rotation"));
    e.axis = turn.axis;
    e.angle = turn.angle;
  }
  if (norm(e.translation) == 0 && e.angle == 0)
    fail(table.place(), table.path(), "nothing moves",
         "Write translation = [0, 0, \"400 mm\"], or rotation = { axis = [1, 0, 0], angle = \"45 deg\" }.");
  if (const Node* node = table.find("parts")) e.parts = read_enum<Experiment::Parts>(*node, table.name("parts"), kParts);
}

void read_stroke(TableReader& table, const platform::Platform& of, Experiment& e) {
  e.segments = {11};
  const auto stroke = [](const platform::Leg& leg) { return leg.length_max - leg.length_min; };
  const auto least = std::min_element(of.leg.begin(), of.leg.end(),
                                      [&](const auto& a, const auto& b) { return stroke(a) < stroke(b); });
  e.travel = stroke(*least);
  const Node* node = table.find("travel");
  if (node == nullptr) return;
  const double most = e.travel;
  e.travel = read_bounded(*node, table.name("travel"), {kLength, Bounds::positive()});
  if (e.travel > most * (1 + 1e-12))
    fail(node->place, table.name("travel"),
         "leg " + std::to_string(least - of.leg.begin() + 1) + " has a stroke of " + shortest(most) + " m",
         "Write at most that, or leave it out for all of it.");
}

void read_free_motion(TableReader& table, Experiment& e) {
  const Node *forces = table.find("forces"), *factor = table.find("force_factor");
  if (forces != nullptr && factor != nullptr)
    fail(forces->place, table.name("forces"), "both forces and force_factor", "Keep one of them.");
  if (factor != nullptr) e.force_factor = read_quantity(*factor, table.name("force_factor"), kRatio);
  if (forces != nullptr) {
    const std::vector<Node>& items = read_array(*forces, table.name("forces"), platform::kLegs);
    for (std::size_t k = 0; k < items.size(); ++k)
      e.force.push_back(read_quantity(items[k], item(table.name("forces"), k), kForce));
  }
  if (const Node* node = table.find("duration"))
    e.duration = read_bounded(*node, table.name("duration"), {kTime, Bounds::positive()});
  const Node* step = table.find("step");
  if (step != nullptr) e.step = read_bounded(*step, table.name("step"), {kTime, Bounds::positive()});
  if (e.duration / e.step > kMostSteps)
    fail(step != nullptr ? step->place : table.place(), table.name("step"), "more than a million steps",
         "Write a longer step or a shorter duration.");
  const Node* instants = table.find("instants");
  if (instants == nullptr) return;
  e.instants = static_cast<int>(read_count(*instants, table.name("instants"), kMostInstants));
  if (e.instants < 2) fail(instants->place, table.name("instants"), "must be at least 2", "Both ends are instants.");
}

void read_experiment(const Node& node, ExperimentScenario& s) {
  TableReader table(node, "experiment");
  Experiment& e = s.experiment;
  e.kind = read_enum<Kind>(table.require("kind", "Write kind = \"move\", \"stroke\" or \"free_motion\"."),
                        table.name("kind"), kKinds);
  require_own_keys(table, e.kind);
  e.start = platform::home_of(s.platform);
  if (const Node* start = table.find("start")) e.start = read_place(*start, table.name("start"), e.start);
  if (e.kind == Kind::kMove) read_move(table, e);
  if (e.kind == Kind::kStroke) read_stroke(table, s.platform, e);
  if (e.kind == Kind::kFreeMotion) {
    read_free_motion(table, e);
  } else {
    read_segments(table, e.segments);
    read_tolerance(table, e.tolerance);
  }
  if (const Node* share = table.find("max_unsolved"))
    s.max_unsolved = read_bounded(*share, table.name("max_unsolved"), {kRatio, {.low = 0, .high = 1}});
  table.finish();
}

/// An experiment is computed once, as it is: what other jobs have for their samples is refused with a word why.
void require_nothing_random(TableReader& root) {
  for (const char* key : {"seed", "sampling", "output"})
    if (const Node* node = root.find(key))
      fail(node->place, key, "nothing in an experiment is drawn at random", "Leave it out.");
}

ExperimentScenario build(const Node& document, const std::string& name) {
  TableReader root(document, "");
  require_job(root, "platform_experiment", "experiment on a platform");
  for (const char* key : {"title", "platform", "experiment"}) static_cast<void>(root.find(key));
  require_nothing_random(root);
  root.finish();
  ExperimentScenario s;
  if (const Node* title = root.find("title")) s.title = read_string(*title, "title");
  ChosenPlatform chosen = read_chosen_platform(root, name);
  s.model = std::move(chosen.model);
  s.model_file = std::move(chosen.file);
  s.platform = std::move(chosen.platform);
  read_experiment(root.require("experiment", "Write [experiment] with kind = \"move\", \"stroke\" or \"free_motion\"."),
                  s);
  return s;
}

void write_path(const Experiment& e, Writer& w) {
  std::string segments;
  for (const int n : e.segments) segments += (segments.empty() ? "" : ", ") + std::to_string(n);
  w.line("segments", "[" + segments + "]", "paths in that many parts; every pose is the guess of the next");
  w.line("tolerance", shortest(e.tolerance), "m, of every length");
}

void write_experiment(const Experiment& e, Writer& w) {
  w.table("experiment");
  w.line("kind", text(kKinds[static_cast<std::size_t>(e.kind)]));
  if (e.kind != Kind::kStroke) w.line("start", text(e.start), "of the platform's center of mass, base axes");
  switch (e.kind) {
    case Kind::kMove:
      w.quantity("translation", e.translation, kLength);
      w.line("rotation", "{ axis = " + text(e.axis, kRatio) + ", angle = " + text(e.angle, kAngle) + " }", "base axes");
      w.line("parts", text(kParts[static_cast<std::size_t>(e.parts)]), "equal parts of the pose, the lengths, or both");
      return write_path(e, w);
    case Kind::kStroke:
      w.line("travel", text(e.travel, kLength), "m, of every leg, from its shortest");
      return write_path(e, w);
    case Kind::kFreeMotion:
      if (e.force.empty())
        w.line("force_factor", shortest(e.force_factor), "times the forces that hold the start");
      else
        w.line("forces", list(e.force, platform::kLegs, kForce), "N");
      w.quantity("duration", e.duration, kTime);
      w.quantity("step", e.step, kTime);
      w.line("instants", std::to_string(e.instants));
  }
}

}  // namespace

ExperimentScenario parse_platform_experiment(const std::string& text, const std::string& name,
                                             const std::vector<std::string>& overrides) {
  return build(parse_toml(text, name, overrides), name);
}

ExperimentScenario read_platform_experiment(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_platform_experiment(read_text(path), path, overrides);
}

std::string resolved_toml(const ExperimentScenario& s) {
  Writer w;
  w.line("schema", "1");
  w.line("job", "\"platform_experiment\"");
  w.line("title", text(s.title));
  write({s.model, s.model_file, s.platform}, w);
  write_experiment(s.experiment, w);
  w.line("max_unsolved", shortest(s.max_unsolved), "share of the poses or instants");
  return w.take();
}

}  // namespace garra::io
