#include "garra/io/chain_scenario.hpp"

#include <algorithm>

#include "io/chain_scenario_parts.hpp"
#include "io/distribution_reader.hpp"
#include "io/scenario_parts.hpp"
#include "io/suggest.hpp"
#include "io/text_file.hpp"

namespace garra::io {

namespace {

using chain::Scenario;

constexpr std::int64_t kDefaultSamples = 1024;  ///< per design
constexpr std::int64_t kDefaultChunk = 4 * study::kBlock;

void read_plan(TableReader& root, std::int64_t designs, study::Plan& plan) {
  plan.samples = kDefaultSamples;
  plan.chunk = kDefaultChunk;
  TableReader table(root.find_table("sampling"), "sampling");
  read_sampling(table, plan);
  if (const Node* share = table.find("max_unsolved"))
    plan.max_unsolved = read_bounded(*share, table.name("max_unsolved"), {kRatio, {.low = 0, .high = 1}});
  table.finish();
  if (plan.samples > kMostSamples / designs)
    fail(table.place(), "sampling.samples", "too many samples for so many designs", "Give fewer.");
  plan.samples *= designs;
  read_output(root.find_table("output"), plan);
}

void declare_tables(TableReader& root) {
  for (const char* key : {"schema", "job", "title", "seed", "robot", "start", "vary", "torque", "time", "settle",
                          "sweep", "sampling", "output"})
    static_cast<void>(root.find(key));
  root.finish();
}

/// A swept key given on the command line as well would be without effect.
void check_overrides(const Node& document, const std::vector<SweptKey>& keys) {
  for (const SweptKey& key : keys) {
    const Node* node = &document;
    for (std::size_t begin = 0; node != nullptr && begin <= key.sweep.key.size();) {
      const std::size_t end = std::min(key.sweep.key.find('.', begin), key.sweep.key.size());
      node = node->kind == Node::Kind::kTable ? node->find(key.sweep.key.substr(begin, end - begin)) : nullptr;
      begin = end + 1;
    }
    if (node != nullptr && node->place.line == 0 && key.place.line != 0)
      fail(node->place, key.sweep.key, "is swept: every design has its own",
           "For one value add --set sweep={}, for others --set 'sweep={ " + io::quoted(key.sweep.key) + " = [...] }'.");
  }
}

/// Design `d`: the document with its values of the swept keys.
chain::Design build_design(Node document, const std::vector<SweptKey>& keys, std::size_t d, const chain::Robot& robot) {
  std::vector<double> values;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const std::size_t v = value_of(keys, k, d);
    set_value(document, keys[k].sweep.key, keys[k].nodes[v], keys[k].place);
    values.push_back(keys[k].sweep.values[v]);
  }
  TableReader root(document, "");
  chain::Design design = read_design(root, robot);
  design.values = values;
  return design;
}

Scenario build(const Node& document, const std::string& name) {
  TableReader root(document, "");
  require_job(root, "chain", "chain study");
  declare_tables(root);
  Scenario s;
  read_title_and_seed(root, s.title, s.plan);
  put_robot(read_robot_table(root.require("robot", "Write [robot] with model = \"exoskeleton\"."), name), s);
  const std::vector<SweptKey> keys = read_sweep(root.find_table("sweep"));
  check_overrides(document, keys);
  read_plan(root, static_cast<std::int64_t>(design_count(keys)), s.plan);
  for (std::size_t d = 0; d < design_count(keys); ++d) s.designs.push_back(build_design(document, keys, d, s.robot));
  for (const SweptKey& key : keys) {
    s.sweep.push_back(key.sweep);
    if (s.sweep.back().unit.empty()) s.sweep.back().unit = unit_of_key(key.sweep.key, s);
  }
  return s;
}

}  // namespace

Scenario parse_chain_scenario(const std::string& text, const std::string& name,
                              const std::vector<std::string>& overrides) {
  return build(parse_toml(text, name, overrides), name);
}

Scenario read_chain_scenario(const std::string& path, const std::vector<std::string>& overrides) {
  return parse_chain_scenario(read_text(path), path, overrides);
}

}  // namespace garra::io
