// Parses bytes to Node through toml++, which is guarded here against input that would crash it.
#include <algorithm>
#include <charconv>

#include "base/files/toml_reader.hpp"
#include "base/scenario/renamed.hpp"

// The distribution's library is built with assertions that some invalid files trip ("[$"). It is compiled in here
// without them; the guarded cases end as a parse error. Its limit on nested values and ours on the parts of a dotted
// key bound the depth of its recursions.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#undef NDEBUG  // else the library takes its assertions as promises to the optimizer
#define TOML_HEADER_ONLY 1
#define TOML_SHARED_LIB 0
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

namespace garra::io {

namespace {

constexpr std::size_t kMaxFile = 10'000'000;
constexpr int kMaxDots = 64;
constexpr int kDeepest = 12;

using Source = std::shared_ptr<const std::string>;

Place place_at(const Source& source, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_begin = before.find_last_of('\n') + 1;  // npos + 1 == 0
  return {source, 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
          1 + static_cast<int>(offset - line_begin)};
}

/// Length of the UTF-8 sequence at the front, 0 where it is none (overlong forms and surrogates
/// included).
std::size_t utf8_length(std::string_view s) {
  const auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool out_of_range = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                            (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f);
  return out_of_range ? 0 : length;
}

void check_utf8(const Source& source, std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) fail(place_at(source, text, i), "", "not UTF-8 text", "Save the file as UTF-8.");
    i += length;
  }
}

/// Limits nesting, as every part of a dotted key is a level. Dots are counted regardless of quotes, so that quoting
/// cannot evade the limit: between two characters that end a key there may be at most kMaxDots.
void check_dots(const Source& source, std::string_view text) {
  int dots = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') dots = 0;
    if (c == '.' && ++dots > kMaxDots) {
      fail(place_at(source, text, i), "", "more than " + std::to_string(kMaxDots) + " dots in a row of text",
           "Shorten the key or break up the text.");
    }
  }
}

Place find_place(const Source& source, const toml::source_region& region) {
  // Line 0 marks the command line, so a region that the library left empty becomes line 1.
  return {source, std::max(1, static_cast<int>(region.begin.line)), std::max(1, static_cast<int>(region.begin.column))};
}

/// Converter from the library's tree to Node.
class Converter {
 public:
  explicit Converter(Source source) : source_(std::move(source)) {}

  [[nodiscard]] Node convert(const toml::node& from, int depth) const {
    Node to;
    to.place = find_place(source_, from.source());
    if (depth > kDeepest)
      fail(to.place, "", "tables or arrays nested too deeply", "A scenario needs no more than five levels.");
    if (const toml::table* table = from.as_table()) return convert_table(*table, to, depth);
    if (const toml::array* array = from.as_array()) {
      to.kind = Node::Kind::kArray;
      for (const toml::node& item : *array) to.items.push_back(convert(item, depth + 1));
      return to;
    }
    convert_value(from, to);
    return to;
  }

 private:
  [[nodiscard]] Node convert_table(const toml::table& table, Node& to, int depth) const {
    for (const auto& [key, value] : table) {
      Node node = convert(value, depth + 1);
      // Errors in a member are best looked for at its key.
      if (!value.is_table() && !value.is_array_of_tables()) node.place = find_place(source_, key.source());
      to.members.push_back({std::string(key.str()), std::move(node)});
    }
    std::stable_sort(to.members.begin(), to.members.end(), [](const Node::Member& a, const Node::Member& b) {
      return std::pair(a.value.place.line, a.value.place.column) < std::pair(b.value.place.line, b.value.place.column);
    });
    return std::move(to);
  }

  static void convert_value(const toml::node& from, Node& to) {
    to.kind = Node::Kind::kDate;
    if (const auto* text = from.as_string()) {
      to.kind = Node::Kind::kString;
      to.text = text->get();
    } else if (const auto* integer = from.as_integer()) {
      to.kind = Node::Kind::kInteger;
      to.integer = integer->get();
      to.number = static_cast<double>(to.integer);
    } else if (const auto* number = from.as_floating_point()) {
      to.kind = Node::Kind::kFloat;
      to.number = number->get();
    } else if (const auto* boolean = from.as_boolean()) {
      to.kind = Node::Kind::kBoolean;
      to.boolean = boolean->get();
    }
  }

  Source source_;
};

/// Gives a tree read from an assignment its own place, so that messages quote the assignment.
void set_place(Node& node, const Place& place) {
  node.place = place;
  for (Node& item : node.items) set_place(item, place);
  for (Node::Member& m : node.members) set_place(m.value, place);
}

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

