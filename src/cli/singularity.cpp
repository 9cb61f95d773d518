// `garra singularity` and `garra screws`: one configuration, analysed exactly.
#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/chain_model.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "cli/singularity_answer.hpp"
#include "garra/io/screws_file.hpp"
#include "io/units.hpp"

namespace garra::cli {

namespace {

using singularity::AnalyseOptions;
using singularity::IntervalRule;

/// The flags that both commands have.
struct AnalyseArguments {
  double tolerance = 0;  ///< 0: the file's or the library's
  int generic_rank = 0;  ///< 0: the file's, or measured
  double length = 0;     ///< 0: the natural one
  std::vector<double> origin;
  double step = AnalyseOptions{}.step;
  int largest_set = AnalyseOptions{}.largest_set;
  std::string intervals = "generic";
  std::string format = "human";
};

struct RobotArguments : AnalyseArguments {
  ModelArguments model;
  std::vector<std::string> at;
};

struct ScrewsArguments : AnalyseArguments {
  std::string file;
};

AnalyseOptions options_of(const AnalyseArguments& arguments) {
  AnalyseOptions options;
  if (arguments.tolerance > 0) options.tolerance = arguments.tolerance;
  if (arguments.generic_rank > 0) options.generic_rank = arguments.generic_rank;
  if (arguments.length > 0) options.length = arguments.length;
  if (!arguments.origin.empty()) options.origin = {{arguments.origin[0], arguments.origin[1], arguments.origin[2]}};
  options.step = arguments.step;
  options.largest_set = arguments.largest_set;
  if (arguments.intervals == "cardinality") options.rule = IntervalRule::kCardinality;
  return options;
}

void print(const AnalyseArguments& arguments, const singularity::ScrewSet& set, const AnalyseOptions& options) {
  const singularity::Analysis analysis = singularity::analyse(set, options);
  if (arguments.format == "json")
    std::printf("%s\n", singularity_json(analysis).dump(2).c_str());
  else
    std::fputs(singularity_text(set, analysis).c_str(), stdout);
  std::fflush(stdout);
}

/// "0 30 deg 0" as one word per joint: what begins with a letter is the unit of the number before it.
std::vector<std::string> one_per_joint(const std::vector<std::string>& given) {
  std::vector<std::string> words;
  for (const std::string& text : given) {
    std::istringstream parts(text);
    bool first = true;
    for (std::string part; parts >> part; first = false) {
      const bool is_unit = !first && std::isalpha(static_cast<unsigned char>(part[0])) != 0;
      if (is_unit)
        words.back() += " " + part;
      else
        words.push_back(part);
    }
  }
  return words;
}

/// Joint values: rad and m, or with a unit ("30 deg").
std::vector<double> joint_values(const std::vector<std::string>& given, const chain::Robot& robot) {
  const std::vector<std::string> words = one_per_joint(given);
  std::vector<double> q;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool prismatic = i < robot.joint.size() && robot.joint[i].prismatic;
    const io::Quantity with_unit = io::parse_quantity(words[i], prismatic ? io::kLength : io::kAngle);
    q.push_back(with_unit.problem.empty()
                    ? with_unit.value
                    : number_or_refuse(words[i], "--at " + words[i] + ": no value of joint " + std::to_string(i + 1),
                                       "Write rad and m, or a unit: 0.5, \"30 deg\", \"20 mm\"."));
  }
  return q;
}

void run_robot(const RobotArguments& arguments) {
  const chain::Robot robot = read_model(arguments.model);
  print(arguments, singularity::screws_of(robot, joint_values(arguments.at, robot)), options_of(arguments));
}

void run_screws(const ScrewsArguments& arguments) {
  const io::ScrewsFile file = io::read_screws(arguments.file);
  AnalyseOptions options = options_of(arguments);
  if (arguments.tolerance == 0 && file.tolerance) options.tolerance = *file.tolerance;
  if (arguments.generic_rank == 0) options.generic_rank = file.generic_rank;
  print(arguments, file.set, options);
}

void add_analyse_options(CLI::App& command, AnalyseArguments& arguments) {
  command
      .add_option("--tolerance", arguments.tolerance,
                  "singular value that counts as zero, relative to the largest; default 1e-10")
      ->check(positive_number());
  command.add_option("--generic-rank", arguments.generic_rank, "what the chain can do at best; default: measured")
      ->check(CLI::Range(1, 6));
  command.add_option("--origin", arguments.origin, "of the scaled screws [m]; default: the point nearest to all axes")
      ->expected(3)
      ->type_name("X Y Z");
  command.add_option("--length", arguments.length, "unit of the scaled screws [m]; default: rms distance of the axes")
      ->check(positive_number());
  command.add_option("--step", arguments.step, "finite motion [rad; prismatic: in units of the length]")
      ->check(positive_number())
      ->capture_default_str();
  command.add_option("--largest-set", arguments.largest_set, "most joints of an escape set")
      ->check(CLI::Range(1, singularity::kMaxJoints))
      ->capture_default_str();
  command
      .add_option("--intervals", arguments.intervals,
                  "singular: dimension below the generic one, or below the number of joints (cardinality, the paper's)")
      ->check(CLI::IsMember({"generic", "cardinality"}))
      ->capture_default_str();
  command.add_option("--format", arguments.format, "human or json")
      ->check(CLI::IsMember({"human", "json"}))
      ->capture_default_str();
}

void add_robot_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("singularity", "What a robot has lost at a configuration, and the way out");
  const auto arguments = std::make_shared<RobotArguments>();
  add_model_options(*command, arguments->model);
  command->add_option("--at", arguments->at, "joint values [rad, m], or with units, separated by commas or blanks")
      ->required()
      ->delimiter(',')
      ->type_name("Q,...");
  add_analyse_options(*command, *arguments);
  command->footer(
      "Examples:\n"
      "  garra singularity puma560 --at \"0.3 -0.7 0.5 0.9 0 -0.4\"\n"
      "  garra singularity iiwa14 --at \"0,30deg,0,0,0,0,0\" --format json");
  command->callback([arguments] { run_robot(*arguments); });
}

void add_screws_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("screws", "The same of a set of joint screws");
  const auto arguments = std::make_shared<ScrewsArguments>();
  command->add_option("file", arguments->file, "screws file (docs/singularity.md)")->required()->type_name("FILE.toml");
  add_analyse_options(*command, *arguments);
  command->footer(
      "Examples:\n"
      "  garra screws data/screws/gallardo_1.toml\n"
      "  garra screws my_arm.toml --tolerance 1e-3 --format json");
  command->callback([arguments] { run_screws(*arguments); });
}

}  // namespace

void add_singularity_commands(CLI::App& app) {
  add_robot_command(app);
  add_screws_command(app);
}

}  // namespace garra::cli
