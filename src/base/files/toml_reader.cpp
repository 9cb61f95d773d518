#include "base/files/toml_reader.hpp"

#include <algorithm>
#include <cmath>

#include "base/files/number.hpp"
#include "base/files/suggest.hpp"

namespace garra::io {

namespace {

bool from_command_line(const Place& place) { return place.line == 0; }

/// Quotes a key that needs quotes or is very long.
std::string key_in_message(const std::string& key) {
  const std::string in_quotes = quoted(key);
  return in_quotes.size() == key.size() + 2 && in_quotes.find('?') == std::string::npos ? key : in_quotes;
}

template <class Kind>
Kind error_at(const Place& place, const std::string& key, const std::string& problem, const std::string& remedy) {
  const std::string where = to_string(place) + ": " + (key.empty() ? "" : key + ": ");
  return Kind(from_command_line(place) ? ExitCode::kUsage : ExitCode::kInvalidFile, where + problem, remedy);
}

[[noreturn]] void wrong_type(const Node& node, const std::string& key, const std::string& expected,
                             const std::string& remedy) {
  fail(node.place, key, "expected " + expected + ", found " + describe(node), remedy);
}

}  // namespace

std::string to_string(const Place& place) {
  if (from_command_line(place)) return *place.source;
  return *place.source + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

const Node* Node::find(std::string_view key) const {
  for (const Member& m : members)
    if (m.key == key) return &m.value;
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(static_cast<const Node&>(*this).find(key)); }

void fail(const Place& place, const std::string& key, const std::string& problem, const std::string& remedy) {
  throw error_at<Error>(place, key, problem, remedy);
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kTable:
      return "a table";
    case Node::Kind::kArray:
      return "an array of " + std::to_string(node.items.size());
    case Node::Kind::kString:
      return "the string " + quoted(node.text);
    case Node::Kind::kInteger:
      return "the number " + std::to_string(node.integer);
    case Node::Kind::kFloat:
      return "the number " + shortest(node.number);
    case Node::Kind::kBoolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::kDate:
      return "a date or time";
  }
  return "nothing";
}

TableReader::TableReader(const Node& table, std::string path) : table_(table), path_(std::move(path)) {
  if (table.kind != Node::Kind::kTable)
    wrong_type(table, path_, "a table", "Write [" + path_ + "] or { key = value }.");
}

std::string TableReader::name(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }

const Node* TableReader::find(const std::string& key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  return table_.find(key);
}

const Node& TableReader::find_table(const std::string& key) {
  static const Node empty = [] {
    Node node;
    node.place = {std::make_shared<const std::string>("defaults"), 1, 1};
    return node;
  }();
  const Node* node = find(key);
  return node == nullptr ? empty : *node;
}

const Node& TableReader::require(const std::string& key, const std::string& remedy) {
  const Node* node = find(key);
  if (node != nullptr) return *node;
  // A misspelled key is the likeliest reason for a missing one.
  for (const Node::Member& m : table_.members) {
    const bool asked = std::find(known_.begin(), known_.end(), m.key) != known_.end();
    if (!asked && nearest_word(m.key, {key}) == key) {
      throw error_at<UnknownKey>(m.value.place, name(m.key), "unknown key", "Did you mean \"" + key + "\"?");
    }
  }
  throw error_at<MissingKey>(table_.place, name(key), "missing", remedy);
}

void TableReader::finish() const { refuse_others(known_); }

void TableReader::refuse_others(const std::vector<std::string>& keys) const {
  const auto unknown = others(keys);
  if (!unknown.empty()) throw UnknownKey(unknown.front().second);
}

bool TableReader::is_known(const std::string& key) const {
  return std::find(known_.begin(), known_.end(), key) != known_.end();
}

std::vector<std::pair<std::string, UnknownKey>> TableReader::others(const std::vector<std::string>& keys) const {
  std::vector<std::pair<std::string, UnknownKey>> out;
  for (const Node::Member& m : table_.members) {
    if (std::find(keys.begin(), keys.end(), m.key) != keys.end()) continue;
    out.emplace_back(m.key, error_at<UnknownKey>(m.value.place, name(key_in_message(m.key)), "unknown key",
                                                 suggest(m.key, keys, "Keys that fit here")));
  }
  return out;
}

std::string read_string(const Node& node, const std::string& key) {
  if (node.kind != Node::Kind::kString) wrong_type(node, key, "a string", "Put it between double quotes.");
  return node.text;
}

std::string read_choice(const Node& node, const std::string& key, const std::vector<std::string>& choices) {
  const std::string text = read_string(node, key);
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    fail(node.place, key, "unknown value " + quoted(text), suggest(text, choices, "Known values"));
  }
  return text;
}

bool read_boolean(const Node& node, const std::string& key) {
  if (node.kind != Node::Kind::kBoolean) wrong_type(node, key, "true or false", "Write true or false, without quotes.");
  return node.boolean;
}

std::int64_t read_integer(const Node& node, const std::string& key) {
  if (node.kind == Node::Kind::kInteger) return node.integer;
  const bool whole =
      node.kind == Node::Kind::kFloat && std::abs(node.number) < 1e15 && node.number == std::floor(node.number);
  if (!whole) wrong_type(node, key, "a whole number", "Write it without a unit, such as 100_000 or 1e5.");
  return static_cast<std::int64_t>(node.number);
}

double read_quantity(const Node& node, const std::string& key, const Dimension& dimension) {
  if (node.kind == Node::Kind::kString) {
    const Quantity q = parse_quantity(node.text, dimension);
    if (!q.problem.empty()) fail(node.place, key, q.problem, q.remedy);
    return q.value;
  }
  const std::string unit = si_unit(dimension);
  const std::string remedy =
      unit.empty() ? "Write a number, such as 0.5."
                   : "Write a string with a unit, such as \"0.5 " + unit + "\", or a plain number in " + unit + ".";
  if (node.kind != Node::Kind::kInteger && node.kind != Node::Kind::kFloat)
    wrong_type(node, key, describe(dimension), remedy);
  if (!std::isfinite(node.number)) wrong_type(node, key, describe(dimension), "NaN and infinity are no values here.");
  return node.number;
}

const std::vector<Node>& read_array(const Node& node, const std::string& key, std::size_t size) {
  const std::string wanted = size == 0 ? "an array" : "an array of " + std::to_string(size);
  if (node.kind != Node::Kind::kArray || (size != 0 && node.items.size() != size)) {
    wrong_type(node, key, wanted, "Write the items between [ and ], separated by commas.");
  }
  return node.items;
}

Vec3<double> read_vector(const Node& node, const std::string& key, const Dimension& dimension) {
  const std::vector<Node>& items = read_array(node, key, 3);
  Vec3<double> v;
  for (std::size_t i = 0; i < 3; ++i) v[static_cast<int>(i)] = read_quantity(items[i], item(key, i), dimension);
  return v;
}

std::string item(const std::string& key, std::size_t index) { return key + "[" + std::to_string(index) + "]"; }

}  // namespace garra::io
