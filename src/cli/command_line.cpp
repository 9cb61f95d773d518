#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/files/suggest.hpp"
#include "base/scenario/renamed.hpp"
#include "cli/terminal.hpp"
#include "garra/core/error.hpp"

namespace garra::cli {

namespace {

/// The flag without its dashes and value: "tolerance" for "--tolerance=1".
std::string flag_name(const std::string& word) {
  const std::size_t begin = word.find_first_not_of('-');
  return begin == std::string::npos ? "" : word.substr(begin, word.find('=') - begin);
}

std::vector<std::string> long_flags(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> subcommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::string command_path(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : command_path(*app.get_parent()) + " " + app.get_name();
}

std::string complaint(const CLI::App& app, const std::string& what, const std::string& word,
                      const std::vector<std::string>& known) {
  return command_path(app) + ": unknown " + what + " " + word + "\n  " + io::suggest(word, known, "Known here");
}

/// Error for an unknown subcommand or flag, with the nearest known one; "" if all are known.
std::string unknown_word(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    // No flags follow.
    if (word == "--") return {};
    if (word.size() > 1 && word[0] == '-') {
      const bool is_long = word[1] == '-';
      const CLI::Option* option = at->get_option_no_throw(is_long ? "--" + flag_name(word) : word.substr(0, 2));
      if (option == nullptr) return is_long ? complaint(*at, "flag", "--" + flag_name(word), long_flags(*at)) : "";
      const bool has_value = word.find('=') != std::string::npos || (!is_long && word.size() > 2);
      // The next word is the flag's value, not a command.
      if (option->get_items_expected_min() > 0 && !has_value) ++i;
      continue;
    }
    // A command without subcommands takes files.
    if (subcommands(*at).empty()) continue;
    const auto named = at->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
    if (named.empty()) return complaint(*at, "command", word, subcommands(*at));
    at = named.front();
  }
  return {};
}

/// The words of a command line with new names of flags and commands in place of old ones. Throws Error(kUsage) where a
/// flag is given by both.
std::vector<std::string> renamed(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<std::string> words(argv, argv + argc);
  const auto name = [](const std::string& word) { return word.substr(0, word.find('=')); };
  const CLI::App* at = &app;
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    const bool is_flag = words[i].substr(0, 2) == "--";
    const auto subcommand = [&](const std::string& word) -> const CLI::App* {
      const auto named = at->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
      return named.empty() ? nullptr : named.front();
    };
    const auto known = [&](const std::string& word) {
      return is_flag ? at->get_option_no_throw(word) != nullptr : subcommand(word) != nullptr;
    };
    const std::string old = name(words[i]), now = known(old) ? "" : io::new_flag(old);
    if (!now.empty() && known(now)) {
      if (is_flag && std::any_of(words.begin(), words.end(), [&](const std::string& w) { return name(w) == now; }))
        throw Error(ExitCode::kUsage, old + " is the old name of " + now + ", which is given too",
                    "Leave out " + old + ".");
      io::warn_of_old_name("", old, now);
      words[i].replace(0, old.size(), now);
    }
    if (!is_flag && known(words[i])) at = subcommand(words[i]);
  }
  return words;
}

/// The command whose help fits: the innermost named one.
std::string help_command(const CLI::App& app) {
  const auto used = app.get_subcommands();
  return app.get_name() + (used.empty() ? "" : " " + help_command(*used.front()));
}

/// CLI11's message, or the nearest subcommand or flag for an unknown one.
int usage(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  const std::string unknown = unknown_word(app, argc, argv);
  if (unknown.empty())
    std::fprintf(stderr, "garra: %s\n  See `%s --help`.\n", printable(error.what()).c_str(), help_command(app).c_str());
  else
    std::fprintf(stderr, "%s\n", unknown.c_str());
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace

Check::Check(std::function<std::string(std::string&)> problem_of, const std::string& shown, const std::string& name)
    : validator_(std::make_shared<const CLI::Validator>(std::move(problem_of), shown, name)) {}
Check::Check(const CLI::Validator& of_cli11) : validator_(std::make_shared<const CLI::Validator>(of_cli11)) {}

Check one_of(const std::vector<std::string>& words) { return Check(CLI::IsMember(words)); }
Check from_to(int low, int high) { return Check(CLI::Range(low, high)); }
Check above_zero() { return Check(CLI::PositiveNumber); }

Option Option::required() const { return Option(option_->required()); }
Option Option::check(const Check& check) const { return Option(option_->check(*check.validator_)); }
Option Option::transform(const Check& check) const { return Option(option_->transform(*check.validator_)); }
Option Option::capture_default_str() const { return Option(option_->capture_default_str()); }
Option Option::type_name(const std::string& shown) const { return Option(option_->type_name(shown)); }
Option Option::description(const std::string& help) const { return Option(option_->description(help)); }
Option Option::expected(int count) const { return Option(option_->expected(count)); }
Option Option::expected(int least, int most) const { return Option(option_->expected(least, most)); }
Option Option::delimiter(char between_values) const { return Option(option_->delimiter(between_values)); }
Option Option::one_value_each() const { return Option(option_->allow_extra_args(false)); }
Option Option::take_all() const { return Option(option_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)); }
Option Option::needs(Option other) const { return Option(option_->needs(other.option_)); }
Option Option::needs(const std::string& other) const { return Option(option_->needs<CLI::App>(other)); }
Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }
Option Option::excludes(const std::string& other) const { return Option(option_->excludes<CLI::App>(other)); }
bool Option::given() const { return option_->count() > 0; }

