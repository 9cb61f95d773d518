#include "garra/io/scenario.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>

#include "io/command_reader.hpp"
#include "io/pose_reader.hpp"
#include "io/scenario_parts.hpp"
#include "io/text_file.hpp"
#include "io/time_reader.hpp"
#include "io/toml_reader.hpp"

namespace garra::io {

namespace {

using grasp::Scenario;

std::uint64_t read_seed(const Node& node) {
  const std::int64_t seed = read_integer(node, "seed");
  if (seed < 0) fail(node.place, "seed", "must not be negative", "Write any whole number from 0.");
  return static_cast<std::uint64_t>(seed);
}

}  // namespace

std::string read_header(TableReader& root) {
  const Node& schema = root.require("schema", "Write schema = 1 in the first line.");
  if (read_integer(schema, "schema") != 1) {
    fail(schema.place, "schema", "unknown version " + std::to_string(read_integer(schema, "schema")),
         "This program reads schema = 1.");
  }
  return read_choice(root.require("job", "Write job = \"grasp\"."), "job",
                     {"grasp", "singularity", "chain", "platform", "platform_experiment"});
}

void require_job(TableReader& root, const std::string& job, const std::string& what) {
  const std::string found = read_header(root);
  if (found == job) return;
  fail(root.find("job")->place, "job", "\"" + found + "\" is no " + what,
       "Only job = \"" + job + "\" has a scenario of this form.");
}

void read_title_and_seed(TableReader& root, std::string& title, study::Plan& plan) {
  if (const Node* node = root.find("title")) title = read_string(*node, "title");
  if (const Node* seed = root.find("seed")) plan.seed = read_seed(*seed);
}

namespace {

/// Asks for every key of the document, so that a misspelt one is told from a missing one.
void declare_tables(TableReader& root) {
  for (const char* key : {"schema", "job", "title", "seed", "hand", "object", "contacts", "contact", "load", "motion",
                          "held", "time", "solver", "sampling", "output"}) {
    static_cast<void>(root.find(key));
  }
  root.finish();
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

Scenario build_grasp(const Node& document, const std::string& name) {
  TableReader root(document, "");
  require_job(root, "grasp", "grasp study");
  declare_tables(root);
  Scenario scenario;
  const std::function<void()> parts[] = {
      [&] { read_title_and_seed(root, scenario.title, scenario.plan); },
      [&] { scenario.object = read_object(root); },
      [&] { read_hand(root, name, scenario); },
      [&] { read_time(root, name, scenario); },
      [&] { read_study(root, scenario); },
  };
  read_parts(parts);
  check_command(document, scenario);
  if (scenario.time) set_chunk_of_time(root, scenario.plan);
  check_names(scenario);
  scenario.warnings = inertia_warnings(document);
  for (const grasp::Finger& finger : scenario.fingers)
    for (const std::string& warning : finger.robot ? finger.robot->warnings : std::vector<std::string>{})
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

std::string scenario_job(const std::string& path) {
  const Node document = parse_toml(read_text(path), path);
  TableReader root(document, "");
  return read_header(root);
}

}  // namespace garra::io
