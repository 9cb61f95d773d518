// `garra contact solve`: problem files in, solution files and a summary out.
#include "garra/contact.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "cli/commands.hpp"
#include "cli/contact_summary.hpp"
#include "cli/flags.hpp"
#include "garra/core/error.hpp"
#include "garra/io/problem_file.hpp"
#include "io/atomic_file.hpp"
#include "io/suggest.hpp"

namespace garra::cli {
namespace {

namespace fs = std::filesystem;

struct SolveArguments {
  std::vector<std::string> inputs;
  std::string output;  ///< empty: nothing is written
  std::string device = "auto";
  int threads = 0;
  std::string method = contact::to_string(contact::Method::kAuto);
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

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    to.insert(to.end(), from.begin(), from.end());
  }
}

/// Files without this dataset count as zeros among files that have it.
template <class T>
void append_optional(std::vector<T>& to, std::size_t before, std::vector<T>&& from, std::size_t added) {
  if (to.empty() && from.empty()) return;
  to.resize(before);
  from.resize(added);
  append(to, std::move(from));
}

void add_to_group(Groups& groups, Part part, contact::Problems problems) {
  Group& group = groups[problems.contacts];
  part.begin = group.problems.count;
  part.count = problems.count;
  group.problems.contacts = problems.contacts;
  group.problems.count += problems.count;
  const std::size_t before = group.problems.mu.size(), added = problems.mu.size();
  append_optional(group.problems.mode, before, std::move(problems.mode), added);
  append_optional(group.problems.slip_velocity, 2 * before, std::move(problems.slip_velocity), 2 * added);
  append(group.problems.A, std::move(problems.A));
  append(group.problems.b, std::move(problems.b));
  append(group.problems.mu, std::move(problems.mu));
  group.parts.push_back(std::move(part));
}

/// What asks for problems whose contacts all slide; empty where nothing does.
std::string needs_sliding(const contact::Options& options) {
  if (options.method == contact::Method::kLemke)
    return std::string("--method ") + contact::to_string(contact::Method::kLemke);
  return options.count_solutions ? "--count-solutions" : "";
}

void require_sliding(const contact::Options& options, const std::string& input, const contact::Problems& problems) {
  const std::string asked_by = needs_sliding(options);
  if (asked_by.empty() || problems.mu.empty()) return;
  const auto rolls = problems.mode.empty() ? problems.mode.begin()
                                           : std::find(problems.mode.begin(), problems.mode.end(), std::uint8_t{0});
  if (!problems.mode.empty() && rolls == problems.mode.end()) return;
  const auto at = rolls - problems.mode.begin();
  throw Error(ExitCode::kInvalidFile,
              input + ": dataset mode: " + asked_by + " is for problems whose contacts all slide, but problem " +
                  std::to_string(at / problems.contacts) + ", contact " + std::to_string(at % problems.contacts) +
                  " (counted from 0) may roll",
              "Leave " + asked_by +
                  " out (--method auto takes every problem), or keep only the problems whose `mode` "
                  "is 1 at every contact.");
}

std::optional<contact::Problems> read_or_note(const std::string& input, ContactSummary& summary) {
  try {
    return io::read_problems(input);
  } catch (const Error& error) {
    if (summary.inputs == 1) throw;
    summary.unreadable.push_back({input, error});
    return std::nullopt;
  }
}

/// A single bad file is an error at once; among several, the others are solved first.
Groups read_inputs(const SolveArguments& arguments, ContactSummary& summary) {
  Groups groups;
  for (const std::string& input : arguments.inputs) {
    std::optional<contact::Problems> problems = read_or_note(input, summary);
    if (!problems) continue;
    require_sliding(arguments.options, input, *problems);
    add_to_group(groups, {input, output_of(arguments, input)}, std::move(*problems));
  }
  return groups;
}

template <class T>
std::vector<T> slice(const std::vector<T>& values, const Part& part, int per_problem = 1) {
  if (values.empty()) return {};
  const auto begin = values.begin() + part.begin * per_problem;
  return {begin, begin + part.count * per_problem};
}

contact::Problems slice(const contact::Problems& all, const Part& part) {
  const int rows = 3 * all.contacts;
  return {.contacts = all.contacts,
          .count = part.count,
          .A = slice(all.A, part, rows * rows),
          .b = slice(all.b, part, rows),
          .mu = slice(all.mu, part, all.contacts),
          .mode = slice(all.mode, part, all.contacts),
          .slip_velocity = slice(all.slip_velocity, part, 2 * all.contacts)};
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
          .minimum = slice(all.minimum, part),
          .projected_gradient = slice(all.projected_gradient, part),
          .iterations = slice(all.iterations, part),
          .evaluations = slice(all.evaluations, part),
          .inner = slice(all.inner, part),
          .products = slice(all.products, part),
          .stage = slice(all.stage, part),
          .stalls = slice(all.stalls, part),
          .status = slice(all.status, part),
          .solutions = slice(all.solutions, part)};
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

void solve_group(const SolveArguments& arguments, const Device& device, const Group& group, ContactSummary& summary) {
  const auto start = std::chrono::steady_clock::now();
  const contact::Solutions solutions = contact::solve(group.problems, arguments.options, device);
  summary.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary.add(group.problems, solutions);
  if (arguments.output.empty()) return;
  write_group(group, solutions,
              {.method = contact::to_string(arguments.options.method),
               .tolerance = arguments.options.tol,
               .device = summary.device,
               .version = GARRA_VERSION});
  for (const Part& part : group.parts) summary.outputs.push_back(part.output);
}

/// The exit codes that are not about a failure on the way, but about its result.
void judge(const SolveArguments& arguments, const ContactSummary& s) {
  if (!s.unreadable.empty()) {
    throw Error(s.unreadable[0].error.code(),
                std::to_string(s.unreadable.size()) + " of " +
                    std::to_string(arguments.inputs.size()) +
                    " files could not be read, the first: " + s.unreadable[0].error.what());
  }
  const std::int64_t unsolved = s.problems - s.solved();
  if (static_cast<double>(unsolved) > arguments.max_unsolved * static_cast<double>(s.problems)) {
    throw Error(ExitCode::kTooManyUnsolved,
                std::to_string(unsolved) + " of " + std::to_string(s.problems) + " problems are unsolved",
                "Raise --max-iterations, --tol or --max-unsolved, or try another --method; `status` in the solution "
                "file names the reason for each problem.");
  }
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (int i = 0; i < contact::kMethodCount; ++i) names.emplace_back(to_string(static_cast<contact::Method>(i)));
  return names;
}

contact::Method method_of(const SolveArguments& arguments) {
  const std::vector<std::string> names = method_names();
  const auto found = std::find(names.begin(), names.end(), arguments.method);
  if (found == names.end()) {
    throw Error(ExitCode::kUsage, "--method " + io::quoted(arguments.method) + ": there is no such method",
                io::suggest(arguments.method, names, "Methods"));
  }
  const auto method = static_cast<contact::Method>(found - names.begin());
  if (arguments.options.starts > 1 && !minimizes(method)) {
    std::string with_starts;
    for (int i = 0; i < contact::kMethodCount; ++i) {
      if (!minimizes(static_cast<contact::Method>(i))) continue;
      with_starts += (with_starts.empty() ? "" : ", ") + names[static_cast<std::size_t>(i)];
    }
    throw Error(
        ExitCode::kUsage,
        "--starts " + std::to_string(arguments.options.starts) + ": the method " + arguments.method + " starts once",
        "Leave --starts out, or choose a --method that minimizes a merit function: " + with_starts + ".");
  }
  return method;
}

void run_solve(SolveArguments arguments) {
  const Device device = parse_device(arguments.device, arguments.threads);
  arguments.options.method = method_of(arguments);
  check_outputs(arguments);
  ContactSummary summary;
  summary.options = arguments.options;
  summary.device = describe(device);
  summary.output = arguments.output;
  summary.inputs = arguments.inputs.size();
  const Groups groups = read_inputs(arguments, summary);
  for (const auto& [contacts, group] : groups) solve_group(arguments, device, group, summary);
  if (arguments.format == "json") {
    print_json(summary);
  } else {
    print_human(summary);
  }
  std::fflush(stdout);
  judge(arguments, summary);
}

std::string method_help() {
  std::string text;
  for (const std::string& name : method_names()) text += (text.empty() ? "" : ", ") + name;
  return text + " (for problems whose contacts all slide)";
}

void add_method_options(CLI::App& command, SolveArguments& arguments) {
  command.add_option("--method", arguments.method, method_help())->capture_default_str()->type_name("NAME");
  command
      .add_option("--starts", arguments.options.starts,
                  "methods that minimize a merit function: starts before a problem counts as unsolved")
      ->transform(whole_number())
      ->capture_default_str();
  command.add_flag("--count-solutions", arguments.options.count_solutions,
                   "count each problem's solutions by enumeration (all contacts slide)");
}

void add_solve_options(CLI::App& command, SolveArguments& arguments) {
  command
      .add_option("inputs", arguments.inputs,
                  "problem files (HDF5: A, b, mu; mode and slip_velocity where contacts slide), or local files of "
                  "FCLIB")
      ->required()
      ->type_name("IN.h5");
  command
      .add_option("-o,--output", arguments.output,
                  "solution file; a folder where there are several inputs")
      ->type_name("OUT.h5");
  command.add_option("--device", arguments.device, "auto, cpu, scalar, cuda or cuda:1")
      ->capture_default_str();
  command.add_option("--threads", arguments.threads, "processor threads, 0 for all")
      ->transform(thread_count())
      ->capture_default_str();
  command.add_option("--tol", arguments.options.tol, "solved: scale-invariant residual <= tol")
      ->check(positive_number())
      ->capture_default_str();
  command
      .add_option("--max-iterations", arguments.options.max_iterations,
                  "outer iterations per problem, over all stages and starts; default: the method's own limit")
      ->transform(whole_number());
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
  add_method_options(*solve, *arguments);
  solve->footer(
      "Examples:\n"
      "  garra contact solve data/reference/contact/random_n3.h5 -o solutions.h5\n"
      "  garra contact solve fclib/*.hdf5 -o solutions/ --method projected-lm --starts 20 --max-unsolved 0 --format "
      "json");
  solve->callback([arguments] { run_solve(*arguments); });
  add_contact_bench_command(*contact);
  add_contact_tables(*contact);
}

}  // namespace garra::cli
