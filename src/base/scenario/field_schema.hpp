// Describes a table by its list of fields: as JSON Schema (draft-07), and as the rows of docs/reference/scenario.md.
#pragma once

#include <nlohmann/json.hpp>

#include "base/scenario/fields.hpp"

namespace garra::io {

/// Visitor of fields that describes them as JSON Schema and as Markdown rows.
class FieldSchema final : public Fields {
 public:
  FieldSchema();

  using Fields::key;
  void key(const std::string& name, Value& value, const Words& words) override;
  void table(const std::string& name, const Words& words, const Visit& visit) override;
  void tables(const std::string& name, const Words& words, const Items& items) override;
  void entries(const std::string& name, const Entries& entries) override;
  void when(const Case& of, const Visit& visit) override;
  [[nodiscard]] bool has(const std::string& /*name*/, bool /*now*/) override { return true; }

  /// Schema of the whole document.
  [[nodiscard]] const nlohmann::ordered_json& schema() const { return objects_.front(); }
  /// A Markdown table.
  [[nodiscard]] const std::string& rows() const { return rows_; }

 private:
  void put(const std::string& name, nlohmann::ordered_json schema, const Words& words);
  void row(const std::string& name, const std::string& takes, const std::string& otherwise, const Words& words);
  [[nodiscard]] nlohmann::ordered_json described(const std::string& name, const Visit& visit);

  std::vector<nlohmann::ordered_json> objects_;  ///< schemas of the tables that are being visited, the document first
  std::string path_, rows_;
  std::vector<std::string> cases_;  ///< cases of the fields being visited
};

/// Possible values of `job`.
[[nodiscard]] std::vector<std::string> job_names();
/// JSON Schema of scenario files, of one job or of all (""), or of a file that they name ("robot_file",
/// "platform_file"). Throws Error(kUsage) for other names.
[[nodiscard]] std::string scenario_schema(const std::string& job);
/// The table of its keys, in Markdown.
[[nodiscard]] std::string scenario_rows(const std::string& job);

}  // namespace garra::io
