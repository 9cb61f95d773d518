// `garra contact solve`: problem files in, solution files and a summary out.
#include "garra/contact.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "garra/core/error.hpp"
#include "garra/io/problem_file.hpp"
#include "io/atomic_file.hpp"

namespace garra::cli {
namespace {

namespace fs = std::filesystem;

struct SolveArguments {
  std::vector<std::string> inputs;
  std::string output;  ///< empty: nothing is written
  std::string device = "auto";
  int threads = 0;
  contact::Options options;
  double max_unsolved = 1;  ///< fails where unsolved / problems > max_unsolved
  std::string format = "human";
};

/// One input file and its place in its group.
struct Part {
  std::string input, output;
  std::int64_t begin = 0, count = 0;
};

/// Problems with the same number of contacts, of any number of files: one batch.
struct Group {
  contact::Problems problems;
  std::vector<Part> parts;
};
using Groups = std::map<int, Group>;

struct Unreadable {
  std::string file;
  Error error;
};

struct Summary {
  std::int64_t problems = 0;
  std::array<std::int64_t, kStatusCount> by_status{};
  double worst_residual = 0;  ///< over the solved problems
  std::int64_t iterations = 0;
  std::int32_t max_iterations = 0;
  double seconds = 0;  ///< in solve, without reading and writing
  std::string device;
  std::vector<std::string> outputs;
  std::vector<Unreadable> unreadable;

  [[nodiscard]] std::int64_t solved() const {
    return by_status[static_cast<std::size_t>(Status::kConverged)];
  }
};

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || fs::is_directory(path, ignored);
}

std::string output_of(const SolveArguments& arguments, const std::string& input) {
  if (arguments.output.empty() || !is_folder(arguments.output)) return arguments.output;
  return (fs::path(arguments.output) / (fs::path(input).stem().string() + ".solution.h5")).string();
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw Error(ExitCode::kInputOutput, path + ": cannot create the folder: " + error.message(),
                "Choose another place with -o.");
  }
}

/// Everything about the outputs that can go wrong is found before the work starts.
void check_outputs(const SolveArguments& arguments) {
  if (arguments.output.empty()) return;
  if (arguments.inputs.size() > 1 && !is_folder(arguments.output)) {
    throw Error(ExitCode::kUsage,
                "-o " + arguments.output + ": several inputs need a folder for their solutions",
                "Give an existing folder, or a name that ends with / to create one.");
  }
  if (arguments.output.ends_with('/')) make_folder(arguments.output);
  std::set<std::string> outputs;
  for (const std::string& input : arguments.inputs) {
    const std::string output = output_of(arguments, input);
    std::error_code ignored;
    if (!outputs.insert(output).second) {
      throw Error(ExitCode::kUsage, output + ": two inputs of the same name would be written here",
                  "Solve them in two runs, into two folders.");
    }
    if (fs::equivalent(input, output, ignored)) {
      throw Error(ExitCode::kUsage, output + ": the solutions would overwrite the problems",
                  "Choose another -o.");
    }
    io::require_writable(output);
  }
}

void append(std::vector<double>& to, std::vector<double>&& from) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    to.insert(to.end(), from.begin(), from.end());
  }
}

void add_to_group(Groups& groups, Part part, contact::Problems problems) {
  Group& group = groups[problems.contacts];
  part.begin = group.problems.count;
  part.count = problems.count;
  group.problems.contacts = problems.contacts;
  group.problems.count += problems.count;
  append(group.problems.A, std::move(problems.A));
  append(group.problems.b, std::move(problems.b));
  append(group.problems.mu, std::move(problems.mu));
  group.parts.push_back(std::move(part));
}

/// A single bad file is an error at once; among several, the others are solved first.
Groups read_inputs(const SolveArguments& arguments, Summary& summary) {
  Groups groups;
  for (const std::string& input : arguments.inputs) {
    try {
      add_to_group(groups, {input, output_of(arguments, input)}, io::read_problems(input));
    } catch (const Error& error) {
      if (arguments.inputs.size() == 1) throw;
      summary.unreadable.push_back({input, error});
    }
  }
  return groups;
}

void count_solutions(const contact::Solutions& solutions, Summary& summary) {
  summary.problems += solutions.count;
  for (std::size_t i = 0; i < solutions.status.size(); ++i) {
    ++summary.by_status[static_cast<std::size_t>(solutions.status[i])];
    summary.iterations += solutions.iterations[i];
    summary.max_iterations = std::max(summary.max_iterations, solutions.iterations[i]);
    if (solutions.status[i] == Status::kConverged) {
      summary.worst_residual = std::max(summary.worst_residual, solutions.residual[i]);
    }
  }
}

