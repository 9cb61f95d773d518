// A grasp scenario as a whole: its tables, in the order of their dependences.
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/files/text_file.hpp"
#include "base/scenario/field_reader.hpp"
#include "base/scenario/field_values.hpp"
#include "base/scenario/field_writer.hpp"
#include "base/scenario/jobs.hpp"
#include "base/scenario/parts.hpp"
#include "chain/files/pose_reader.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/files/command_fields.hpp"
#include "grasp/files/hand_fields.hpp"
#include "grasp/files/tables.hpp"
#include "grasp/files/time_fields.hpp"

namespace garra::io {

namespace {

using grasp::Scenario;

constexpr std::int64_t kDefaultSamplesInTime = 10'000;
/// At an instant: the most blocks in a chunk of a run that has many samples.
constexpr std::int64_t kBlocksWithFailures = 256;

/// In time: a tenth of the samples, because progress and resuming need chunk boundaries. For many samples a quarter, up
/// to the 32 blocks that occupy a GPU.
void set_chunk_of_time(study::Plan& plan) {
  constexpr std::int64_t kMany = 1 << 16, kBusy = 32, kMax = 64;  // samples; blocks
  const std::int64_t blocks = plan.samples / study::kBlock;
  const std::int64_t wanted = plan.samples < kMany ? blocks / 10 : std::max(blocks / 10, std::min(blocks / 4, kBusy));
  plan.chunk = std::clamp<std::int64_t>(wanted, 1, kMax) * study::kBlock;
}

/// At an instant. Kept rows of samples stay in memory until their chunk is stored, some 500 B each.
void set_chunk_of_instant(study::Plan& plan) {
  if (plan.keep == "all") return;
  larger_chunks(plan, plan.keep == "none" ? kMaxBlocks : kBlocksWithFailures);
}

void sampling_fields(Fields& f, Scenario& s) {
  samples_field(f, s.plan.samples, {.doc = "of all; with `[simulation]` 10 000"});
  if (f.reading()) s.time ? set_chunk_of_time(s.plan) : set_chunk_of_instant(s.plan);
  chunk_field(f, s.plan,
              {.doc = "samples of one file; with `[simulation]` a tenth of all, a quarter where there are "
                      "many; else more where there are many; doubled until there are at most 4000"});
  stop_field(f, s.plan);
  time_limit_field(f, s.plan);
}

/// Most objects of a group: each has a contact.
constexpr std::size_t kMaxObjects = grasp::kMaxGroupContacts;

/// The tables [[object]] of a group.
void group_fields(Fields& f, Hand& hand, Scenario& s) {
  bool known = true;
  const auto resize = [&](std::size_t n) { s.others.resize(std::min(n, kMaxObjects) - 1); };
  f.tables("object", {.doc = "the objects that touch one another"},
           {s.others.size() + 1, resize, [&](std::size_t k) {
              if (k > s.others.size()) return f.check(false, "name", "more than 32 objects", "Leave some out.");
              grasp::Object& object = k == 0 ? s.object : s.others[k - 1];
              known = object_fields(f, object) && known;
              f.check(!f.reading() || !object.name.empty(), "name", "missing",
                      "Name it, as contacts do: name = \"left\".");
              for (std::size_t i = 0; i < k; ++i)
                f.check(!f.reading() || object.name != grasp::nth_object(s, static_cast<int>(i)).name, "name",
                        "another object has this name", "Give each object a name of its own.");
            }});
  hand.object_known = known;
}

/// All fields of the job. `file` is the scenario's, beside which the files that it names lie. `group`: objects are
/// written as [[object]].
void grasp_scenario_fields(Fields& f, Scenario& s, const std::string& file, bool group) {
  header_fields(f, "grasp", s.title, &s.plan.seed);
  // For writing and describing, everything is known.
  Hand hand{.object_known = !f.reading(), .has_contacts = f.has("contact", true)};
  const auto object = [&] {
    if (group) return group_fields(f, hand, s);
    f.table("object",
            {.doc = "what is held; `[[object]]` with names: [groups of objects](../theory/grasp-groups.md)",
             .required = "Write an [object] table with shape and mass.",
             .several = true},
            [&] { hand.object_known = object_fields(f, s.object); });
  };
  if (f.reading()) object();  // determines which hands and contacts are allowed
  hand.known = !f.reading();
  f.table("hand",
          {.doc = "the fingers", .required = "Write a [hand] table with model = \"three_puma\" or \"fingers\"."},
          [&] { hand_fields(f, file, hand, s); });
  // The written hand comes first, as people read it.
  if (!f.reading()) object();
  contacts_fields(f, hand, s);
  f.table("load", {.doc = "what acts on it", .required = "Write a [load] table with grip_force = \"15 N\"."},
          [&] { load_fields(f, s); });
  if (f.has("held", !s.time)) f.table("held", {.doc = "what counts as held"}, [&] { held_fields(f, s); });
  f.table("motion", {.doc = "how it moves"}, [&] { motion_fields(f, s); });
  optional_table(f, "simulation", {.doc = "trajectories instead of one instant"}, s.time, [&](grasp::InTime& time) {
    time_fields(f, file, s.fingers, time);
    if (f.reading()) s.plan.samples = kDefaultSamplesInTime;
  });
  f.table("solver", {.doc = "of the contact problem"}, [&] { solver_fields(f, s); });
  if (f.reading()) output_fields(f, s.plan);  // limits the chunk size
  f.table("sampling", {.doc = "how many samples"}, [&] { sampling_fields(f, s); });
  if (!f.reading()) output_fields(f, s.plan);
}

/// A run folder keeps its robots side by side in models/.
void check_names(const Scenario& s) {
  namespace fs = std::filesystem;
  for (const grasp::Finger& a : s.fingers)
    for (const grasp::Finger& b : s.fingers)
      if (a.file.path != b.file.path && fs::path(a.file.path).filename() == fs::path(b.file.path).filename())
        throw Error(ExitCode::kInvalidFile, a.file.path + " and " + b.file.path + ": two robot files of one name",
                    "Rename one: a run folder keeps copies of both.");
}

/// Keys of [contacts] and the grip force of [load] that every [[contact]] has of its own.
std::vector<std::string> overruled_warnings(const Node& document) {
  std::vector<std::string> out;
  const Node* contact = document.find("contact");
  if (contact == nullptr || contact->kind != Node::Kind::kArray || contact->items.empty()) return out;
  const auto warn = [&](const std::string& table, const std::string& key) {
    const auto own = [&](const Node& one) {
      const Node* value = one.find(key);
      return value != nullptr && value->find("each") == nullptr;  // a factor on what [contacts] says
    };
    if (std::all_of(contact->items.begin(), contact->items.end(), own))
      out.push_back(table + "." + key + " has no effect: every [[contact]] has its own");
  };
  if (const Node* contacts = document.find("contacts"))
    for (const Node::Member& one : contacts->members) warn("contacts", one.key);
  if (const Node* load = document.find("load"); load != nullptr && load->find("grip_force") != nullptr)
    warn("load", "grip_force");
  return out;
}

Scenario build_grasp(const Node& document, const std::string& name) {
  const Node* objects = document.find("object");
  const bool several = objects != nullptr && objects->kind == Node::Kind::kArray;
  const auto fields = [&](Fields& f, Scenario& s) { grasp_scenario_fields(f, s, name, several); };
  Scenario scenario = read_job_scenario(document, "grasp", "grasp study", Scenario(), fields);
  // After all keys, because the command depends on several tables.
  check_command(document, scenario);
  check_names(scenario);
  scenario.warnings = inertia_warnings(document);
  std::ranges::move(overruled_warnings(document), std::back_inserter(scenario.warnings));
  for (const grasp::Finger& finger : scenario.fingers)
    for (const std::string& warning : finger.robot ? finger.robot->warnings : std::vector<std::string>{})
      // Several fingers of one file have the same warnings: each is reported once.
      if (std::find(scenario.warnings.begin(), scenario.warnings.end(), warning) == scenario.warnings.end())
        scenario.warnings.push_back(warning);
  return scenario;
}

}  // namespace

Scenario parse_scenario(const std::string& text, const std::string& name, const std::vector<std::string>& overrides) {
  return build_grasp(parse_toml(text, name, overrides), name);
}

Scenario read_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_scenario(read_text(path), path, overrides);
}

Scenario read_scenario(const ScenarioDocument& document) { return build_grasp(document.root(), document.name()); }

std::string resolved_toml(const Scenario& s) {
  return written(s, [](Fields& f, Scenario& scenario) {
    grasp_scenario_fields(f, scenario, "", !scenario.others.empty() || !scenario.object.name.empty());
  });
}

void describe_grasp(Fields& f) {
  Scenario s;
  grasp_scenario_fields(f, s, "", false);
}

}  // namespace garra::io
