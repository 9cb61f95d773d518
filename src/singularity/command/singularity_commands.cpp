// `garra singularity` and `garra screws`: one configuration, analyzed exactly; or a map of very many.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/files/atomic_file.hpp"
#include "base/files/robot_model.hpp"
#include "base/scenario/field_writer.hpp"
#include "base/scenario/text.hpp"
#include "chain/files/robot_table.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "cli/report.hpp"
#include "cli/robot_argument.hpp"
#include "cli/run_command.hpp"
#include "cli/temporary_folder.hpp"
#include "cli/terminal.hpp"
#include "garra/io/screws_file.hpp"
#include "garra/singularity_map.hpp"
#include "papers/command/claims.hpp"
#include "singularity/command/singularity_answer.hpp"

namespace garra::cli {

namespace {

using singularity::AnalyzeOptions;
using singularity::IntervalRule;

/// The flags that both commands have.
struct AnalyzeArguments {
  double tolerance = 0;  ///< 0: the file's or the library's
  int generic_rank = 0;  ///< 0: the file's, or measured
  double length = 0;     ///< 0: the natural one
  std::vector<double> origin;
  double step = AnalyzeOptions{}.step;
  int max_set_size = AnalyzeOptions{}.max_set_size;
  std::string intervals = "generic";
  std::string format = "human";
  std::string report;  ///< a page about the configuration goes there
};

struct RobotArguments : AnalyzeArguments {
  ModelArguments model;
  std::vector<std::string> at;
  bool map = false;
  double near = 0;  ///< 0: the scenario's default
  std::string precision;
  RunArguments run;
};

struct ScrewsArguments : AnalyzeArguments {
  std::string file;
  bool claims = false;
};

AnalyzeOptions make_analysis_options(const AnalyzeArguments& arguments) {
  AnalyzeOptions options;
  if (arguments.tolerance > 0) options.tolerance = arguments.tolerance;
  if (arguments.generic_rank > 0) options.generic_rank = arguments.generic_rank;
  if (arguments.length > 0) options.length = arguments.length;
  if (!arguments.origin.empty()) options.origin = {{arguments.origin[0], arguments.origin[1], arguments.origin[2]}};
  options.step = arguments.step;
  options.max_set_size = arguments.max_set_size;
  if (arguments.intervals == "cardinality") options.rule = IntervalRule::kCardinality;
  return options;
}

/// What is analyzed, and how.
struct Subject {
  std::string robot;      ///< as the page names it
  std::vector<double> q;  ///< empty: only the screws are known
  singularity::ScrewSet screws;
  AnalyzeOptions options;
  std::optional<singularity::Vicinity> near = {};  ///< of a robot
  const chain::Robot* arm = nullptr;               ///< of a robot
};

/// What stands before the nine steps, of a robot.
std::string robot_text(const Subject& s, const singularity::Analysis& analysis) {
  if (!s.near) return "";
  return vicinity_text(analysis, *s.near) + tool_speed_text(*s.arm, singularity::tool_speed(*s.arm, s.q)) + "\n";
}

/// The same form as an item of configurations.json, with the robot's name.
void write_page(const std::string& page, const Subject& s, const singularity::Analysis& analysis) {
  using Json = nlohmann::ordered_json;
  const Json q = s.q.empty() ? Json(nullptr) : Json(s.q), analyzed = singularity_json(analysis, &s.options);
  const Json item = {{"robot", s.robot},
                     {"why", "given"},
                     {"joints", analyzed["dependent_joints"]},
                     {"share", nullptr},
                     {"sample", nullptr},
                     {"q", q},
                     {"singular_q", q},
                     {"distance", 0.0},
                     {"screws", screws_json(s.screws)},
                     {"analysis", analyzed},
                     {"text", robot_text(s, analysis) + singularity_text(s.screws, analysis, &s.options)}};
  const TemporaryFolder temporary;
  const std::string text = item.dump(1), file = temporary.file("configuration.json");
  io::write_file_atomically(file, std::as_bytes(std::span(text)));
  if (!make_singularity_page(file, page, false))
    throw Error(ExitCode::kInputOutput, page + ": the page was not made",
                "It needs Python 3 with numpy, matplotlib, jinja2, h5py: tools/setup installs them.");
}

void print_analysis(const AnalyzeArguments& arguments, const Subject& s) {
  if (!arguments.report.empty()) io::require_writable(arguments.report);
  const singularity::Analysis analysis = singularity::analyze(s.screws, s.options);
  if (!arguments.report.empty()) write_page(arguments.report, s, analysis);
  if (arguments.format == "json") {
    nlohmann::ordered_json out = singularity_json(analysis, &s.options);
    if (s.near) add_vicinity(analysis, *s.near, out);
    if (s.near) add_tool_speed(*s.arm, singularity::tool_speed(*s.arm, s.q), out);
    std::printf("%s\n", out.dump(2).c_str());
  } else {
    std::fputs(printable(robot_text(s, analysis) + singularity_text(s.screws, analysis, &s.options)).c_str(), stdout);
  }
  std::fflush(stdout);
}

void analyze_at(const RobotArguments& arguments) {
  ModelArguments model = arguments.model;
  model.options.takes_coupled = true;
  const chain::Robot robot = singularity::merge_helical(read_model(model));
  const std::vector<double> q = joint_values("--at", arguments.at, robot);
  const singularity::ScrewSet screws = singularity::make_screws(robot, q);
  print_analysis(arguments,
                 {robot.name, q, screws, make_analysis_options(arguments), singularity::vicinity(robot, q), &robot});
}

/// The scenario that --map stands for: a robot, and everything else as `garra check` shows it.
std::string map_scenario(const io::RobotOptions& options, const std::string& model, bool is_file) {
  std::string file = is_file ? model : io::robot_file(model);
  chain::Robot robot = io::read_robot(file, options);
  io::Writer w;
  w.line("schema", "1");
  w.line("job", "\"singularity\"");
  w.line("title", io::text("Singularities of " + robot.name));
  std::string named = is_file ? std::filesystem::absolute(model).string() : model, base = options.base,
              tip = options.tip;
  io::FieldWriter f(w);
  io::robot_fields(f, "", "", {named, file, base, tip, robot});
  return w.take();
}

/// Flags as overrides, --set last.
std::vector<std::string> map_overrides(const RobotArguments& a) {
  const auto number = [](double x) { return nlohmann::json(x).dump(); };
  std::vector<std::string> list;
  if (a.near > 0) list.push_back("measure.near=" + number(a.near));
  if (a.tolerance > 0) list.push_back("measure.tolerance=" + number(a.tolerance));
  if (a.length > 0) list.push_back("measure.length=" + number(a.length));
  if (!a.precision.empty()) list.push_back("measure.precision=\"" + a.precision + "\"");
  list.insert(list.end(), a.model.options.overrides.begin(), a.model.options.overrides.end());
  return list;
}

void run_map(const RobotArguments& arguments) {
  const std::string& model = arguments.model.model;
  const bool is_file = names_file(model);
  const io::RobotOptions robot{.base = arguments.model.options.base,
                               .tip = arguments.model.options.tip,
                               .overrides = {},
                               .locks = arguments.model.options.locks,
                               .takes_coupled = true};
  RunArguments run = arguments.run;
  run.format = arguments.format;
  run.set = map_overrides(arguments);
  run.command = "garra singularity " + model + " --map";
  if (!robot.base.empty()) run.command += " --base " + robot.base;
  if (!robot.tip.empty()) run.command += " --tip " + robot.tip;
  const std::string stem = is_file ? std::filesystem::path(model).stem().string() : model;
  run_text(map_scenario(robot, model, is_file), stem + "-singularities", run);
}

void run_robot(const RobotArguments& arguments) {
  if (arguments.map) return run_map(arguments);
  if (arguments.at.empty())
    throw Error(ExitCode::kUsage, "neither --at nor --map is given",
                "Write --at \"0 30deg 0 ...\" for one configuration, or --map for all of them.");
  analyze_at(arguments);
}

void run_screws(const ScrewsArguments& arguments) {
  if (arguments.claims) return print_claims(arguments.format);
  if (arguments.file.empty())
    throw Error(ExitCode::kUsage, "no screws file",
                "Name one, or ask for the paper's examples with garra papers claims.");
  const io::ScrewsFile file = io::read_screws(arguments.file);
  print_warnings(file.warnings);
  AnalyzeOptions options = make_analysis_options(arguments);
  if (arguments.tolerance == 0 && file.tolerance) options.tolerance = *file.tolerance;
  if (arguments.generic_rank == 0) options.generic_rank = file.generic_rank;
  print_analysis(arguments, {std::filesystem::path(arguments.file).stem().string(), {}, file.set, options});
}

void add_analyze_options(Command command, AnalyzeArguments& arguments) {
  command
      .add_option("--tolerance", arguments.tolerance,
                  "singular value that counts as zero, relative to the largest; default 1e-10")
      .check(positive_number());
  command.add_option("--generic-rank", arguments.generic_rank, "what the chain can do at best; default: measured")
      .check(from_to(1, 6));
  command.add_option("--origin", arguments.origin, "of the scaled screws [m]; default: the point nearest to all axes")
      .expected(3)
      .type_name("X Y Z");
  command.add_option("--length", arguments.length, "unit of the scaled screws [m]; default: rms distance of the axes")
      .check(positive_number());
  command.add_option("--step", arguments.step, "finite motion [rad; prismatic: in units of the length]",
                     positive_number());
  command.add_option("--max-set-size", arguments.max_set_size, "most joints of an escape set",
                     from_to(1, singularity::kMaxJoints));
  command.add_option(
      "--intervals", arguments.intervals,
      "singular: dimension below the generic one, or below the number of joints (cardinality, the paper's)",
      one_of({"generic", "cardinality"}));
  command.add_option("--report", arguments.report, "also make a page about the configuration").type_name("FILE.html");
  command.add_option("--format", arguments.format, "human or json", one_of({"human", "json"}));
}

/// --map and what belongs to it only.
void add_map_options(Command command, RobotArguments& arguments, Option at) {
  Option map = command.add_flag("--map", arguments.map, "a map of very many configurations, as a run");
  map.excludes(at);
  for (const char* name : {"--generic-rank", "--origin", "--step", "--max-set-size", "--intervals", "--report"})
    command.option(name).excludes(map);
  const std::vector<Option> before = command.options();
  command.add_option("--near", arguments.near, "near: smallest singular value by the largest; default 0.02")
      .check(positive_number());
  command.add_option("--precision", arguments.precision, "fp64, or fp32 for the first pass")
      .check(one_of<singularity::Precision>());
  add_new_run_flags(command, arguments.run);
  command.option("--output").description("run folder (default: run-<robot>-singularities)");
  add_common_flags(command, arguments.run);
  for (Option option : command.options())
    if (std::find(before.begin(), before.end(), option) == before.end()) option.needs(map);
}

void add_robot_command(Command app) {
  Command command =
      app.add_subcommand("singularity", "Lost degrees of freedom of a robot at a configuration, or a map of many");
  const auto arguments = std::make_shared<RobotArguments>();
  add_model_options(command, arguments->model);
  Option at =
      command.add_option("--at", arguments->at, "joint values [rad, m], or with units, separated by commas or blanks")
          .delimiter(',')
          .type_name("Q,...");
  command.option("--set").description(
      "TOML: replace a value of the robot, for example joint.1.d=0.1; with --map "
      "of the scenario, for example joints.1='0 deg' (joints count from 0)");
  add_analyze_options(command, *arguments);
  add_map_options(command, *arguments, at);
  command.footer(
      "Examples:\n"
      "  garra singularity puma560 --at \"0.3 -0.7 0.5 0.9 0 -0.4\"\n"
      "  garra singularity iiwa14 --at \"0,30deg,0,0,0,0,0\" --format json\n"
      "  garra singularity puma560 --map --samples 1e7 --near 0.01 -o map");
  command.callback([arguments] { run_robot(*arguments); });
}

void add_screws_command(Command app) {
  Command command =
      app.add_subcommand("screws", "Singularity analysis of any set of joint screws; joints count from 0");
  const auto arguments = std::make_shared<ScrewsArguments>();
  command.add_option("file", arguments->file, "screws file (docs/theory/singularity.md)").type_name("FILE.toml");
  command.add_flag("--claims", arguments->claims, "the paper's three examples beside what the paper says of them")
      .excludes("file");
  add_analyze_options(command, *arguments);
  command.footer(
      "Examples:\n"
      "  garra screws data/screws/gallardo_1.toml\n"
      "  garra screws my_arm.toml --tolerance 1e-3 --format json\n"
      "  garra screws --claims");
  command.callback([arguments] { run_screws(*arguments); });
}

}  // namespace

void add_singularity_commands(Command app) {
  add_robot_command(app);
  add_screws_command(app);
}

}  // namespace garra::cli
