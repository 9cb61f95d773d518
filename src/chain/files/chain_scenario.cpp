// Scenarios of chain studies: one document, and a copy of its tables with swept values for each design.
#include "garra/io/chain_scenario.hpp"

#include <algorithm>

#include "base/files/number.hpp"
#include "base/files/suggest.hpp"
#include "base/files/text_file.hpp"
#include "base/scenario/field_reader.hpp"
#include "base/scenario/field_writer.hpp"
#include "base/scenario/jobs.hpp"
#include "base/scenario/parts.hpp"
#include "chain/files/scenario_parts.hpp"

namespace garra::io {

namespace {

using chain::Design;
using chain::Scenario;

constexpr std::int64_t kDefaultSamples = 1024;  ///< per design
constexpr std::int64_t kDefaultChunk = 4 * study::kBlock;

/// A swept key given on the command line as well would be without effect.
void check_overrides(const Node& document, const std::vector<SweptKey>& keys) {
  for (const SweptKey& key : keys) {
    const Node* node = &document;
    for (std::size_t begin = 0; node != nullptr && begin <= key.sweep.key.size();) {
      const std::size_t end = std::min(key.sweep.key.find('.', begin), key.sweep.key.size());
      node = node->kind == Node::Kind::kTable ? node->find(key.sweep.key.substr(begin, end - begin)) : nullptr;
      begin = end + 1;
    }
    // Line 0: it comes from --set; a sweep given there as well is meant.
    if (node != nullptr && node->place.line == 0 && key.place.line != 0)
      fail(node->place, key.sweep.key, "is swept: every design has its own",
           "For one value add --set sweep={}, for others --set 'sweep={ " + io::quoted(key.sweep.key) + " = [...] }'.");
  }
}

/// The document with the values that design `d` has of the swept keys.
Node make_document(Node document, const std::vector<SweptKey>& keys, std::size_t d) {
  for (std::size_t k = 0; k < keys.size(); ++k)
    set_value(document, keys[k].sweep.key, keys[k].nodes[value_index(keys, k, d)], keys[k].place);
  return document;
}

/// Only the tables that designs are made of.
Node tables_of_designs(const Node& document) {
  Node out = document;
  // Robot, plan and outputs are the same for all designs and are read once.
  out.members.clear();
  for (const Node::Member& m : document.members)
    if (is_table_of_designs(m.key)) out.members.push_back(m);
  return out;
}

/// What the document says beside the designs.
struct File {
  Scenario& scenario;
  Design& first;
  std::int64_t& samples;  ///< of each design
  std::size_t designs;
  std::string name;                ///< of the scenario, beside which robots are looked for
  std::vector<SweptKey> sweep;     ///< that are written
  const Node* document = nullptr;  ///< that is read, as it was before a design took its values
};

/// All that there is to say of the job.
void scenario_fields(Fields& f, const File& file) {
  Scenario& s = file.scenario;
  std::vector<SweptKey> sweep = file.sweep;
  header_fields(f, "chain", s.title, &s.plan.seed);
  f.key("note", string(s.note, true), {.doc = "shown beside the answer"});
  robot_fields(f, file.name, "exoskeleton", {s.model, s.model_file, s.base, s.tip, s.robot, true});
  design_fields(f, s.robot, file.first);
  sweep_fields(f, sweep);
  f.then([&] { check_overrides(*file.document, sweep); });
  f.table("sampling", {.doc = "how many samples"}, [&] {
    samples_field(f, file.samples, {.doc = "of each design", .comment = "per design"});
    // Divided, not multiplied: the product could overflow.
    f.check(file.samples <= kMaxSamples / static_cast<std::int64_t>(file.designs), "samples",
            "too many samples for so many designs", "Give fewer.");
    if (f.reading()) s.plan.samples = file.samples * static_cast<std::int64_t>(file.designs);
    chunk_field(f, s.plan,
                {.doc = "of all designs together; doubled until there are at most 4000 files",
                 .comment = "of all designs together"});
    max_unsolved_field(f, s.plan);
    stop_field(f, s.plan);
    time_limit_field(f, s.plan);
  });
  output_fields(f, s.plan);
}

/// The values that a design has of the swept keys.
std::vector<double> swept_values(const std::vector<SweptKey>& keys, std::size_t d) {
  std::vector<double> values;
  for (std::size_t k = 0; k < keys.size(); ++k) values.push_back(keys[k].sweep.values[value_index(keys, k, d)]);
  return values;
}

/// The swept keys of a document; none where something is wrong with them, which is said later.
std::vector<SweptKey> swept_keys(const Node& document) {
  FieldReader f(document);
  std::vector<SweptKey> keys;
  sweep_fields(f, keys);
  return f.good() && f.sound() ? keys : std::vector<SweptKey>{};
}

Scenario build_scenario(const Node& document, const std::string& name) {
  TableReader root(document, "");
  require_job(root, "chain", "chain study");
  const std::vector<SweptKey> keys = swept_keys(document);
  const std::size_t designs = design_count(keys);
  Scenario s;
  s.plan.chunk = kDefaultChunk;
  s.designs.resize(designs);
  std::int64_t samples = kDefaultSamples;
  // The first design's values make the document complete: the whole file is checked with them.
  const Node first = make_document(document, keys, 0);
  FieldReader f(first);
  scenario_fields(f, {s, s.designs.front(), samples, designs, name, {}, &document});
  f.finish();
  s.plan.samples = samples * static_cast<std::int64_t>(designs);
  const Node tables = tables_of_designs(document);
  for (std::size_t d = 0; d < designs; ++d) {
    s.designs[d].values = swept_values(keys, d);
    // The first design has been read with the document.
    if (d == 0) continue;
    const Node own = make_document(tables, keys, d);
    FieldReader g(own);
    design_fields(g, s.robot, s.designs[d]);
    g.finish();
  }
  for (const SweptKey& key : keys) {
    s.sweep.push_back(key.sweep);
    if (s.sweep.back().unit.empty()) s.sweep.back().unit = unit_of_key(key.sweep.key, s);
  }
  return s;
}

}  // namespace

Scenario parse_chain_scenario(const std::string& text, const std::string& name,
                              const std::vector<std::string>& overrides) {
  return build_scenario(parse_toml(text, name, overrides), name);
}

Scenario read_chain_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_chain_scenario(read_text(path), path, overrides);
}

Scenario read_chain_scenario(const ScenarioDocument& document) {
  return build_scenario(document.root(), document.name());
}

std::string resolved_toml(const chain::Scenario& s) {
  return written(s, [](Fields& f, Scenario& scenario) {
    std::int64_t samples = scenario.plan.samples / static_cast<std::int64_t>(scenario.designs.size());
    // resolved_toml() writes samples per design, as they are read.
    std::vector<SweptKey> keys;
    for (const chain::Sweep& sweep : scenario.sweep) keys.push_back({sweep, {}, {}});
    scenario_fields(f, {scenario, scenario.designs.front(), samples, scenario.designs.size(), "", keys});
  });
}

void describe_chain(Fields& f) {
  Scenario s;
  s.plan.chunk = kDefaultChunk;
  s.designs.resize(1);
  std::int64_t samples = kDefaultSamples;
  scenario_fields(f, {s, s.designs.front(), samples, 1, "", {}});
}

}  // namespace garra::io