template <class T>
std::vector<T> slice(const std::vector<T>& values, const Part& part, int per_problem = 1) {
  const auto begin = values.begin() + part.begin * per_problem;
  return {begin, begin + part.count * per_problem};
}

contact::Problems slice(const contact::Problems& all, const Part& part) {
  const int rows = 3 * all.contacts;
  return {.contacts = all.contacts,
          .count = part.count,
          .A = slice(all.A, part, rows * rows),
          .b = slice(all.b, part, rows),
          .mu = slice(all.mu, part, all.contacts)};
}

contact::Solutions slice(const contact::Solutions& all, const Part& part) {
  const int rows = 3 * all.contacts;
  return {.contacts = all.contacts,
          .count = part.count,
          .c = slice(all.c, part, rows),
          .a = slice(all.a, part, rows),
          .residual = slice(all.residual, part),
          .residual_raw = slice(all.residual_raw, part),
          .merit = slice(all.merit, part),
          .iterations = slice(all.iterations, part),
          .status = slice(all.status, part)};
}

void write_group(const Group& group, const contact::Solutions& solutions,
                 const io::SolutionAttributes& attributes) {
  for (const Part& part : group.parts) {
    if (group.parts.size() == 1) {  // no copy of what may be large
      io::write_solutions(part.output, group.problems, solutions, attributes);
    } else {
      io::write_solutions(part.output, slice(group.problems, part), slice(solutions, part),
                          attributes);
    }
  }
}

void solve_group(const SolveArguments& arguments, const Device& device, const Group& group,
                 Summary& summary) {
  const auto start = std::chrono::steady_clock::now();
  const contact::Solutions solutions = contact::solve(group.problems, arguments.options, device);
  summary.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  count_solutions(solutions, summary);
  if (arguments.output.empty()) return;
  write_group(group, solutions,
              {.method = "auto",
               .tolerance = arguments.options.tol,
               .device = summary.device,
               .version = GARRA_VERSION});
  for (const Part& part : group.parts) summary.outputs.push_back(part.output);
}

