#include "papers/command/claims.hpp"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files/data_folders.hpp"
#include "garra/core/error.hpp"
#include "garra/io/screws_file.hpp"
#include "papers/claims.hpp"

namespace garra::cli {

namespace {

namespace fs = std::filesystem;
using namespace papers;
using Json = nlohmann::ordered_json;

constexpr int kExamples = 3;
constexpr std::size_t kColumns = 116;
constexpr const char* kPaper = "Gallardo and Rico, Ingenieria (Universidad de Costa Rica), 2001";

fs::path example_file(const std::string& name) {
  std::error_code ignored;
  for (const fs::path& folder : io::data_folders("screws"))
    if (fs::is_regular_file(folder / name, ignored)) return folder / name;
  throw Error(ExitCode::kInputOutput, "data/screws/" + name + " is not to be found",
              "Run the command in the project's folder, or the program where it was built or installed.");
}

Data read_data(const std::string& name) {
  const io::ScrewsFile file = io::read_screws(example_file(name).string());
  return {file.set, file.tolerance.value_or(Data{}.tolerance)};
}

Example read_example(int number) {
  const std::string name = "gallardo_" + std::to_string(number);
  return {read_data(name + "_printed.toml"), read_data(name + ".toml")};
}

/// "1-4,6" for the joints 1, 2, 3, 4, 6.
std::string format_joints(const std::vector<int>& joints) {
  std::string text;
  for (std::size_t k = 0; k < joints.size(); ++k) {
    const std::size_t first = k;
    while (k + 1 < joints.size() && joints[k + 1] == joints[k] + 1) ++k;
    text += (text.empty() ? "" : ",") + std::to_string(joints[first]);
    if (k > first) text += (k == first + 1 ? "," : "-") + std::to_string(joints[k]);
  }
  return text.empty() ? "none" : text;
}

std::string to_text(const Value& value) {
  struct Print {
    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(bool yes) const { return yes ? "yes" : "no"; }
    std::string operator()(int number) const { return std::to_string(number); }
    std::string operator()(double number) const {
      char text[32];
      std::snprintf(text, sizeof text, "%.4g", std::abs(number) < 1e-12 ? 0.0 : number);
      return text;
    }
    std::string operator()(const std::vector<int>& joints) const { return format_joints(joints); }
  };
  return std::visit(Print{}, value);
}

Json make_json(const Value& value) {
  struct Convert {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool yes) const { return yes; }
    Json operator()(int number) const { return number; }
    Json operator()(double number) const { return number; }
    Json operator()(const std::vector<int>& joints) const { return joints; }
  };
  return std::visit(Convert{}, value);
}

void print_indented(const std::string& text) {
  std::istringstream words(text);
  const std::string indent(6, ' ');
  std::string line = indent;
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > kColumns) {
      std::printf("%s\n", line.c_str());
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + word;
  }
  std::printf("%s\n", line.c_str());
}

void print_row(const Claim& c) {
  constexpr int kStatement = 58;
  if (c.statement.size() > kStatement) std::printf("  %s\n", c.statement.c_str());
  std::printf("  %-*s %-10s %-10s %-10s %s\n", kStatement, c.statement.size() > kStatement ? "" : c.statement.c_str(),
              to_text(c.paper).c_str(), to_text(c.printed).c_str(), to_text(c.corrected).c_str(),
              to_string(c.decision));
  if (!c.reason.empty()) print_indented(c.reason);
}

struct Counts {
  int number[3] = {};
  void add(ClaimStatus v) { ++number[static_cast<int>(v)]; }
};

void print_example(int number, Counts& counts) {
  const std::string mended = correction(number);
  std::printf("\nExample %d; %s\n", number,
              mended.empty() ? "the printed screws are right but for rounding" : ("mended: " + mended).c_str());
  std::printf("  %-58s %-10s %-10s %s\n", "", "paper", "printed", "mended");
  for (const Claim& c : examine(number, read_example(number))) {
    print_row(c);
    counts.add(c.decision);
  }
}

void print_claims_table() {
  std::printf(
      "%s: the three examples\n"
      "Every statement that can be computed, from the screws as printed (ranks to 1e-3) and as mended (1e-10). SOSM, "
      "SSM:\n"
      "singular minimal subsets, ordered and not. [$f $h]: Lie product. A joint that is moved, by 0.3 rad, carries "
      "all\n"
      "screws behind it along; dt = 0.3. A claim holds if it does with the mended screws too: what only follows from "
      "a\n"
      "wrong datum does not.\n",
      kPaper);
  Counts counts;
  for (int number = 1; number <= kExamples; ++number) print_example(number, counts);
  std::printf("\n%d hold, %d hold with corrected datum, %d do not hold\n", counts.number[0], counts.number[1],
              counts.number[2]);
}

}  // namespace

Json examined_claims(int number) {
  Json claims = Json::array();
  for (const Claim& c : examine(number, read_example(number)))
    claims.push_back({{"claim", c.statement},
                      {"paper", make_json(c.paper)},
                      {"printed", make_json(c.printed)},
                      {"corrected", make_json(c.corrected)},
                      {"holds_printed", c.holds_printed},
                      {"holds_corrected", c.holds_corrected},
                      {"status", to_string(c.decision)},
                      {"reason", c.reason}});
  return claims;
}

void print_claims(const std::string& format) {
  if (format != "json") return print_claims_table();
  Json examples = Json::array();
  for (int number = 1; number <= kExamples; ++number)
    examples.push_back({{"example", number}, {"correction", correction(number)}, {"claims", examined_claims(number)}});
  std::printf("%s\n", Json{{"paper", kPaper}, {"examples", examples}}.dump(2).c_str());
}

}  // namespace garra::cli
