// [sweep]: keys of the scenario and the values they take, from which the designs are made.
#include <algorithm>
#include <cmath>

#include "io/chain_scenario_parts.hpp"
#include "io/distribution_reader.hpp"
#include "io/number.hpp"
#include "io/scenario_parts.hpp"
#include "io/suggest.hpp"

namespace garra::io {

namespace {

/// A number, or a string with a unit: its value in SI.
double read_value(const Node& node, const std::string& key, std::string& unit) {
  if (node.kind == Node::Kind::kString) {
    Dimension found;
    const Quantity q = parse_any_quantity(node.text, found);
    if (!q.problem.empty()) fail(node.place, key, q.problem, q.remedy);
    unit = si_unit(found);
    return q.value;
  }
  return read_quantity(node, key, kRatio);
}

Node number_node(double value) {
  Node node;
  node.kind = Node::Kind::kFloat;
  node.number = value;
  return node;
}

/// From, to and number of points. Few digits, so that the values look the same on every machine.
std::vector<double> range(const Node& ends, const Node& points, const std::string& key, chain::Sweep& sweep) {
  const std::vector<Node>& items = read_array(ends, key, 2);
  const double a = read_value(items[0], item(key, 0), sweep.unit), b = read_value(items[1], item(key, 1), sweep.unit);
  const std::int64_t n = read_count(points, key + " points", chain::kMaxDesigns);
  const bool log = sweep.scale == "log";
  if (log && !(a > 0 && b > 0))
    fail(ends.place, key, "a logarithmic range needs two numbers above 0", "Write { linear = [a, b], points = n }.");
  std::vector<double> values;
  for (std::int64_t k = 0; k < n; ++k) {
    const double share = n > 1 ? static_cast<double>(k) / static_cast<double>(n - 1) : 0;
    const double x = log ? a * std::pow(b / a, share) : a + (b - a) * share;
    values.push_back(k == 0 ? a : k == n - 1 ? b : rounded(x, 9));
  }
  return values;
}

void read_range(const Node& node, SweptKey& out) {
  TableReader table(node, "sweep." + quoted(out.sweep.key));
  const Node *log = table.find("log"), *linear = table.find("linear");
  if ((log == nullptr) == (linear == nullptr))
    fail(node.place, table.path(), "no range of values",
         "Write { log = [a, b], points = n }, { linear = [a, b], points = n } or [v1, v2, ...]; a key with dots stands "
         "in quotes.");
  out.sweep.scale = log != nullptr ? "log" : "linear";
  const Node& points = table.require("points", "Write how many values: points = 16.");
  out.sweep.values = range(log != nullptr ? *log : *linear, points, table.name(out.sweep.scale), out.sweep);
  table.finish();
  for (const double value : out.sweep.values) out.nodes.push_back(number_node(value));
}

void read_list(const Node& node, SweptKey& out) {
  const std::string key = "sweep." + quoted(out.sweep.key);
  const std::vector<Node>& items = read_array(node, key, 0);
  if (items.empty()) fail(node.place, key, "no values", "Write [v1, v2, ...].");
  for (std::size_t k = 0; k < items.size(); ++k)
    out.sweep.values.push_back(read_value(items[k], item(key, k), out.sweep.unit));
  out.nodes = items;
}

/// What belongs to the run and not to a design.
void check_key(const std::string& key, const Place& place) {
  const std::string first = key.substr(0, key.find('.'));
  if (!is_table_of_designs(first) || first == key)
    fail(place, "sweep." + quoted(key), "cannot be swept",
         "Give the path of a number in [start], [vary], [torque], [time] or [settle], such as \"vary.damping\".");
}

}  // namespace

std::vector<SweptKey> read_sweep(const Node& node) {
  const TableReader table(node, "sweep");
  std::vector<SweptKey> keys;
  for (const Node::Member& m : node.members) {
    const bool range = m.value.kind == Node::Kind::kTable;
    if (!range || m.value.find("log") || m.value.find("linear") || m.value.find("points") ||
        m.key.find('.') != m.key.npos)
      check_key(m.key, m.value.place);
    SweptKey key{{m.key, "", "list", {}}, m.value.place, {}};
    range ? read_range(m.value, key) : read_list(m.value, key);
    keys.push_back(std::move(key));
    if (design_count(keys) > static_cast<std::size_t>(chain::kMaxDesigns))
      fail(m.value.place, "sweep", "more than " + std::to_string(chain::kMaxDesigns) + " designs",
           "Every combination of values is a design: give fewer values.");
  }
  return keys;
}

std::size_t design_count(const std::vector<SweptKey>& keys) {
  std::size_t n = 1;
  for (const SweptKey& key : keys) n *= key.nodes.size();
  return n;
}

std::size_t value_of(const std::vector<SweptKey>& keys, std::size_t k, std::size_t d) {
  for (std::size_t faster = keys.size(); --faster > k;) d /= keys[faster].nodes.size();
  return d % keys[k].nodes.size();
}

}  // namespace garra::io