/// Nothing to report of no problems, no time or no solution: absent rather than a made-up 0 or
/// infinity.
std::optional<double> ratio(double numerator, double denominator) {
  return denominator > 0 ? std::optional(numerator / denominator) : std::nullopt;
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

void print_json(const SolveArguments& arguments, const Summary& s) {
  nlohmann::json status = nlohmann::json::object();
  for (int i = 0; i < kStatusCount; ++i) {
    status[to_string(static_cast<Status>(i))] = s.by_status[static_cast<std::size_t>(i)];
  }
  nlohmann::json unreadable = nlohmann::json::array();
  for (const Unreadable& u : s.unreadable)
    unreadable.push_back({{"file", u.file}, {"error", u.error.what()}});
  const auto n = static_cast<double>(s.problems);
  const nlohmann::json out = {
      {"problems", s.problems},
      {"solved", s.solved()},
      {"solved_share", or_null(ratio(static_cast<double>(s.solved()), n))},
      {"status", status},
      {"worst_residual",
       s.solved() > 0 ? nlohmann::json(s.worst_residual) : nlohmann::json(nullptr)},
      {"tolerance", arguments.options.tol},
      {"iterations",
       {{"mean", or_null(ratio(static_cast<double>(s.iterations), n))}, {"max", s.max_iterations}}},
      {"seconds", s.seconds},
      {"problems_per_second", or_null(ratio(n, s.seconds))},
      {"device", s.device},
      {"outputs", s.outputs},
      {"unreadable", unreadable},
  };
  std::printf("%s\n", out.dump(2).c_str());
}

/// Rounded down, so that 100 % means all of them.
double percent(std::int64_t part, std::int64_t whole) {
  return std::floor(1e6 * static_cast<double>(part) / static_cast<double>(whole)) / 1e4;
}

std::string describe_outputs(const SolveArguments& arguments, const Summary& s) {
  if (arguments.output.empty()) return "not written (-o FILE keeps them)";
  if (s.outputs.size() == 1) return s.outputs[0];
  return std::to_string(s.outputs.size()) + " files in " + arguments.output;
}

void print_human(const SolveArguments& arguments, const Summary& s) {
  const auto n = static_cast<double>(s.problems);
  std::printf("problems        %lld in %zu file%s\n", static_cast<long long>(s.problems),
              arguments.inputs.size() - s.unreadable.size(),
              arguments.inputs.size() == 1 ? "" : "s");
  if (s.problems > 0) {
    std::printf("solved          %lld (%.6g %%)\n", static_cast<long long>(s.solved()),
                percent(s.solved(), s.problems));
  }
  for (int i = 0; i < kStatusCount; ++i) {
    const std::int64_t count = s.by_status[static_cast<std::size_t>(i)];
    if (count == 0) continue;
    std::printf("  %-15s %lld\n", to_string(static_cast<Status>(i)), static_cast<long long>(count));
  }
  if (s.solved() > 0) {
    std::printf("worst residual  %.2e of the solved (tolerance %.2g)\n", s.worst_residual,
                arguments.options.tol);
  }
  if (s.problems > 0) {
    std::printf("iterations      mean %.2f, max %d\n", static_cast<double>(s.iterations) / n,
                s.max_iterations);
    std::printf("throughput      %.4g problems/s (%.3g s)\n", ratio(n, s.seconds).value_or(0),
                s.seconds);
  }
  std::printf("device          %s\n", s.device.c_str());
  std::printf("solutions       %s\n", describe_outputs(arguments, s).c_str());
  for (const Unreadable& u : s.unreadable) {
    const std::string text = u.error.what();
    std::printf("not read        %s\n", text.substr(0, text.find('\n')).c_str());
  }
}

/// The exit codes that are not about a failure on the way, but about its result.
void judge(const SolveArguments& arguments, const Summary& s) {
  if (!s.unreadable.empty()) {
    throw Error(s.unreadable[0].error.code(),
                std::to_string(s.unreadable.size()) + " of " +
                    std::to_string(arguments.inputs.size()) +
                    " files could not be read, the first: " + s.unreadable[0].error.what());
  }
  const std::int64_t unsolved = s.problems - s.solved();
  if (static_cast<double>(unsolved) > arguments.max_unsolved * static_cast<double>(s.problems)) {
    throw Error(
        ExitCode::kTooManyUnsolved,
        std::to_string(unsolved) + " of " + std::to_string(s.problems) + " problems are unsolved",
        "Raise --max-iterations, --tol or --max-unsolved; `status` in the solution file names the "
        "reason for "
        "each problem.");
  }
}

void run_solve(const SolveArguments& arguments) {
  const Device device = parse_device(arguments.device, arguments.threads);
  check_outputs(arguments);
  Summary summary;
  summary.device = describe(device);
  const Groups groups = read_inputs(arguments, summary);
  for (const auto& [contacts, group] : groups) solve_group(arguments, device, group, summary);
  if (arguments.format == "json") {
    print_json(arguments, summary);
  } else {
    print_human(arguments, summary);
  }
  std::fflush(stdout);
  judge(arguments, summary);
}

void add_solve_options(CLI::App& command, SolveArguments& arguments) {
  command
      .add_option("inputs", arguments.inputs,
                  "problem files (HDF5: A, b, mu), or local files of FCLIB")
      ->required()
      ->type_name("IN.h5");
  command
      .add_option("-o,--output", arguments.output,
                  "solution file; a folder where there are several inputs")
      ->type_name("OUT.h5");
  command.add_option("--device", arguments.device, "auto, cpu, scalar, cuda or cuda:1")
      ->capture_default_str();
  command.add_option("--threads", arguments.threads, "processor threads, 0 for all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--tol", arguments.options.tol, "solved: scale-invariant residual <= tol")
      ->check(positive_number())
      ->capture_default_str();
  command
      .add_option("--max-iterations", arguments.options.max_iterations,
                  "Newton steps per problem, all stages")
      ->transform(whole_number())
      ->capture_default_str();
  command
      .add_option("--max-unsolved", arguments.max_unsolved,
                  "exit code 4 where a larger share is unsolved")
      ->check(share())
      ->capture_default_str();
  command.add_option("--format", arguments.format, "human or json")
      ->check(CLI::IsMember({"human", "json"}))
      ->capture_default_str();
}

}  // namespace

void add_contact_commands(CLI::App& app) {
  CLI::App* contact = app.add_subcommand("contact", "Raw friction contact problems from files");
  contact->require_subcommand(1);
  contact->footer(
      "Examples:\n"
      "  garra contact solve data/reference/contact/random_n3.h5 -o solutions.h5\n"
      "  garra contact solve run-three_puma_sphere/failures/*.h5");
  CLI::App* solve =
      contact->add_subcommand("solve", "Solve problem files: a = A c + b with Coulomb friction");
  const auto arguments = std::make_shared<SolveArguments>();
  add_solve_options(*solve, *arguments);
  solve->footer(
      "Examples:\n"
      "  garra contact solve data/reference/contact/random_n3.h5 -o solutions.h5\n"
      "  garra contact solve fclib/*.hdf5 -o solutions/ --tol 1e-10 --max-unsolved 0 --format "
      "json");
  solve->callback([arguments] { run_solve(*arguments); });
}

}  // namespace garra::cli
