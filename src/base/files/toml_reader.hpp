// TOML files as a tree of Node, with the place of every value, and readers whose errors give the place and the remedy.
// This is the only header that knows the TOML library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/units.hpp"
#include "garra/core/error.hpp"
#include "garra/core/mat.hpp"

namespace garra::io {

/// Place where a value was written: a file's line and column, or an assignment on the command line (line 0).
struct Place {
  std::shared_ptr<const std::string> source;  ///< name of the file, or the assignment
  int line = 0, column = 0;
};

/// One TOML value.
struct Node {
  enum class Kind { kTable, kArray, kString, kInteger, kFloat, kBoolean, kDate };
  struct Member;

  Kind kind = Kind::kTable;
  Place place;
  std::string text;          ///< kString
  double number = 0;         ///< kFloat, and kInteger as a float
  std::int64_t integer = 0;  ///< kInteger
  bool boolean = false;
  std::vector<Node> items;      ///< kArray
  std::vector<Member> members;  ///< kTable, in the order of the file

  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] Node* find(std::string_view key);
};
struct Node::Member {
  std::string key;
  Node value;
};

/// Parses a whole document. `name` stands for it in messages. Throws Error(kInvalidFile) if the text is not TOML, is
/// larger than 10 MB or is nested too deeply; no input crashes it.
[[nodiscard]] Node parse_toml(std::string_view text, const std::string& name);

/// Applies "key.path=value" of the command line; the value is TOML, or a bare word. Missing tables are created; items
/// of an array are counted from 0 ("contact.1.friction=0.3"). Throws Error(kUsage).
void apply_override(Node& root, const std::string& assignment);

/// Parses a document and applies overrides to it.
[[nodiscard]] Node parse_toml(std::string_view text, const std::string& name,
                              const std::vector<std::string>& overrides);

/// Sets the value at "key.path", as an override does; messages name `place`.
void set_value(Node& root, const std::string& path, Node value, const Place& place);

/// "file:line:column", or the assignment of the command line.
[[nodiscard]] std::string to_string(const Place& place);

/// Throws "place: key: problem" with the remedy: kInvalidFile, or kUsage where it comes from the
/// command line.
[[noreturn]] void fail(const Place& place, const std::string& key, const std::string& problem,
                       const std::string& remedy);

/// Errors of fail() for a missing key and for an unknown key.
struct MissingKey : Error {
  using Error::Error;
};
struct UnknownKey : Error {
  using Error::Error;
};

/// Describes a value for messages: `a string "abc"`, `an integer 3`.
[[nodiscard]] std::string describe(const Node& node);

/// A table being read. Every requested key becomes known; finish() rejects the others.
class TableReader {
 public:
  /// `path` is the table's own key, "" for the document.
  TableReader(const Node& table, std::string path);

  [[nodiscard]] const Node* find(const std::string& key);
  /// A table that may be missing; a missing one reads as empty, so that defaults apply.
  [[nodiscard]] const Node& find_table(const std::string& key);
  /// Throws if the key is missing.
  [[nodiscard]] const Node& require(const std::string& key, const std::string& remedy);
  /// Full name of a key, for messages.
  [[nodiscard]] std::string name(const std::string& key) const;
  [[nodiscard]] const Place& place() const { return table_.place; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Throws at the first key that was never requested.
  void finish() const;
  /// The keys that were never requested, each with finish()'s message.
  [[nodiscard]] std::vector<std::pair<std::string, UnknownKey>> unknown() const { return others(known_); }
  [[nodiscard]] bool is_known(const std::string& key) const;
  /// Throws at the first key that is not in `keys`; those in `keys` may be absent.
  void refuse_others(const std::vector<std::string>& keys) const;

 private:
  [[nodiscard]] std::vector<std::pair<std::string, UnknownKey>> others(const std::vector<std::string>& keys) const;

  const Node& table_;
  std::string path_;
  std::vector<std::string> known_;
};

// Readers of one value; `key` is its full name.
[[nodiscard]] std::string read_string(const Node& node, const std::string& key);
[[nodiscard]] std::string read_choice(const Node& node, const std::string& key,
                                      const std::vector<std::string>& choices);
[[nodiscard]] bool read_boolean(const Node& node, const std::string& key);
[[nodiscard]] std::int64_t read_integer(const Node& node, const std::string& key);
/// A finite number in SI units, from a plain number or a string with a unit.
[[nodiscard]] double read_quantity(const Node& node, const std::string& key, const Dimension& dimension);
/// An array; throws if it is none or has another number of items. `size` 0 accepts any number.
[[nodiscard]] const std::vector<Node>& read_array(const Node& node, const std::string& key, std::size_t size);
/// Three numbers of one dimension.
[[nodiscard]] Vec3<double> read_vector(const Node& node, const std::string& key, const Dimension& dimension);
/// An array's item as named in messages, counted from 0: "key[1]".
[[nodiscard]] std::string item(const std::string& key, std::size_t index);

}  // namespace garra::io
