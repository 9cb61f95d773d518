// `garra check`: reads scenarios, robots, platforms and problem files, and describes their content or errors.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/scenario/field_reader.hpp"
#include "base/scenario/field_schema.hpp"
#include "base/scenario/renamed.hpp"
#include "base/scenario/toml_json.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "cli/jobs.hpp"
#include "cli/robot_argument.hpp"
#include "cli/terminal.hpp"
#include "garra/core/error.hpp"
#include "garra/io/platform_file.hpp"
#include "garra/io/problem_file.hpp"
#include "garra/io/robot.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CheckArguments {
  std::vector<std::string> files;
  std::vector<std::string> overrides;
  io::RobotOptions robot;
  std::string format = "human";
  std::string schema_of;  ///< the job of the requested schema; empty: all jobs
};

/// Smallest and largest of the finite numbers, and the count of the others.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::int64_t not_finite = 0;

  void add(double x) {
    if (!std::isfinite(x)) {
      ++not_finite;
      return;
    }
    low = std::min(low, x);
    high = std::max(high, x);
  }
  [[nodiscard]] std::string text() const {
    if (low > high) return "nothing finite";
    char line[80];
    std::snprintf(line, sizeof line, "%.4g to %.4g", low, high);
    return line;
  }
};

Range find_range(const std::vector<double>& values) {
  Range range;
  for (const double x : values) range.add(x);
  return range;
}

Range diagonal_range(const contact::Problems& p) {
  const std::size_t rows = 3 * static_cast<std::size_t>(p.contacts);
  Range range;
  for (std::size_t begin = 0; begin + rows * rows <= p.A.size(); begin += rows * rows)
    for (std::size_t i = 0; i < rows; ++i) range.add(p.A[begin + i * (rows + 1)]);
  return range;
}

std::string describe_problems(const contact::Problems& p) {
  const Range A = find_range(p.A), b = find_range(p.b), mu = find_range(p.mu);
  std::string out = "problems        " + std::to_string(p.count) + "\n";
  if (p.count == 0) return out;
  out += "contacts        " + std::to_string(p.contacts) + " each\n";
  out += "A               " + A.text() + " 1/kg, diagonal " + diagonal_range(p).text() + "\n";
  out += "b               " + b.text() + " m/s^2\n";
  out += "friction mu     " + mu.text() + "\n";
  const std::int64_t not_finite = A.not_finite + b.not_finite + mu.not_finite;
  if (not_finite > 0) {
    out += "not finite      " + std::to_string(not_finite) + " numbers: their problems end as invalid input\n";
  }
  return out;
}

bool is_robot(const std::string& file, const std::string& ending) {
  return ending == ".urdf" || (ending == ".toml" && io::is_robot_toml(file));
}

/// Description of a file's content.
struct Content {
  std::string kind;                   ///< scenario, robot, platform, problems
  std::string words;                  ///< for people
  std::string toml;                   ///< a file that reads back to the same; problems have none
  std::vector<std::string> warnings;  ///< parts that may be unintended
  Json more = Json::object();         ///< of problems
};

Content problems_in(const std::string& file) {
  const contact::Problems p = io::read_problems(file);
  return {"problems", describe_problems(p), "", {}, {{"count", p.count}, {"contacts", p.contacts}}};
}

Content robot_in(const CheckArguments& arguments, const std::string& file) {
  io::RobotOptions options = arguments.robot;
  options.overrides = arguments.overrides;
  options.takes_coupled = true;
  const chain::Robot robot = io::read_robot(file, options);
  return {"robot", io::describe_robot(robot), io::robot_toml(robot), robot.warnings, {{"notes", robot.notes}}};
}

Content read_content(const CheckArguments& arguments, const std::string& file) {
  const std::string ending = std::filesystem::path(file).extension().string();
  if (ending == ".h5" || ending == ".hdf5") return problems_in(file);
  // Robots and platforms before scenarios: only a scenario has `job`, and an error about a missing one would mislead.
  const bool is_name = ending.empty() && !std::filesystem::exists(file);  // of a robot of data/robots
  if (is_name || is_robot(file, ending)) return robot_in(arguments, file);
  if (ending == ".toml" && io::is_platform_toml(file)) {
    const platform::Platform p = io::read_platform(file, arguments.overrides);
    return {"platform", io::describe_platform(p), io::platform_toml(p), p.notes, Json::object()};
  }
  if (ending == ".toml") {
    auto document = io::ScenarioDocument::read(file);
    document.set(arguments.overrides);
    const Resolved resolved = job_kind(document).read(document)->resolved();
    return {"scenario", resolved.toml, resolved.toml, resolved.warnings, Json::object()};
  }
  throw Error(ExitCode::kInvalidFile, file + ": unknown kind of file",
              "A scenario, robot or platform ends in .toml, a robot also in .urdf, a problem file in .h5 or .hdf5.");
}