std::vector<std::string> split_path(std::string_view path, const Place& place) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    parts.emplace_back(trim(path.substr(begin, end - begin)));
    if (parts.back().empty() || parts.size() > kDeepest) {
      fail(place, "", "the key is not of the form a.b.c",
           "Write --set key.path=value, for example --set object.mass=2.");
    }
    begin = end + 1;
  }
  return parts;
}

/// Parses a value as in a file; else a word or a quantity without its quotes, which a shell removes.
Node parse_override_value(std::string_view value, const Place& place) {
  const bool bare = value.find_first_of("\"'[]{}=#,\n\r\\") == std::string_view::npos && !value.empty();
  try {
    Node root = parse_toml("value = " + std::string(value), "value");
    if (root.members.size() == 1 && root.members[0].key == "value") return std::move(root.members[0].value);
  } catch (const Error& error) {
    if (!bare)
      fail(place, "", "not a TOML value", "Quote it for the shell, for example --set 'load.grip_force=\"15 N\"'.");
  }
  if (!bare) fail(place, "", "more than one value", "Write one --set for each key.");
  Node node;
  node.kind = Node::Kind::kString;
  node.text = std::string(value);
  return node;
}

Node& array_item(Node& array, const std::string& part, const Place& place) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (error != std::errc{} || end != part.data() + part.size() || index >= array.items.size()) {
    fail(place, "", "there is no item " + part + " in an array of " + std::to_string(array.items.size()),
         "Items are counted from 0.");
  }
  return array.items[index];
}

Node& descend(Node& node, const std::string& part, const Place& place) {
  if (node.kind == Node::Kind::kArray) return array_item(node, part, place);
  if (node.kind != Node::Kind::kTable) {
    fail(place, "", "\"" + part + "\" is looked for in " + describe(node) + ", which is no table",
         "Leave out the part of the key behind it.");
  }
  if (Node* found = node.find(part)) return *found;
  Node table;
  table.place = place;
  node.members.push_back({part, std::move(table)});
  return node.members.back().value;
}

}  // namespace

Node parse_toml(std::string_view text, const std::string& name) {
  const Source source = std::make_shared<const std::string>(name);
  if (text.size() > kMaxFile)
    fail({source, 1, 1}, "", "larger than 10 MB", "A scenario is a few kilobytes: is it the right file?");
  check_utf8(source, text);
  check_dots(source, text);
  const toml::parse_result result = toml::parse(text);
  if (!result) {
    const toml::parse_error& error = result.error();
    fail(find_place(source, error.source()), "", "not TOML: " + std::string(error.description()),
         "See https://toml.io for the syntax; strings need double quotes.");
  }
  Node root = Converter(source).convert(result.table(), 0);
  root.place = {source, 1, 1};
  rename_keys(root);
  return root;
}

void apply_override(Node& root, const std::string& assignment) {
  const std::string shown = assignment.size() > 200 ? assignment.substr(0, 200) + "..." : assignment;
  const Place place{std::make_shared<const std::string>("--set " + shown), 0, 0};
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos)
    fail(place, "", "has no \"=\"", "Write --set key.path=value, for example --set object.mass=2.");
  const std::string_view all = assignment;
  const std::string path(trim(all.substr(0, equals)));
  static_cast<void>(split_path(path, place));  // complain about the key first
  const std::string now = with_new_names(path);
  Node value = parse_override_value(trim(all.substr(equals + 1)), place);
  rename_keys(value, now);
  set_value(root, now, std::move(value), place);
}

void set_value(Node& root, const std::string& path, Node value, const Place& place) {
  set_place(value, place);
  Node* node = &root;
  std::string before;
  for (const std::string& part : split_path(path, place)) {
    if (node->kind == Node::Kind::kArray && part.find_first_not_of("0123456789") != std::string::npos)
      fail(place, "", "\"" + part + "\" is no number of an item of " + before,
           "Items are counted from 0: " + before + ".0." + part + " is for the first" +
               (root.find(before + "s") == nullptr ? "." : ", " + before + "s." + part + " for all."));
    node = &descend(*node, part, place);
    before += (before.empty() ? "" : ".") + part;
  }
  *node = std::move(value);
}

Node parse_toml(std::string_view text, const std::string& name, const std::vector<std::string>& overrides) {
  Node document = parse_toml(text, name);
  for (const std::string& assignment : overrides) apply_override(document, assignment);
  return document;
}

}  // namespace garra::io
