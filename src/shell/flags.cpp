#include "shell/flags.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/files/atomic_file.hpp"
#include "base/files/suggest.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"
#include "shell/batch_flags.hpp"

namespace garra::cli {

namespace {

/// The number that the whole text is; none for NaN, infinity and text behind the number.
std::optional<double> finite_number(const std::string& text) {
  char* end = nullptr;
  const double x = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(x)) return std::nullopt;
  return x;
}

std::string as_whole_number(std::string& text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '_' || i == 0) digits += text[i];
  // Through a double, so that 1e6 is whole; up to 1e15 it is exact.
  const auto x = finite_number(digits);
  if (!x || *x < 1 || *x > 1e15 || *x != std::floor(*x)) return text + " is no whole number from 1 on";
  text = std::to_string(static_cast<long long>(*x));
  return {};
}

/// The flag without its dashes and value: "--tol=1" is "tol".
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

std::string path_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : path_of(*app.get_parent()) + " " + app.get_name();
}

std::string complaint(const CLI::App& app, const std::string& what, const std::string& word,
                      const std::vector<std::string>& known) {
  return path_of(app) + ": unknown " + what + " " + word + "\n  " + io::suggest(word, known, "Known here");
}

}  // namespace

CLI::Validator positive_number() {
  return {[](std::string& text) {
            const auto x = finite_number(text);
            return x && *x > 0 ? std::string() : text + " is no finite number above 0";
          },
          "NUMBER>0", "positive number"};
}

CLI::Validator share() {
  return {[](std::string& text) {
            const auto x = finite_number(text);
            return x && *x >= 0 && *x <= 1 ? std::string() : text + " is no number from 0 to 1";
          },
          "0..1", "share"};
}

CLI::Validator thread_count() {
  return {[](std::string& text) -> std::string {
            const auto x = finite_number(text);
            if (!x || *x < 0 || *x != std::floor(*x)) return text + " is no whole number from 0 on";
            const int most = most_threads();
            if (*x > most)
              std::fprintf(stderr, "garra: --threads %s: using %d, four for each processor of this machine\n",
                           text.c_str(), most);
            text = std::to_string(static_cast<int>(std::min<double>(*x, most)));
            return {};
          },
          "WHOLE>=0", "threads"};
}

CLI::Validator whole_number() { return {as_whole_number, "WHOLE>0", "whole number"}; }

double number_or_refuse(const std::string& text, const std::string& problem, const std::string& remedy) {
  const auto x = finite_number(text);
  if (!x) throw Error(ExitCode::kUsage, problem, remedy);
  return *x;
}

std::string unknown_word(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    // What follows is no flag.
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

void add_batch_flags(CLI::App& command, BatchFlags& flags, const std::string& unsolved) {
  command.add_option("--device", flags.device, "auto, cpu, scalar, cuda or cuda:1")->capture_default_str();
  command.add_option("--threads", flags.threads, "processor threads, 0 for all")
      ->transform(thread_count())
      ->capture_default_str();
  command.add_option("--max-unsolved", flags.max_unsolved, "exit code 4 where a larger share " + unsolved)
      ->check(share())
      ->capture_default_str();
  command.add_option("--format", flags.format, "human or json")
      ->check(CLI::IsMember({"human", "json"}))
      ->capture_default_str();
}

void check_output(const std::string& input, const std::string& output, const std::string& what) {
  if (output.empty()) return;
  std::error_code ignored;
  // The same file by any path or link, before anything is computed.
  if (std::filesystem::equivalent(input, output, ignored))
    throw Error(ExitCode::kUsage, output + ": the results would overwrite " + what, "Choose another -o.");
  io::require_writable(output);
}

}  // namespace garra::cli