/// Prints one line of JSON per file. Text from a file need not be UTF-8, JSON must be.
void print_check_json(const std::string& file, const std::optional<Error>& error,
                      const std::vector<std::string>& errors, const Content& content) {
  Json line = {
      {"file", file}, {"ok", !error}, {"error", error ? Json(error->what()) : Json(nullptr)}, {"errors", errors}};
  if (!error) {
    line["kind"] = content.kind;
    line["warnings"] = content.warnings;
    line.update(content.more);
    if (!content.toml.empty()) line["model"] = io::toml_as_json(content.toml);
  }
  std::printf("%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_text(const CheckArguments& arguments, const std::string& file, const Content& content,
                const std::optional<Error>& error) {
  const bool several = arguments.files.size() > 1;
  if (error) {
    // Error of a single file: run_check() throws it, and the program prints it at its end.
    if (several) std::fprintf(stderr, "%s\n", error->what());
    return;
  }
  if (several) std::printf("# %s\n", file.c_str());
  const std::string& text = arguments.format == "toml" ? content.toml : content.words;
  std::printf("%s%s", printable(text).c_str(), several ? "\n" : "");
  std::fflush(stdout);
  print_warnings(content.warnings);
}

std::optional<Error> check_file(const CheckArguments& arguments, const std::string& file) {
  Content content;
  std::optional<Error> error;
  std::vector<std::string> errors;  // one by one
  try {
    content = read_content(arguments, file);
    if (arguments.format == "toml" && content.toml.empty())
      throw Error(ExitCode::kUsage, file + ": problem files have no TOML form", "Use --format human or json.");
  } catch (const io::FileErrors& e) {
    error = e;
    for (const Error& one : e.each()) errors.emplace_back(one.what());
  } catch (const Error& e) {
    error = e;
    errors = {e.what()};
  }
  if (arguments.format == "json") {
    print_check_json(file, error, errors, content);
  } else {
    print_text(arguments, file, content, error);
  }
  return error;
}

/// Checks all files and throws the error of the only file, or a count. Invalid content has precedence over unreadable
/// files.
void run_check(const CheckArguments& arguments) {
  std::vector<Error> errors;
  for (const std::string& file : arguments.files) {
    if (const std::optional<Error> error = check_file(arguments, file)) errors.push_back(*error);
  }
  std::fflush(stdout);
  if (errors.empty()) return;
  if (arguments.files.size() == 1) throw errors[0];
  const auto invalid =
      std::find_if(errors.begin(), errors.end(), [](const Error& e) { return e.code() == ExitCode::kInvalidFile; });
  throw Error(invalid == errors.end() ? errors[0].code() : ExitCode::kInvalidFile,
              std::to_string(errors.size()) + " of " + std::to_string(arguments.files.size()) + " files are not valid");
}

/// Prints the schema of scenarios for editors, or the tables of docs/reference/scenario.md.
void print_schema(const CheckArguments& arguments) {
  const bool markdown = arguments.format == "markdown";
  const std::string text = arguments.schema_of == "renamed" ? io::renamed_table(markdown)
                           : markdown                       ? io::scenario_rows(arguments.schema_of)
                                                            : io::scenario_schema(arguments.schema_of);
  std::fputs(text.c_str(), stdout);
}

}  // namespace

void add_check_command(Command app) {
  Command check =
      app.add_subcommand("check", "Validate scenarios, robots, platforms and problem files; print what is in them");
  const auto arguments = std::make_shared<CheckArguments>();
  Option files = check
                     .add_option("files", arguments->files,
                                 "scenarios, platforms (.toml), robots (.toml, .urdf) and problem files (.h5)")
                     .type_name("FILE");
  Option schema =
      check
          .add_option(
              "--schema", arguments->schema_of,
              "print the JSON Schema of scenarios, of one job or of all, or of robot_file or platform_file: for "
              "editors; renamed: names that have changed; --format markdown: the keys as a table")
          .type_name("[JOB]")
          .expected(0, 1)
          .excludes(files);
  add_overrides(check, arguments->overrides, "change a key of the TOML files: --set object.mass=2");
  check.add_option("--base", arguments->robot.base, "URDF: the link that the chain starts from").type_name("LINK");
  check.add_option("--tip", arguments->robot.tip, "URDF: the link that the chain ends in").type_name("LINK");
  add_lock_option(check, arguments->robot.locks);
  check.add_option("--format", arguments->format,
                   "human; json: one line per file with the whole model; toml: a file that reads back to the same",
                   one_of({"human", "json", "toml", "markdown"}));
  check.footer(
      "Examples:\n"
      "  garra check data/scenarios/three_puma_sphere.toml\n"
      "  garra check data/robots/iiwa14.urdf --tip link_7\n"
      "  garra check panda.urdf --tip panda_hand --lock panda_finger_joint1=0.02 --format toml > panda.toml\n"
      "  garra check data/scenarios/*.toml data/reference/contact/*.h5 --format json\n"
      "  garra check --schema > scenario.schema.json");
  check.callback([arguments, files, schema] {
    if (schema.given()) return print_schema(*arguments);
    if (!files.given()) refuse_missing("FILE");
    if (arguments->format == "markdown") throw Error(ExitCode::kUsage, "--format markdown belongs to --schema JOB");
    run_check(*arguments);
  });
}

}  // namespace garra::cli
