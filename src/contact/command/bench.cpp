// `garra contact bench`: runs solvers on problem sets, checked by one certificate; writes bench.json and bench.html.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <span>
#include <sstream>

#include "base/files/atomic_file.hpp"
#include "base/files/suggest.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "contact/bench/json.hpp"
#include "contact/bench/measure.hpp"
#include "contact/bench/mncp.hpp"
#include "contact/bench/sets.hpp"
#include "contact/bench/siconos.hpp"
#include "contact/bench/table.hpp"
#include "contact/problems/sets.hpp"
#include "garra/core/error.hpp"

namespace garra::cli {
namespace {

namespace fs = std::filesystem;

struct BenchArguments {
  SetRequest request;
  std::string methods = "all";
  double tolerance = 1e-8, time_limit = 1;
  std::string device = "auto";
  int threads = 0;
  std::string output = "contact-bench";
  std::string progress = "auto", format = "human";
  bool no_report = false;
};

std::vector<std::string> garra_methods() {
  std::vector<std::string> names;
  // The table of methods is the list, so that a new one appears here automatically. Pairs stand for kMerit.
  for (int m = 0; m < contact::kMethodCount; ++m)
    if (const auto method = static_cast<contact::Method>(m); method != contact::Method::kMerit)
      names.emplace_back(contact::to_string(method));
  return names;
}

/// The requested methods, each checked: ours, then those of Siconos.
std::vector<std::string> list_methods(const BenchArguments& a) {
  std::vector<std::string> known = garra_methods();
  for (const std::string& name : siconos_methods()) known.push_back(name);
  if (a.methods == "all") return known;
  const std::vector<std::string> pairs = contact::pair_names();
  if (a.methods == "pairs") return pairs;
  known.insert(known.end(), pairs.begin(), pairs.end());
  std::vector<std::string> chosen;
  std::istringstream list(a.methods);
  for (std::string name; std::getline(list, name, ',');) {
    if (std::count(known.begin(), known.end(), name) == 0)
      throw Error(ExitCode::kUsage, "--methods: unknown method " + name, io::suggest(name, known, "Known here"));
    if (std::count(chosen.begin(), chosen.end(), name) == 0) chosen.push_back(name);
  }
  if (chosen.empty()) throw Error(ExitCode::kUsage, "--methods names no method", io::suggest("", known, "Known here"));
  return chosen;
}

SolverRecord measure_solver(const SetRecord& set, const std::string& method, const MeasureOptions& options) {
  const std::vector<std::string> peers = siconos_methods();
  const bool own = std::count(peers.begin(), peers.end(), method) == 0;
  return own ? measure_method(set.problems, method, options) : measure_siconos(set.problems, method, options);
}

void measure_sets(BenchRecord& bench, Progress& progress) {
  std::int64_t done = 0;
  for (SetRecord& set : bench.sets) {
    if (set.problems.count == 0) continue;
    for (const std::string& method : bench.methods) {
      progress.show_step(done++, set.name + ": " + method);
      set.solvers.push_back(measure_solver(set, method, bench.measure));
    }
  }
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

std::string format_command(const BenchArguments& a) {
  std::ostringstream text;
  text << "garra contact bench";
  for (const std::string& name : a.request.names) text << ' ' << name;
  text << " --methods " << a.methods;
  if (a.request.most > 0) text << " --problems " << a.request.problems;  // it would bound sets from files, too
  text << " --seed " << a.request.seed << " --tolerance " << a.tolerance << " --time-limit " << a.time_limit
       << " --device " << a.device;
  if (a.threads > 0) text << " --threads " << a.threads;
  return text.str();
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throw Error(ExitCode::kInputOutput, path + ": cannot create the folder: " + error.message(), "Choose another -o.");
}

void write_results(const BenchRecord& bench, const BenchArguments& a) {
  const std::string text = to_json(bench, true).dump() + "\n";
  io::write_file_atomically((fs::path(a.output) / "bench.json").string(), std::as_bytes(std::span(text)));
  const std::string page = (fs::path(a.output) / "bench.html").string();
  if (a.no_report) return;
  std::error_code ignored;
  fs::remove(page, ignored);  // an old page beside new numbers would lie
  const bool made = make_bench_report(a.output, true);
  if (!made)
    std::fprintf(
        stderr, "garra: %s was not made; it needs Python 3 with numpy, matplotlib, jinja2: tools/setup installs them\n",
        page.c_str());
  if (a.format == "human")
    std::printf("\nresults         %s\n",
                (fs::path(a.output) / (made ? "bench.html, bench.json" : "bench.json")).c_str());
}

void run_bench(const BenchArguments& a) {
  BenchRecord bench;
  bench.command = format_command(a);
  bench.started = now_utc();
  bench.request = a.request;
  bench.measure = {a.tolerance, a.time_limit, parse_device(a.device, a.threads)};
  bench.methods = list_methods(a);
  bench.siconos = siconos_program();
  bench.sets = read_sets(a.request);
  // Before hours of measuring, so that an unwritable folder is found at once.
  make_folder(a.output);
  io::require_writable((fs::path(a.output) / "bench.json").string());
  const auto sets =
      std::count_if(bench.sets.begin(), bench.sets.end(), [](const auto& s) { return s.problems.count > 0; });
  // One more step for the MNCP set.
  Progress progress(a.progress, static_cast<std::int64_t>(bench.methods.size()) * sets + 1);
  measure_sets(bench, progress);
  if (wants_mncp(a.request)) bench.mncp = measure_mncp(a.tolerance);
  progress.clear();
  bench.seconds = progress.seconds();
  if (a.format == "json")
    std::printf("%s\n", to_json(bench, false).dump(2).c_str());
  else
    std::printf("%s", bench_text(bench).c_str());
  write_results(bench, a);
}

std::string set_list() {
  std::string text = "Sets:\n";
  for (const contact::ProblemSet& set : contact::problem_sets()) {
    char line[160];
    std::snprintf(line, sizeof line, "  %-14s %s\n", set.name, set.description);
    text += line;
  }
  return text + "  mncp           small problems with known solutions: merit functions x minimizers\n";
}

void add_options(Command c, BenchArguments& a) {
  c.add_option("sets", a.request.names,
               "built-in sets, problem or FCLIB files, or folders of them; none: all built-in sets")
      .type_name("SET | FILE");
  c.add_option("--methods", a.methods, "solvers, separated by commas; all; pairs: every merit/minimizer")
      .capture_default_str();
  c.add_option("--problems", a.request.problems,
               "of each built-in set; where given, also the most of each set from files")
      .transform(whole_number())
      .capture_default_str();
  c.add_option("--seed", a.request.seed, "of the built-in sets and of the order of problems from files")
      .transform(seed());
  c.add_option("--tolerance", a.tolerance, "solved: scale-invariant residual <= tolerance", positive_number());
  c.add_option("--time-limit", a.time_limit, "seconds for the single solves of one solver on one set",
               positive_number());
  c.add_option("--device", a.device, "of the throughput: auto, cpu, scalar, cuda or cuda:1").capture_default_str();
  c.add_option("--threads", a.threads, "processor threads of the throughput, 0 for all")
      .transform(thread_count())
      .capture_default_str();
  c.add_option("-o,--output", a.output, "folder for bench.json and bench.html; both are replaced")
      .type_name("FOLDER")
      .capture_default_str();
  c.add_option("--progress", a.progress, "auto, json or none", one_of({"auto", "json", "none"}));
  c.add_option("--format", a.format, "human or json", one_of({"human", "json"}));
  c.add_flag("--no-report", a.no_report, "do not make bench.html");
}

}  // namespace

void add_contact_bench_command(Command contact) {
  Command bench =
      contact.add_subcommand("bench", "Compare solvers on problem sets: which one to trust, and how fast it is");
  const auto a = std::make_shared<BenchArguments>();
  add_options(bench, *a);
  bench.footer(set_list() +
               "Examples:\n"
               "  garra contact bench\n"
               "  garra contact bench rigid_n3 mncp --methods auto,nsgs,box-quacan --problems 1000 --time-limit 10\n"
               "  garra contact bench fclib/ my_problems.h5 -o mine\n"
               "Where Siconos is installed its solvers run too. docs/notes/solver-benchmark.md says what is measured.");
  bench.callback([bench, a] {
    // `most` only on request: files are measured whole by default.
    if (bench.option("--problems").given()) a->request.most = a->request.problems;
    run_bench(*a);
  });
}

}  // namespace garra::cli
