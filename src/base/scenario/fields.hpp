// One list of fields per table of a scenario. A function `fields(Fields& f, Thing& thing)` names every key of the table
// once, with the member it stands for, its kind, bounds and meaning. Visitors of the list read a file into the members
// (field_reader.hpp), write them back (field_writer.hpp), or describe them: JSON Schema for editors, tables of
// docs/reference/scenario.md (field_schema.hpp). Defaults are the members' initial values.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/files/toml_reader.hpp"

namespace garra::io {

/// One kind of value behind a key: how it is read, written and described. field_values.hpp has the kinds.
class Value {
 public:
  virtual ~Value() = default;
  /// Throws if the node is not such a value. `key` is the full name.
  virtual void read(const Node& node, const std::string& key) = 0;
  /// The value as TOML; "" if there is nothing to write.
  [[nodiscard]] virtual std::string text() const = 0;
  /// Unit of the value; "" if it has none.
  [[nodiscard]] virtual std::string unit() const { return ""; }
  /// Accepted values of the key, in Markdown.
  [[nodiscard]] virtual std::string takes() const = 0;
  /// JSON Schema of the value.
  [[nodiscard]] virtual nlohmann::ordered_json schema() const = 0;
};

/// Description of a key or table.
struct Words {
  std::string doc = {};        ///< meaning of the key; empty: the comment
  std::string comment = {};    ///< written behind the value; empty: its unit
  std::string required = {};   ///< remedy if the key is missing; empty: it may be left out
  std::string otherwise = {};  ///< meaning of leaving it out, unless that is the value itself
  bool several = false;        ///< of a table: an array of such tables may stand in its place
};

/// Condition under which a group of fields exists.
struct Case {
  bool holds = true;
  std::string label = {};  ///< of the case, as in `kind = "move"`; empty: never, the keys are known and always rejected
  std::string problem = "unknown key";  ///< error for the keys if the case does not hold
  std::string remedy = {};              ///< empty: says which cases they belong to
};

using Visit = std::function<void()>;

/// Visitor of a list of fields: reader, writer or description.
class Fields {
 public:
  virtual ~Fields() = default;

  /// A key of the table that is being visited.
  virtual void key(const std::string& name, Value& value, const Words& words) = 0;
  void key(const std::string& name, Value&& value, const Words& words = {}) { key(name, value, words); }
  /// A subtable; `visit` names its keys.
  virtual void table(const std::string& name, const Words& words, const Visit& visit) = 0;
  /// An array of tables; `resize` allocates as many as there are, `visit` names the keys of one.
  struct Items {
    std::size_t count;  ///< count of items; readers ignore it
    std::function<void(std::size_t)> resize;
    std::function<void(std::size_t)> visit;
  };
  virtual void tables(const std::string& name, const Words& words, const Items& items) = 0;
  /// A table whose keys the file chooses: `visit` defines by key() the meaning of each written key. For descriptions
  /// the key "" stands for all of them; its words are those of the table.
  struct Entries {
    std::vector<std::string> keys;
    std::function<void(const std::string& key)> visit;
  };
  virtual void entries(const std::string& name, const Entries& entries) = 0;
  /// Fields of one case.
  virtual void when(const Case& of, const Visit& visit) = 0;
  /// Whether `name` is to be visited: if a file being read has it, if `now` when writing, always when describing.
  [[nodiscard]] virtual bool has(const std::string& name, bool now) = 0;
  /// A condition between keys that have been read. A violation is reported at `key` ("high[2]" for an item, "" for the
  /// table itself), and only if the rest of the table is valid.
  virtual void check(bool /*holds*/, const std::string& /*key*/, const std::string& /*problem*/,
                     const std::string& /*remedy*/) {}
  /// A step that needs the keys read before, and may throw. It runs only if the table is valid so far.
  virtual void then(const Visit& /*visit*/) {}
  /// Whether everything so far was valid; always true if nothing is read.
  [[nodiscard]] virtual bool good() const { return true; }
  /// Whether the table being visited was valid so far.
  [[nodiscard]] virtual bool sound() const { return true; }
  /// Skips the rest of the table, whose meaning depends on something that is wrong.
  virtual void give_up() {}
  /// Whether a file is read; false while fields are visited to reject them.
  [[nodiscard]] virtual bool reading() const { return false; }
  /// Whether a file is written.
  [[nodiscard]] virtual bool writing() const { return false; }
  /// Place of a key of the table being read; empty for other visitors.
  [[nodiscard]] virtual Place find_place(const std::string& /*name*/) { return {}; }
};

/// A table that may be missing.
template <class Thing, class Visitor>
void optional_table(Fields& f, const std::string& name, const Words& words, std::optional<Thing>& thing,
                    const Visitor& visit) {
  if (!f.has(name, thing.has_value())) return;
  if (!thing) thing.emplace();
  f.table(name, words, [&] { visit(*thing); });
}

}  // namespace garra::io