Command Command::add_subcommand(const std::string& name, const std::string& help) const {
  return Command(app_->add_subcommand(name, help));
}
void Command::require_subcommand() const { app_->require_subcommand(1); }
void Command::footer(const std::string& text) const { app_->footer(text); }
void Command::callback(const std::function<void()>& run) const { app_->callback(run); }

Option Command::add_option(const std::string& names, std::string& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, double& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, int& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, std::int64_t& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, std::uint64_t& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, std::optional<double>& value, const std::string& help) const {
  return Option(app_->add_option(names, value, help));
}
Option Command::add_option(const std::string& names, std::vector<std::string>& values, const std::string& help) const {
  return Option(app_->add_option(names, values, help));
}
Option Command::add_option(const std::string& names, std::vector<double>& values, const std::string& help) const {
  return Option(app_->add_option(names, values, help));
}
Option Command::add_words(const std::string& names, const std::function<void(const std::vector<std::string>&)>& take,
                          const std::string& help) const {
  const auto take_all = [take](const std::vector<std::string>& words) {
    take(words);
    return true;
  };
  return Option(app_->add_option(names, take_all, help));
}
Option Command::add_numbers(const std::string& names, const std::function<void(const std::vector<double>&)>& take,
                            const std::string& help) const {
  return Option(app_->add_option_function<std::vector<double>>(names, take, help));
}
Option Command::add_flag(const std::string& names, bool& value, const std::string& help) const {
  return Option(app_->add_flag(names, value, help));
}

Option Command::option(const std::string& name) const { return Option(app_->get_option(name)); }
std::vector<Option> Command::options() const {
  std::vector<Option> all;
  for (CLI::Option* option : app_->get_options()) all.push_back(Option(option));
  return all;
}

void refuse_missing(const std::string& name) { throw CLI::RequiredError(name); }

CommandLine::CommandLine(const std::string& help, const std::string& name, const std::string& version)
    : app_(std::make_unique<CLI::App>(help, name)) {
  app_->set_version_flag("--version", version);
}
CommandLine::~CommandLine() = default;

Command CommandLine::program() const { return Command(app_.get()); }

int CommandLine::run(int argc, const char* const* argv) {
  const std::vector<std::string> words = renamed(*app_, argc, argv);
  std::vector<const char*> now;
  for (const std::string& word : words) now.push_back(word.c_str());
  try {
    app_->parse(argc, now.data());
  } catch (const CLI::ParseError& error) {
    return usage(*app_, error, argc, now.data());
  }
  return 0;
}

}  // namespace garra::cli
