// Names that users met before they were changed: keys of TOML files, flags, names of Python and of JSON. One table
// serves their readers, docs/reference/renamed.md and the tests. Old names are accepted until version 1.0.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace garra::io {

struct Node;

/// Where a name is written.
enum NameKind : unsigned { kKeyName = 1, kFlagName = 2, kPythonName = 4, kJsonName = 8 };

/// A name that has changed.
struct RenamedName {
  unsigned kinds;          ///< NameKind bits
  std::string_view where;  ///< table or object that holds it, as a path of new names; "" the root, "*" any
  std::string_view old, now;
};

[[nodiscard]] const std::vector<RenamedName>& renamed_names();

/// The table as a JSON array of {kinds, where, old, now}, or as the rows of docs/reference/renamed.md.
[[nodiscard]] std::string renamed_table(bool markdown);

/// The new name of a flag ("--tolerance" of "--tol"), or "" where the table has none.
[[nodiscard]] std::string new_flag(std::string_view flag);

/// Gives the keys of a TOML document their new names, with a warning each. `path` is the table's own. Throws
/// Error(kInvalidFile) where a table has a key by both names.
void rename_keys(Node& table, const std::string& path = "");

/// "time.until" with new names: "simulation.duration". A warning names what was changed.
[[nodiscard]] std::string with_new_names(const std::string& path);

/// Gives the keys of a JSON document, and strings that are such a name, their new names. Run folders of older versions
/// are read so; without a warning.
void rename_json(nlohmann::ordered_json& value, const std::string& path = "");

/// Says once in a process that a name is old: "where: `old` is now called `now` ...". `where` may be empty.
void warn_of_old_name(const std::string& where, std::string_view old, std::string_view now);

/// Takes such warnings from now on; by default they are lines of stderr.
void set_name_warnings(std::function<void(const std::string& text)> take);

}  // namespace garra::io
