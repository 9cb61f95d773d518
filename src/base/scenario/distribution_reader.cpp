#include "base/scenario/distribution_reader.hpp"

#include <cmath>

#include "base/files/number.hpp"

namespace garra::io {

namespace {

using study::Distribution;
using Kind = Distribution::Kind;

/// The first and the last uniform number that core/philox.hpp can draw.
constexpr double kFirstUniform = 0x1p-53, kLastUniform = 1 - 0x1p-53;
/// A truncation that keeps less than this is considered a mistake; it would also cost digits.
constexpr double kMinKept = 1e-6;

std::string with_unit(double value, const Dimension& dimension) {
  const std::string unit = si_unit(dimension);
  return shortest(value) + (unit.empty() ? "" : " " + unit);
}

bool inside(double value, const Bounds& b) { return (b.above_low ? value > b.low : value >= b.low) && value <= b.high; }

/// "normal = [mean, sd]" and similar: two numbers, the second with its own dimension.
struct Pair {
  double first, second;
};
Pair read_pair(const Node& node, const std::string& key, const Dimension& first, const Dimension& second) {
  const std::vector<Node>& items = read_array(node, key, 2);
  return {read_quantity(items[0], item(key, 0), first), read_quantity(items[1], item(key, 1), second)};
}

Distribution read_normal(const Node& node, const std::string& key, const Wanted& wanted) {
  const Pair p = read_pair(node, key, wanted.dimension, wanted.dimension);
  if (p.second < 0)
    fail(node.place, key, "the standard deviation is negative", "Write normal = [mean, standard deviation].");
  // Without spread it is a constant: studies identify drawn inputs by is_constant().
  return p.second > 0 ? Distribution::normal(p.first, p.second) : Distribution::constant(p.first);
}

Distribution read_lognormal(const Node& node, const std::string& key, const Wanted& wanted) {
  const Pair p = read_pair(node, key, wanted.dimension, kRatio);
  const char* remedy = "Write lognormal = [median, standard deviation of the logarithm].";
  if (!(p.first > 0)) fail(node.place, key, "the median is not positive", remedy);
  if (p.second < 0) fail(node.place, key, "the standard deviation is negative", remedy);
  return p.second > 0 ? Distribution{Kind::kLognormal, p.first, p.second, 0, 1} : Distribution::constant(p.first);
}

Distribution read_uniform(const Node& node, const std::string& key, const Wanted& wanted) {
  const Pair p = read_pair(node, key, wanted.dimension, wanted.dimension);
  if (p.first > p.second)
    fail(node.place, key, "the lower limit is above the upper one", "Write uniform = [from, to].");
  return p.first < p.second ? Distribution::uniform(p.first, p.second) : Distribution::constant(p.first);
}

Distribution read_cone(const Node& node, const std::string& key, const Wanted& wanted) {
  if (!wanted.cone) fail(node.place, key, "cone_uniform is for tilt only", "Use normal, uniform or lognormal here.");
  const double a = read_quantity(node, key, kAngle);
  if (a < 0 || a >= M_PI / 2)
    fail(node.place, key, "the half angle must be at least 0 and below 90 deg", "Write cone_uniform = \"3 deg\".");
  return Distribution::cone(a);
}

struct Limits {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

Limits read_limits(TableReader& table, const Dimension& dimension) {
  Limits limits;
  if (const Node* node = table.find("min")) limits.min = read_quantity(*node, table.name("min"), dimension);
  if (const Node* node = table.find("max")) limits.max = read_quantity(*node, table.name("max"), dimension);
  if (!(limits.min < limits.max)) {
    fail(table.place(), table.path(), "min is not below max", "Give the interval that draws may come from.");
  }
  return limits;
}

Distribution truncate(const Distribution& d, const Limits& limits, const TableReader& table) {
  if (d.is_constant()) {
    if (d.a < limits.min || d.a > limits.max)
      fail(table.place(), table.path(), "the value is outside min and max", "Widen them.");
    return d;
  }
  const Distribution t = d.truncated(limits.min, limits.max);
  if (t.high - t.low < kMinKept) {
    fail(table.place(), table.path(), "min and max leave less than a millionth of the distribution",
         "Move the mean, or give { uniform = [min, max] }.");
  }
  return t;
}

void check_bounds(const Distribution& d, const Limits& limits, const Place& place, const std::string& key,
                  const Wanted& wanted) {
  // A truncated end equals its limit to the bit; quantile() would only approach it.
  const bool limited_below = std::isfinite(limits.min), limited_above = std::isfinite(limits.max);
  const double low = limited_below && !d.is_constant() ? limits.min : quantile(d, kFirstUniform);
  const double high = limited_above && !d.is_constant() ? limits.max : quantile(d, kLastUniform);
  // Checks only the ends, because quantile functions are increasing.
  if (inside(low, wanted.bounds) && inside(high, wanted.bounds)) return;
  const std::string must = "must be " + in_words(wanted);
  if (d.is_constant())
    fail(place, key, must + ", found " + with_unit(d.a, wanted.dimension), "Correct the value or its unit.");
  const bool too_low = !inside(low, wanted.bounds);
  const std::string reach = too_low ? "draws reach down to " + with_unit(rounded(low, 4), wanted.dimension)
                                    : "draws reach up to " + with_unit(rounded(high, 4), wanted.dimension);
  // Distributions without ends need a cut; the others have numbers to correct.
  const bool open = d.kind == Kind::kNormal || d.kind == Kind::kLognormal;
  const std::string limit = too_low ? "min" : "max";
  fail(place, key, must + ", but " + reach,
       open ? "Add " + limit + " = ... to the distribution: it is cut off there and renormalized."
            : "Narrow the interval.");
}

/// Reads the one distribution named in the table.
Distribution read_kind(TableReader& table, const Wanted& wanted, bool& open) {
  using Reader = Distribution (*)(const Node&, const std::string&, const Wanted&);
  const std::pair<const char*, Reader> readers[] = {
      {"normal", read_normal}, {"uniform", read_uniform}, {"lognormal", read_lognormal}, {"cone_uniform", read_cone}};
  const Node* found = nullptr;
  std::string name;
  Reader reader = nullptr;
  for (const auto& [key, read] : readers) {
    const Node* node = table.find(key);
    if (node == nullptr) continue;
    if (found != nullptr)
      fail(node->place, table.path(), "two distributions: " + name + " and " + key, "Keep one of them.");
    found = node;
    name = key;
    reader = read;
  }
  open = name == "normal" || name == "lognormal";
  if (found != nullptr) return reader(*found, table.name(name), wanted);
  // Unknown keys first: a misspelled name is the likeliest reason for a missing distribution.
  table.finish();
  fail(table.place(), table.path(), "a table without a distribution",
       "Write { normal = [mean, sd] }, { uniform = [a, b] } or { lognormal = [median, sd_of_log] "
       "}.");
}

}  // namespace

std::string in_words(const Wanted& wanted) {
  const Bounds& b = wanted.bounds;
  std::string out;
  if (std::isfinite(b.low)) out = (b.above_low ? "above " : "at least ") + with_unit(b.low, wanted.dimension);
  if (std::isfinite(b.high)) out += (out.empty() ? "at most " : " and at most ") + with_unit(b.high, wanted.dimension);
  return out;
}

Distribution read_distribution(const Node& node, const std::string& key, const Wanted& wanted) {
  if (node.kind != Node::Kind::kTable) {
    const Distribution d = Distribution::constant(read_quantity(node, key, wanted.dimension));
    check_bounds(d, {}, node.place, key, wanted);
    return d;
  }
  TableReader table(node, key);
  bool open = false;
  Distribution d = read_kind(table, wanted, open);
  Limits limits;
  if (open) {
    limits = read_limits(table, wanted.dimension);
    d = truncate(d, limits, table);
  }
  table.finish();
  check_bounds(d, limits, node.place, key, wanted);
  return d;
}

double read_bounded(const Node& node, const std::string& key, const Wanted& wanted) {
  const double value = read_quantity(node, key, wanted.dimension);
  check_bounds(Distribution::constant(value), {}, node.place, key, wanted);
  return value;
}

Distribution scaled(Distribution d, double factor) {
  d.a *= factor;
  // A lognormal's second number belongs to the logarithm, which a factor only shifts.
  if (d.kind == Kind::kUniform || d.kind == Kind::kNormal) d.b *= factor;
  return d;
}

bool can_shift(const Distribution& d) {
  return d.kind == Kind::kConstant || d.kind == Kind::kUniform || d.kind == Kind::kNormal;
}

Distribution shifted(Distribution d, double offset) {
  d.a += offset;
  // A normal's second number is its width, which a shift does not change.
  if (d.kind == Kind::kUniform) d.b += offset;
  return d;
}

}  // namespace garra::io
