// Reads a table by its list of fields. Reading continues after a mistake, so that all mistakes are reported at once.
#pragma once

#include <array>
#include <memory>
#include <unordered_set>
#include <vector>

#include "base/scenario/fields.hpp"

namespace garra::io {

/// All mistakes in a file. what() holds the first kMaxErrors of them, each with its place and remedy, and the number
/// of further ones. The exit code is that of the first.
class FileErrors : public Error {
 public:
  static constexpr std::size_t kMaxErrors = 20;
  /// The first `unknown` of them are about unknown keys.
  FileErrors(std::vector<Error> errors, std::size_t unknown);
  /// All errors, one by one.
  [[nodiscard]] const std::vector<Error>& each() const { return each_; }
  [[nodiscard]] std::size_t unknown() const { return unknown_; }

 private:
  std::vector<Error> each_;
  std::size_t unknown_;
};

/// Visitor of fields that reads a table into their members.
class FieldReader final : public Fields {
 public:
  /// `path` is the table's own key, "" for the document.
  explicit FieldReader(const Node& table, const std::string& path = "");

  using Fields::key;
  void key(const std::string& name, Value& value, const Words& words) override;
  void table(const std::string& name, const Words& words, const Visit& visit) override;
  void tables(const std::string& name, const Words& words, const Items& items) override;
  void entries(const std::string& name, const Entries& entries) override;
  void when(const Case& of, const Visit& visit) override;
  [[nodiscard]] bool has(const std::string& name, bool now) override;
  void check(bool holds, const std::string& key, const std::string& problem, const std::string& remedy) override;
  void then(const Visit& visit) override;
  [[nodiscard]] bool good() const override { return errors_.empty() && unknown_.empty(); }
  [[nodiscard]] bool sound() const override { return frames_.back().good && frames_.back().checks.empty(); }
  void give_up() override { frames_.back().given_up = true; }
  [[nodiscard]] bool reading() const override { return not_held_ == nullptr; }
  [[nodiscard]] Place find_place(const std::string& name) override;
  /// After the last field: throws FileErrors if anything was wrong.
  void finish();

 private:
  /// A key that belongs to a case that does not hold.
  struct Refused {
    std::string key, labels, problem, remedy;
  };
  struct Frame {
    TableReader table;
    Place place;                          ///< of the table, or of what it is missing in
    std::shared_ptr<const Node> missing;  ///< stands for a table that is not there
    std::vector<Refused> refused = {};
    std::vector<Error> checks = {};  ///< reported if the rest of the table is valid
    bool key_refused = false;        ///< by a check: which case holds may be what is wrong
    bool good = true, given_up = false;
    bool free = false;  ///< the keys are the file's choice
  };

  [[nodiscard]] TableReader& here() { return frames_.back().table; }
  void refuse(const std::string& name);
  /// Looks up a key or table; null if it is missing.
  const Node* find(const std::string& name, const Words& words);
  void add(const Error& error, bool unknown);
  /// Runs a step and records its exception.
  void attempt(const Visit& step);
  void visit(const Node* node, const std::string& path, const Visit& visit);
  /// Reports the keys that were never requested, and those of other cases.
  void close();

  std::vector<Frame> frames_;
  const Case* not_held_ = nullptr;                       ///< the case of the fields being visited to reject them
  std::array<std::unordered_set<std::string>, 2> said_;  ///< first lines of errors_ and unknown_
  std::vector<Error> unknown_;                           ///< come first: misspelled keys explain most other errors
  std::vector<Error> errors_;                            ///< in the order of the fields
};

}  // namespace garra::io
