// A scenario file, parsed once: the readers of its job, overrides and study share one document.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace garra::io {

struct Node;

/// A parsed scenario with its job and overrides.
class ScenarioDocument {
 public:
  /// Throws Error: kInputOutput for a file that cannot be read; kInvalidFile ("file:line:column: key: what is wrong",
  /// then the remedy) where it is not TOML, or its `schema` or `job` is not known.
  [[nodiscard]] static ScenarioDocument read(const std::string& path);
  /// The same from a text; `name` stands for the file, in messages and as the base for finding other files.
  [[nodiscard]] static ScenarioDocument parse(const std::string& text, const std::string& name);

  /// "grasp", "singularity", "chain", "platform", "platform_experiment"
  [[nodiscard]] const std::string& job() const { return job_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Each is "key.path=value" as given to --set: TOML, or a bare word or quantity; items of arrays are counted from 0
  /// ("contact.1.friction=0.4"). Throws Error(kUsage).
  void set(const std::vector<std::string>& overrides);

  /// Root of the document, for the readers.
  [[nodiscard]] const Node& root() const { return *root_; }

 private:
  ScenarioDocument(const std::string& text, const std::string& name);

  std::string text_, name_, job_;
  std::shared_ptr<Node> root_;
};

}  // namespace garra::io
