#include "cli/flags.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "base/files/atomic_file.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"

namespace garra::cli {

namespace {

/// The number in the whole text; none for NaN, infinity and trailing text.
std::optional<double> finite_number(const std::string& text) {
  char* end = nullptr;
  const double x = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(x)) return std::nullopt;
  return x;
}

/// The whole number in the text: digits, with _ between them or without, or as 1e6.
std::optional<std::uint64_t> read_whole(const std::string& text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '_' || i == 0) digits += text[i];
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value);
  if (read.ec == std::errc() && read.ptr == end) return value;
  const auto x = finite_number(digits);
  if (!x || *x < 0 || *x > 1e15 || *x != std::floor(*x)) return std::nullopt;
  return static_cast<std::uint64_t>(*x);
}

Check whole_from(std::uint64_t least, std::uint64_t most, const char* type, const char* what) {
  return {[least, most](std::string& text) -> std::string {
            const auto value = read_whole(text);
            if (!value || *value < least || *value > most)
              return text + ": must be a whole number from " + std::to_string(least) + " to " + std::to_string(most);
            text = std::to_string(*value);
            return {};
          },
          type, what};
}

}  // namespace

Check positive_number() {
  return {[](std::string& text) {
            const auto x = finite_number(text);
            return x && *x > 0 ? std::string() : text + " is no finite number above 0";
          },
          "NUMBER>0", "positive number"};
}

Check not_negative() {
  return {[](std::string& text) {
            const auto x = finite_number(text);
            return x && *x >= 0 ? std::string() : text + " is no finite number of at least 0";
          },
          "NONNEGATIVE", "number of at least 0"};
}

Check share() {
  return {[](std::string& text) {
            const auto x = finite_number(text);
            return x && *x >= 0 && *x <= 1 ? std::string() : text + " is no number from 0 to 1";
          },
          "0..1", "share"};
}

Check thread_count(int most) {
  return {[most](std::string& text) -> std::string {
            const auto x = finite_number(text);
            if (!x || *x < 0 || *x != std::floor(*x)) return text + ": must be a whole number, at least 0";
            if (*x > most)
              std::fprintf(stderr, "garra: --threads %s: using %d, four for each processor of this machine\n",
                           text.c_str(), most);
            text = std::to_string(static_cast<int>(std::min<double>(*x, most)));
            return {};
          },
          "WHOLE>=0", "threads"};
}

Check whole_number() { return whole_from(1, 1'000'000'000'000'000, "WHOLE>0", "whole number"); }

Check seed(std::uint64_t most) { return whole_from(0, most, "SEED", "seed"); }

std::vector<std::string> one_per_quantity(const std::vector<std::string>& given) {
  std::vector<std::string> words;
  for (std::string text : given) {
    std::replace(text.begin(), text.end(), ',', ' ');
    std::istringstream parts(text);
    bool first = true;
    for (std::string part; parts >> part; first = false) {
      io::Dimension any;
      const bool is_unit = !first && std::isalpha(static_cast<unsigned char>(part[0])) != 0 &&
                           io::parse_any_quantity("1 " + part, any).problem.empty();
      if (is_unit)
        words.back() += " " + part;
      else
        words.push_back(part);
    }
  }
  return words;
}

FlagQuantity flag_quantity(const std::string& word, const io::Dimension& dimension, const std::string& problem) {
  const io::Quantity with_unit = io::parse_quantity(word, dimension);
  if (with_unit.problem.empty()) return {with_unit.value, true};
  const std::string unit = io::si_unit(dimension);
  const std::string example = dimension == io::kAngle ? "30deg" : dimension == io::kLength ? "20mm" : "0.5" + unit;
  return {number_or_refuse(word, problem, "Write a number in " + unit + ", or one with a unit: " + example + "."),
          false};
}

double number_or_refuse(const std::string& text, const std::string& problem, const std::string& remedy) {
  const auto x = finite_number(text);
  if (!x) throw Error(ExitCode::kUsage, problem, remedy);
  return *x;
}

void add_threads(Command command, int& threads, const std::string& help, int most) {
  command.add_option("--threads", threads, help).transform(thread_count(most)).capture_default_str();
}

void add_overrides(Command command, std::vector<std::string>& overrides, const std::string& help) {
  command.add_option("--set", overrides, help).type_name("KEY=VALUE").one_value_each();
}

void add_effort(Command command, std::string& effort) {
  command
      .add_option("--effort", effort,
                  "bounded (default): a problem without an answer costs at most a thousand ordinary ones; full: every "
                  "solver to its "
                  "own limit (auto)")
      .check(one_of({"bounded", "full"}));
}

void add_batch_flags(Command command, BatchFlags& flags, const std::string& unsolved) {
  command.add_option("--device", flags.device, "auto, cpu, scalar, cuda or cuda:1").capture_default_str();
  add_threads(command, flags.threads);
  command.add_option("--max-unsolved", flags.max_unsolved, "exit code 4 where a larger share " + unsolved, share());
  command.add_option("--format", flags.format, "human or json", one_of({"human", "json"}));
}

void check_unsolved(double allowed, const Unsolved& unsolved, const std::string& what, const std::string& remedy) {
  // Compared as a product: without samples none is unsolved.
  if (static_cast<double>(unsolved.count) > allowed * static_cast<double>(unsolved.all))
    throw Error(ExitCode::kTooManyUnsolved,
                std::to_string(unsolved.count) + " of " + std::to_string(unsolved.all) + " " + what, remedy);
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
