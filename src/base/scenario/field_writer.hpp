// Writes a table as TOML by its list of fields, with every default filled in.
#pragma once

#include "base/scenario/fields.hpp"
#include "base/scenario/text.hpp"

namespace garra::io {

/// Visitor of fields that writes their members as TOML.
class FieldWriter final : public Fields {
 public:
  explicit FieldWriter(Writer& writer) : w_(writer) {}

  using Fields::key;
  void key(const std::string& name, Value& value, const Words& words) override;
  void table(const std::string& name, const Words& words, const Visit& visit) override;
  void tables(const std::string& name, const Words& words, const Items& items) override;
  void entries(const std::string& name, const Entries& entries) override;
  void when(const Case& of, const Visit& visit) override;
  [[nodiscard]] bool has(const std::string& /*name*/, bool now) override { return now; }
  [[nodiscard]] bool writing() const override { return true; }

 private:
  Writer& w_;
  std::string path_;   ///< of the table that is being written
  bool free_ = false;  ///< its keys are the file's choice
};

/// The text of a scenario whose list of fields is `fields(f, scenario)`.
template <class Scenario, class List>
[[nodiscard]] std::string written(Scenario scenario, const List& fields) {
  Writer w;
  FieldWriter f(w);
  fields(f, scenario);
  return w.take();
}

}  // namespace garra::io
