// `garra papers`: tables, figures, examples and claims of the source papers with their results, and the page
// docs/start/from-the-papers.md, which is made from the same file, data/papers/results.toml.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files/data_folders.hpp"
#include "base/files/text_file.hpp"
#include "base/files/toml_reader.hpp"
#include "cli/answer_parts.hpp"
#include "cli/commands.hpp"
#include "garra/core/error.hpp"
#include "papers/command/claims.hpp"
#include "papers/command/tables.hpp"

namespace garra::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::vector<std::string> kResults = {"as printed", "with a corrected datum", "does not hold",
                                           "not decidable from print", "open"};

constexpr const char* kHead =
    "# From the papers\n\n"
    "garra implements five source papers ([references](../theory/references.md) 1 to 5). This page lists their "
    "tables,\n"
    "figures, examples and claims, and the result of each.\n\n"
    "```\ngarra papers                # this list\ngarra papers tables         # Tables 1 to 4 of the contact papers, "
    "recomputed\ngarra papers claims         # the claims of the screw paper, one by one\n```\n\n"
    "- **Takes**: `--paper NAME` and `--result RESULT` choose rows; `--format human`, `json` or `markdown`.\n"
    "- **Gives**: each row's place, statement, result, the command that shows it, and its page.\n"
    "- **Units and frames**: joints of the papers count from 1, garra's indices from 0. Contact components are (n, t, "
    "o).\n"
    "- **Bad input**: missing data ends with exit code 5.\n"
    "- **Not for**: the use of the commands; the linked pages have it.\n\n"
    "| result | meaning |\n|---|---|\n"
    "| as printed | garra computes what the paper says |\n"
    "| with a corrected datum | it holds after a correction, listed under *wrong or missing in print* |\n"
    "| does not hold | a computation contradicts it |\n"
    "| not decidable from print | the paper leaves out the numbers; garra repeats the kind of computation |\n"
    "| open | garra does not compute it yet |\n\n"
    "This page is the output of `garra papers --format markdown`; its data are in `data/papers/results.toml`.\n";

io::Node read_results() {
  std::error_code ignored;
  for (const fs::path& folder : io::data_folders("papers"))
    if (const fs::path file = folder / "results.toml"; fs::is_regular_file(file, ignored))
      return io::parse_toml(io::read_text(file.string()), file.string());
  throw Error(ExitCode::kInputOutput, "data/papers/results.toml is not to be found",
              "Run the command in the project's folder, or the program where it was built or installed.");
}

/// One row; an example's result counts its claims.
Json read_row(const io::Node& node) {
  io::TableReader t(node, "results");
  const auto text = [&](const char* key) { return io::read_string(t.require(key, "Write a text."), t.name(key)); };
  Json row = {{"item", text("item")}, {"says", text("says")}};
  if (const io::Node* example = t.find("example")) {
    row["claims"] = examined_claims(static_cast<int>(io::read_integer(*example, t.name("example"))));
    static constexpr const char* status[] = {"holds", "holds with corrected datum", "does not hold"};
    std::string counts;
    for (std::size_t k = 0; k < std::size(status); ++k) {
      const auto n = std::count_if(row["claims"].begin(), row["claims"].end(),
                                   [&](const Json& claim) { return claim["status"] == status[k]; });
      counts += (k == 0 ? "" : ", ") + std::to_string(n) + " " + kResults[k];
    }
    row["result"] = counts;
  } else {
    row["result"] = io::read_choice(t.require("result", "Name a result."), t.name("result"), kResults);
  }
  row["command"] = text("command");
  row["page"] = text("page");
  t.finish();
  return row;
}

Json read_papers() {
  const io::Node root = read_results();
  io::TableReader document(root, "");
  Json papers = Json::array();
  for (const io::Node& node : io::read_array(document.require("paper", "Write [[paper]]."), "paper", 0)) {
    io::TableReader t(node, "paper");
    Json paper;
    for (const char* key : {"name", "title", "references"})
      paper[key] = io::read_string(t.require(key, "Write a text."), t.name(key));
    for (const io::Node& line : io::read_array(t.require("wrong", "Write a list."), "wrong", 0))
      paper["wrong"].push_back(io::read_string(line, "wrong"));
    for (const io::Node& row : io::read_array(t.require("results", "Write a list."), "results", 0))
      paper["results"].push_back(read_row(row));
    t.finish();
    papers.push_back(paper);
  }
  document.finish();
  return papers;
}

