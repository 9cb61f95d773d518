// [sweep]: keys of the scenario and the values they take, from which the designs are made.
#include <algorithm>
#include <cmath>

#include "base/files/number.hpp"
#include "base/files/suggest.hpp"
#include "base/scenario/field_values.hpp"
#include "base/scenario/parts.hpp"
#include "chain/files/scenario_parts.hpp"

namespace garra::io {

namespace {

/// A number, or a string with a unit: its value in SI. Written as a number.
AnyValue any_quantity(double& value, std::string& unit) {
  const auto read = [&](const Node& node, const std::string& key) {
    // Its unit is not known before the key is: a plain number is taken as it is.
    if (node.kind != Node::Kind::kString) return static_cast<void>(value = read_quantity(node, key, kRatio));
    Dimension found;
    const Quantity q = parse_any_quantity(node.text, found);
    if (!q.problem.empty()) fail(node.place, key, q.problem, q.remedy);
    unit = si_unit(found);
    value = q.value;
  };
  return custom({read, [&value] { return shortest(value); }, "a number", R"({"type": ["number", "string"]})"});
}

Node number_node(double value) {
  Node node;
  node.kind = Node::Kind::kFloat;
  node.number = value;
  return node;
}

/// From a to b. Few digits, so that the values look the same on every machine.
std::vector<double> range(double a, double b, std::int64_t n, bool log) {
  std::vector<double> values;
  for (std::int64_t k = 0; k < n; ++k) {
    const double share = n > 1 ? static_cast<double>(k) / static_cast<double>(n - 1) : 0;
    // By powers, so that steps have equal ratios.
    const double x = log ? a * std::pow(b / a, share) : a + (b - a) * share;
    // Both ends exactly as given, the others to nine digits.
    values.push_back(k == 0 ? a : k == n - 1 ? b : rounded(x, 9));
  }
  return values;
}

/// Read as its values: as these it is written.
void range_fields(Fields& f, SweptKey& key) {
  const bool log = f.has("log", false), linear = f.has("linear", false);
  // Neither or both.
  if (f.reading() && log == linear) {
    f.check(false, "", "no range of values",
            "Write { log = [a, b], points = n }, { linear = [a, b], points = n } or [v1, v2, ...].");
    return f.give_up();
  }
  double ends[2] = {1, 1};
  std::int64_t points = 1;
  const auto end = [&](std::size_t k) { return any_quantity(ends[k], key.sweep.unit); };
  if (log) f.key("log", list_value({2, end, "[a, b]"}));
  if (linear) f.key("linear", list_value({2, end, "[a, b]"}));
  f.check(!log || (ends[0] > 0 && ends[1] > 0), "log", "a logarithmic range needs two numbers above 0",
          "Write { linear = [a, b], points = n }.");
  if (log || linear)
    f.key("points", count(points, {.high = chain::kMaxDesigns}), {.required = "Write how many values: points = 16."});
  f.then([&] {
    key.sweep.scale = log ? "log" : "linear";
    key.sweep.values = range(ends[0], ends[1], points, log);
    for (const double value : key.sweep.values) key.nodes.push_back(number_node(value));
  });
}

AnyValue listed(SweptKey& swept) {
  std::vector<double>& values = swept.sweep.values;
  const auto read = [&](const Node& node, const std::string& key) {
    const std::vector<Node>& items = read_array(node, key, 0);
    if (items.empty()) fail(node.place, key, "no values", "Write [v1, v2, ...].");
    values.resize(items.size());
    for (std::size_t k = 0; k < items.size(); ++k)
      any_quantity(values[k], swept.sweep.unit).read(items[k], item(key, k));
    // As written: each design's document gets the item itself, unit and all.
    swept.nodes = items;
  };
  const auto write = [&] {
    return values.empty() ? std::string() : list(values, static_cast<int>(values.size()), kRatio);
  };
  return custom({read, write, "`[v1, v2, ..]`", R"({"type": "array", "minItems": 1})"});
}

/// What belongs to the run and not to a design.
void check_key(const std::string& key, const Place& place) {
  const std::string first = key.substr(0, key.find('.'));
  if (!is_table_of_designs(first) || first == key)
    fail(
        place, "sweep." + quoted(key), "cannot be swept",
        "Give the path of a number in [start], [vary], [torque], [tool], [friction], [simulation] or [settle], such as "
        "\"vary.damping\"; a key with dots stands in quotes.");
}

}  // namespace

void sweep_fields(Fields& f, std::vector<SweptKey>& keys) {
  const auto visit = [&](const std::string& name) {
    const auto known = std::find_if(keys.begin(), keys.end(), [&](const SweptKey& k) { return k.sweep.key == name; });
    SweptKey key = known != keys.end() ? *known : SweptKey{{name, "", "list", {}}, f.find_place(name), {}};
    if (f.reading()) check_key(name, key.place);
    const char* range = "`{ log = [a, b], points = n }`, `{ linear = .. }`";
    f.key(name,
          either(Node::Kind::kTable, inlined([&key](Fields& inner) { range_fields(inner, key); }, range), listed(key)),
          {.doc = "a number of the tables from `[start]` to `[settle]`; items of lists as `\"start.q.2\"`",
           .comment = key.sweep.unit});
    if (f.reading()) keys.push_back(std::move(key));
  };
  std::vector<std::string> names;
  for (const SweptKey& key : keys) names.push_back(key.sweep.key);
  f.entries("sweep", {names, visit});
  f.check(design_count(keys) <= static_cast<std::size_t>(chain::kMaxDesigns), "sweep",
          "more than " + std::to_string(chain::kMaxDesigns) + " designs",
          "Every combination of values is a design: give fewer values.");
}

std::size_t design_count(const std::vector<SweptKey>& keys) {
  // The product may not overflow before it is refused.
  const std::size_t many = std::size_t{1} << 32;  // more than is allowed
  std::size_t n = 1;
  for (const SweptKey& key : keys) n = std::min(n * key.nodes.size(), many);
  return n;
}

std::size_t value_index(const std::vector<SweptKey>& keys, std::size_t k, std::size_t d) {
  // As digits of a number, the last key being the lowest.
  for (std::size_t faster = keys.size(); --faster > k;) d /= keys[faster].nodes.size();
  return d % keys[k].nodes.size();
}

}  // namespace garra::io
