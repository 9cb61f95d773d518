// Interface by which commands define subcommands, options and checks of their values. CLI11 reads the command line and
// writes the helps, in command_line.cpp alone: compiling CLI11 in every file took half of the compile time of the
// program's files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace garra::cli {

/// A constraint on the text of a value.
class Check {
 public:
  /// `problem_of` returns the error in the text, or "", and may rewrite the text; `shown` stands in the help for the
  /// allowed values.
  Check(std::function<std::string(std::string&)> problem_of, const std::string& shown, const std::string& name);
  explicit Check(const CLI::Validator& of_cli11);

 private:
  friend class Option;
  std::shared_ptr<const CLI::Validator> validator_;
};

[[nodiscard]] Check one_of(const std::vector<std::string>& words);
/// The names of an enum.
template <class Enum>
[[nodiscard]] Check one_of() {
  const auto names = names_of(Enum{});
  return one_of({names.begin(), names.end()});
}
[[nodiscard]] Check from_to(int low, int high);
/// Above 0, and from 0 on, of whole numbers; positive_number() in flags.hpp is for any finite ones.
[[nodiscard]] Check above_zero();
[[nodiscard]] Check not_negative();

/// A flag or an argument of a command. A handle: copies refer to the same one.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required() const;
  Option check(const Check& check) const;
  /// The check may rewrite the value.
  Option transform(const Check& check) const;
  /// The help shows the value that the variable has now.
  Option capture_default_str() const;
  Option type_name(const std::string& shown) const;
  Option description(const std::string& help) const;
  /// Sets the number of values.
  Option expected(int count) const;
  Option expected(int least, int most) const;
  Option delimiter(char between_values) const;
  /// Takes one value per occurrence.
  Option one_value_each() const;
  /// Keeps the values of all occurrences.
  Option take_all() const;
  Option needs(Option other) const;
  Option needs(const std::string& other) const;
  Option excludes(Option other) const;
  Option excludes(const std::string& other) const;

  /// Whether the command line has it.
  [[nodiscard]] bool given() const;
  bool operator==(const Option&) const = default;

 private:
  CLI::Option* option_;
};

/// A command, or the program. A handle: copies refer to the same one.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  [[nodiscard]] Command add_subcommand(const std::string& name, const std::string& help) const;
  void require_subcommand() const;
  void footer(const std::string& text) const;
  void callback(const std::function<void()>& run) const;

  // The value goes to the variable, which must live as long as the program.
  Option add_option(const std::string& names, std::string& value, const std::string& help) const;
  Option add_option(const std::string& names, double& value, const std::string& help) const;
  Option add_option(const std::string& names, int& value, const std::string& help) const;
  Option add_option(const std::string& names, std::int64_t& value, const std::string& help) const;
  Option add_option(const std::string& names, std::uint64_t& value, const std::string& help) const;
  Option add_option(const std::string& names, std::optional<double>& value, const std::string& help) const;
  Option add_option(const std::string& names, std::vector<std::string>& values, const std::string& help) const;
  Option add_option(const std::string& names, std::vector<double>& values, const std::string& help) const;
  /// An option whose values are checked and whose help shows its default.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& help, const Check& check) const {
    return add_option(names, value, help).check(check).capture_default_str();
  }
  /// `take` receives the values.
  Option add_words(const std::string& names, const std::function<void(const std::vector<std::string>&)>& take,
                   const std::string& help) const;
  Option add_numbers(const std::string& names, const std::function<void(const std::vector<double>&)>& take,
                     const std::string& help) const;
  Option add_flag(const std::string& names, bool& value, const std::string& help) const;

  [[nodiscard]] Option option(const std::string& name) const;
  [[nodiscard]] std::vector<Option> options() const;

 private:
  CLI::App* app_;
};

/// For a callback: throws the usage error that this argument is missing.
[[noreturn]] void refuse_missing(const std::string& name);

/// The command line of a program.
class CommandLine {
 public:
  CommandLine(const std::string& help, const std::string& name, const std::string& version);
  ~CommandLine();

  [[nodiscard]] Command program() const;
  /// Runs the named command and returns 0, or prints a help or an error and returns the exit code. Exceptions of the
  /// command pass through.
  int run(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace garra::cli