/// A paragraph in lines of at most 120 columns, continued with `indent`.
std::string wrapped(const std::string& text, const std::string& indent) {
  std::istringstream words(text);
  std::string out, line;
  std::size_t columns = 0;
  for (std::string word; words >> word;) {
    // Continuation bytes of UTF-8 take no column.
    const auto width = static_cast<std::size_t>(
        std::count_if(word.begin(), word.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
    if (columns > 0 && columns + 1 + width > 120) {
      out += line + "\n";
      line = indent;
      columns = indent.size();
    } else if (columns > 0) {
      line += " ";
      ++columns;
    }
    line += word;
    columns += width;
  }
  return out + line + "\n";
}

std::string text_at(const Json& row, const char* key) { return row[key].get<std::string>(); }

std::string markdown(const Json& papers) {
  std::string out = kHead;
  for (const Json& paper : papers) {
    out +=
        "\n## " + text_at(paper, "title") + "\n\n| place | the paper | result | command or page |\n|---|---|---|---|\n";
    for (const Json& row : paper["results"]) {
      const std::string command = text_at(row, "command"), page = "../" + text_at(row, "page");
      out += "| " + text_at(row, "item") + " | " + text_at(row, "says") + " | " + text_at(row, "result") + " | [" +
             (command.empty() ? "page" : "`" + command + "`") + "](" + page + ") |\n";
    }
    out += "\nWrong or missing in print:\n\n";
    for (const Json& line : paper["wrong"]) out += wrapped("- " + line.get<std::string>(), "  ");
  }
  return out;
}

void print_rows(const Json& papers) {
  std::printf("Tables, figures, examples and claims of the source papers\n");
  for (const Json& paper : papers) {
    std::printf("\n%s\n", text_at(paper, "title").c_str());
    for (const Json& row : paper["results"]) {
      std::printf("  %-20s %-72s %s\n", text_at(row, "item").c_str(), text_at(row, "says").c_str(),
                  text_at(row, "result").c_str());
      if (!text_at(row, "command").empty()) std::printf("  %-20s   %s\n", "", text_at(row, "command").c_str());
    }
  }
  std::printf("\nEach claim of the screw paper: garra papers claims. Tables 1 to 4: garra papers tables.\n");
}

struct PapersArguments {
  std::string what, paper, result;
  TablesArguments tables;  ///< its format is that of all
};

void run_papers(const PapersArguments& a) {
  const std::string& format = a.tables.format;
  if (format == "markdown" && !a.what.empty())
    throw Error(ExitCode::kUsage, "--format markdown is of the list", "Leave " + a.what + " out, or choose json.");
  if (a.what == "tables") return print_tables(a.tables);
  if (a.what == "claims") return print_claims(format);
  Json papers = read_papers();
  std::erase_if(papers.get_ref<Json::array_t&>(),
                [&](const Json& paper) { return !a.paper.empty() && paper["name"] != a.paper; });
  for (Json& paper : papers)
    std::erase_if(paper["results"].get_ref<Json::array_t&>(), [&](const Json& row) {
      return !a.result.empty() && text_at(row, "result").find(a.result) == std::string::npos;
    });
  if (format == "json")
    std::printf("%s\n", papers.dump(1).c_str());
  else if (format == "markdown")
    std::printf("%s", markdown(papers).c_str());
  else
    print_rows(papers);
}

}  // namespace

void add_papers_commands(Command app) {
  Command papers = app.add_subcommand("papers", "Tables, figures, examples and claims of the source papers");
  const auto a = std::make_shared<PapersArguments>();
  papers
      .add_option("what", a->what,
                  "tables: Tables 1 to 4 of the contact papers, recomputed; claims: those of the screw paper, one by "
                  "one; default: the list")
      .check(one_of({"tables", "claims"}));
  papers.add_option("--paper", a->paper, "list: grasp, screws, exoskeleton or platform; default: all")
      .check(one_of({"grasp", "screws", "exoskeleton", "platform"}));
  papers.add_option("--result", a->result, "list: only these rows").check(one_of(kResults));
  add_tables_options(papers, a->tables);
  papers.add_option("--format", a->tables.format, "human, json, or of the list markdown: the page of the documentation",
                    one_of({"human", "json", "markdown"}));
  papers.footer("Examples:\n  garra papers --result open\n  garra papers claims\n  garra papers tables --format json");
  papers.callback([a] { run_papers(*a); });
}

}  // namespace garra::cli
