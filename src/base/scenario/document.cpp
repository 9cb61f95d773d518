#include "base/files/text_file.hpp"
#include "base/scenario/parts.hpp"
#include "garra/io/scenario_document.hpp"

namespace garra::io {

ScenarioDocument::ScenarioDocument(const std::string& text, const std::string& name)
    : text_(text), name_(name), root_(std::make_shared<Node>(parse_toml(text, name))) {}

ScenarioDocument ScenarioDocument::parse(const std::string& text, const std::string& name) {
  ScenarioDocument document(text, name);
  TableReader root(*document.root_, "");
  // Reads only the job: its fields are known to its own module.
  document.job_ = read_header(root);
  return document;
}

ScenarioDocument ScenarioDocument::read(const std::string& path) { return parse(read_text(path), path); }

void ScenarioDocument::set(const std::vector<std::string>& overrides) {
  for (const std::string& override : overrides) apply_override(*root_, override);
}

}  // namespace garra::io
