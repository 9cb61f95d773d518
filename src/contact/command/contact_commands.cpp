// `garra contact solve`: reads problem files, writes solution files and a summary.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "base/files/atomic_file.hpp"
#include "base/files/suggest.hpp"
#include "cli/blocks.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "contact/command/merit.hpp"
#include "contact/command/solution_summary.hpp"
#include "contact/files/problem_stream.hpp"
#include "garra/contact.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"
#include "garra/io/problem_file.hpp"

namespace garra::cli {
namespace {

namespace fs = std::filesystem;

struct SolveArguments {
  std::vector<std::string> inputs;
  std::string output;                ///< empty: nothing is written
  std::vector<std::string> outputs;  ///< datasets; empty: all that the method has
  std::string device = "auto";
  int threads = 0;
  std::string method = contact::to_string(contact::Method::kAuto);
  std::string precision = "fp64", effort = "bounded";
  std::string merit, minimizer, start;  ///< empty: not given
  contact::Options options;
  double max_unsolved = 1;  ///< fails if unsolved / problems > max_unsolved
  std::string format = "human";
};

// A name that ends with / is a folder, too, even if it does not exist yet.
bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || fs::is_directory(path, ignored);
}

std::string output_path(const SolveArguments& arguments, const std::string& input) {
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

/// Checks everything about the outputs that can go wrong before the work starts.
void check_outputs(const SolveArguments& arguments) {
  if (arguments.output.empty()) return;
  if (arguments.inputs.size() > 1 && !is_folder(arguments.output)) {
    throw Error(ExitCode::kUsage, "-o " + arguments.output + ": several inputs need a folder for their solutions",
                "Give an existing folder, or a name that ends with / to create one.");
  }
  if (arguments.output.ends_with('/')) make_folder(arguments.output);
  std::set<std::string> outputs;
  for (const std::string& input : arguments.inputs) {
    const std::string output = output_path(arguments, input);
    std::error_code ignored;
    if (!outputs.insert(output).second) {
      throw Error(ExitCode::kUsage, output + ": two inputs of the same name would be written here",
                  "Solve them in two runs, into two folders.");
    }
    // equivalent() follows links: two names may be one file.
    if (fs::equivalent(input, output, ignored)) {
      throw Error(ExitCode::kUsage, output + ": the solutions would overwrite the problems", "Choose another -o.");
    }
    io::require_writable(output);
  }
}

/// The option that requires problems whose contacts all slide; empty if none does.
std::string needs_sliding(const contact::Options& options) {
  if (options.method == contact::Method::kLemke)
    return std::string("--method ") + contact::to_string(contact::Method::kLemke);
  return options.count_solutions ? "--count-solutions" : "";
}

void require_sliding(const contact::Options& options, const std::string& input, const io::ProblemStream& problems) {
  const std::string asked_by = needs_sliding(options);
  const std::vector<std::uint8_t>& mode = problems.mode();
  if (asked_by.empty() || problems.count() == 0) return;
  // Without modes every contact may roll: the first one is named.
  const auto rolls = mode.empty() ? mode.begin() : std::find(mode.begin(), mode.end(), std::uint8_t{0});
  if (!mode.empty() && rolls == mode.end()) return;
  const auto at = rolls - mode.begin();
  throw Error(ExitCode::kInvalidFile,
              input + ": dataset mode: " + asked_by + " is for problems whose contacts all slide, but problem " +
                  std::to_string(at / problems.contacts()) + ", contact " + std::to_string(at % problems.contacts()) +
                  " (counted from 0) may roll",
              "Leave " + asked_by +
                  " out (--method auto takes every problem), or keep only the problems whose `mode` "
                  "is 1 at every contact.");
}

/// A single bad file is an error at once; among several, the others are still solved.
std::unique_ptr<io::ProblemStream> open_or_note(const std::string& input, ContactSummary& summary) {
  try {
    return std::make_unique<io::ProblemStream>(input);
  } catch (const Error& error) {
    if (summary.inputs == 1) throw;
    summary.unreadable.push_back({input, error});
    return nullptr;
  }
}

/// Problems per block: a thread's data for one block fit into its L2 cache. A GPU takes as many as it can use.
std::int64_t choose_block_size(const Device& device, int contacts) {
  if (device.executor == Executor::kCuda) return std::int64_t{1} << 18;
  if (contacts > contact::kMaxOwnSize) return 64;
  return contacts <= 4 ? 512 : 256;
}

bool wants(const SolveArguments& arguments, const char* output) {
  const auto& names = arguments.outputs;
  return names.empty() || std::find(names.begin(), names.end(), output) != names.end();
}

/// Results to compute for the outputs; contact states are counted in the summary anyway.
contact::Wanted choose_outputs(const SolveArguments& arguments) {
  // Nothing is written: compute only what the summary counts.
  if (arguments.output.empty()) return {.c = false, .a = false, .merit = false};
  return {.c = wants(arguments, "c") || wants(arguments, "s"),
          .a = wants(arguments, "a") || wants(arguments, "lambda"),
          .merit = wants(arguments, "merit")};
}

/// A file that turned out to be damaged when its numbers were read.
struct Damaged {
  // Distinct from errors of solve(): only damage of a file itself lets the others go on.
  Error error;
};

/// Reads, solves and writes one file, by threads that each hold one block.
struct FileJob {
  const io::ProblemStream& in;
  io::SolutionStream* out;  ///< null: nothing is written
  const contact::Options& options;
  Device device;  ///< of one block
  ContactSummary& summary;
  std::mutex mutex = {};  ///< of the summary

  [[nodiscard]] auto worker() {
    return [this, problems = contact::Problems{}, solutions = contact::Solutions{}](std::int64_t first,
                                                                                    std::int64_t count) mutable {
      try {
        in.read(first, count, problems);
      } catch (const Error& error) {
        throw Damaged{error};
      }
      const double seconds = measure_seconds([&] { contact::solve(problems, options, device, solutions); });
      if (out != nullptr) out->write(first, problems, solutions);
      const std::scoped_lock lock(mutex);
      summary.seconds += seconds;
      summary.add(problems, solutions);
    };
  }
};

void solve_file(const SolveArguments& arguments, const Device& device, const std::string& input,
                const io::ProblemStream& in, ContactSummary& summary) {
  const std::string output = output_path(arguments, input);
  std::optional<io::SolutionStream> out;
  if (!output.empty())
    out.emplace(output, io::SolutionStream::Plan{in.contacts(), in.count(), arguments.outputs,
                                                 arguments.options.count_solutions});
  const bool one_thread = device.executor == Executor::kCuda;  // it feeds the GPU; packing uses all threads
  const Blocks blocks{in.count(), choose_block_size(device, in.contacts()), one_thread ? 1 : solve_threads(device)};
  Device of_block = device;
  // Threads are distributed over blocks, so each block is solved on the thread that reads it.
  if (!one_thread) of_block.threads = 1;
  // Only the seconds of this file are divided by its workers.
  const double before = std::exchange(summary.seconds, 0);
  FileJob job{in, out ? &*out : nullptr, arguments.options, of_block, summary};
  blocks.run([&] { return job.worker(); });
  summary.seconds = before + summary.seconds / blocks.workers();  // each solved its share at the same time
  if (!out) return;
  out->commit({.method = contact::describe_method(arguments.options),
               .tolerance = arguments.options.tolerance,
               .device = summary.device,
               .version = version()});
  summary.outputs.push_back(output);
}

void solve_files(const SolveArguments& arguments, const Device& device, ContactSummary& summary) {
  if (!needs_sliding(arguments.options).empty())  // checked before anything is solved
    for (const std::string& input : arguments.inputs)
      if (const auto in = open_or_note(input, summary)) require_sliding(arguments.options, input, *in);
  // Files that could not be opened are recorded again below, once.
  summary.unreadable.clear();
  for (const std::string& input : arguments.inputs) {
    const auto in = open_or_note(input, summary);
    try {
      if (in != nullptr) solve_file(arguments, device, input, *in, summary);
    } catch (const Damaged& damaged) {  // its solved problems stay in the counts
      if (summary.inputs == 1) throw damaged.error;
      summary.unreadable.push_back({input, damaged.error});
    }
  }
}

/// Exit codes that concern the result, not a failure on the way.
void check_unsolved(const SolveArguments& arguments, const ContactSummary& s) {
  if (!s.unreadable.empty()) {
    // With the code of the first, so that a script sees the kind of error.
    throw Error(s.unreadable[0].error.code(),
                std::to_string(s.unreadable.size()) + " of " + std::to_string(arguments.inputs.size()) +
                    " files could not be read, the first: " + s.unreadable[0].error.what());
  }
  const std::int64_t unsolved = s.problems - s.solved();
  // Compared as a product: without problems none is unsolved.
  if (static_cast<double>(unsolved) > arguments.max_unsolved * static_cast<double>(s.problems)) {
    throw Error(
        ExitCode::kTooManyUnsolved,
        std::to_string(unsolved) + " of " + std::to_string(s.problems) + " problems are unsolved",
        "Raise --max-iterations, --tolerance or --max-unsolved, or try another --method; `status` in the solution "
        "file names the reason for each problem.");
  }
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (int i = 0; i < contact::kMethodCount; ++i) names.emplace_back(to_string(static_cast<contact::Method>(i)));
  return names;
}

contact::Method find_method(const SolveArguments& arguments) {
  const std::vector<std::string> names = method_names();
  const auto found = std::find(names.begin(), names.end(), arguments.method);
  if (found == names.end()) {
    throw Error(ExitCode::kUsage, "--method " + io::quoted(arguments.method) + ": there is no such method",
                io::suggest(arguments.method, names, "Methods"));
  }
  const auto method = static_cast<contact::Method>(found - names.begin());
  if (arguments.options.starts > 1 && !contact::pair_of({.method = method})) {
    std::string with_starts;
    for (int i = 0; i < contact::kMethodCount; ++i) {
      if (!contact::pair_of({.method = static_cast<contact::Method>(i)})) continue;
      with_starts += (with_starts.empty() ? "" : ", ") + names[static_cast<std::size_t>(i)];
    }
    throw Error(
        ExitCode::kUsage,
        "--starts " + std::to_string(arguments.options.starts) + ": the method " + arguments.method + " starts once",
        "Leave --starts out, or choose a --method that minimizes a merit function: " + with_starts + ".");
  }
  return method;
}

/// Merit function, minimizer and first start, each for the methods that have it.
void find_pair(SolveArguments& arguments) {
  contact::Options& options = arguments.options;
  const auto refuse = [&](const std::string& flag, bool fits, const char* remedy) {
    if (!fits) throw Error(ExitCode::kUsage, flag + ": not for the method " + to_string(options.method), remedy);
  };
  const bool merit = options.method == contact::Method::kMerit;
  if (!arguments.merit.empty()) {
    refuse("--merit " + arguments.merit, merit, "Add --method merit.");
    options.merit = contact::parse_merit(arguments.merit);
  }
  if (!arguments.minimizer.empty()) {
    refuse("--minimizer " + arguments.minimizer, merit, "Add --method merit.");
    options.minimizer = contact::parse_minimizer(arguments.minimizer);
  }
  if (!arguments.start.empty()) {
    refuse("--start " + arguments.start, contact::pair_of(options).has_value(), "Add --method merit.");
    options.start = contact::parse_start(arguments.start);
  }
}

void check_names(const SolveArguments& arguments) {
  const std::vector<std::string>& names = io::solution_outputs();
  for (const std::string& name : arguments.outputs)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error(ExitCode::kUsage, "--outputs " + io::quoted(name) + ": there is no such output",
                  io::suggest(name, names, "Outputs"));
}

std::string output_help() {
  std::string text;
  for (const std::string& name : io::solution_outputs()) text += (text.empty() ? "" : ", ") + name;
  return text + "; status is always there. Default: all that the method has";
}

/// Estimated from the file sizes as for three contacts, since more contacts take little longer per byte.
double about_core_seconds(const std::vector<std::string>& files) {
  constexpr std::int64_t kProblem = 93 * sizeof(double);
  std::int64_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code error;  // said by who reads it
    const auto size = std::filesystem::file_size(file, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  return core_seconds::contacts(bytes / kProblem, 3);
}

void run_solve(SolveArguments arguments) {
  const Device device =
      parse_device_for_arrays(arguments.device, arguments.threads, about_core_seconds(arguments.inputs));
  arguments.options.method = find_method(arguments);
  find_pair(arguments);
  arguments.options.precision = contact::parse_precision(arguments.precision);
  arguments.options.full_effort = contact::parse_effort(arguments.effort);
  check_outputs(arguments);
  ContactSummary summary;
  summary.options = arguments.options;
  summary.device = describe(device);
  summary.output = arguments.output;
  summary.inputs = arguments.inputs.size();
  check_names(arguments);
  arguments.options.wanted = choose_outputs(arguments);
  summary.elapsed = measure_seconds([&] { solve_files(arguments, device, summary); });
  if (arguments.format == "json") {
    print_json(summary);
  } else {
    print_human(summary);
  }
  // Prints the summary before check() may throw.
  std::fflush(stdout);
  check_unsolved(arguments, summary);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string method_help() { return joined(method_names()) + " (for problems whose contacts all slide)"; }

void add_method_options(Command command, SolveArguments& arguments) {
  command.add_option("--method", arguments.method, method_help()).capture_default_str().type_name("NAME");
  command
      .add_option("--precision", arguments.precision,
                  "fp64; mixed: steps in single precision first, the last in double (auto, semismooth-newton; up to 8 "
                  "contacts)")
      .check(one_of({"fp64", "mixed"}))
      .capture_default_str();
  const auto enumerators = [](const auto& all) { return std::vector<std::string>(all.begin(), all.end()); };
  const auto merits = enumerators(names_of(contact::Merit{})), minimizers = enumerators(names_of(contact::Minimizer{})),
             starts = enumerators(names_of(contact::Start{}));
  command
      .add_option("--merit", arguments.merit,
                  "merit: function to be minimized: " + joined(merits) + "; default: fischer-burmeister")
      .check(one_of(merits));
  command
      .add_option("--minimizer", arguments.minimizer,
                  "merit: its minimizer in the box: " + joined(minimizers) + "; default: projected-lm")
      .check(one_of(minimizers));
  command
      .add_option("--start", arguments.start,
                  "methods that minimize a merit function: the first start: " + joined(starts) + "; default: own")
      .check(one_of(starts));
  add_effort(command, arguments.effort);
  command
      .add_option("--starts", arguments.options.starts,
                  "methods that minimize a merit function: starts before a problem counts as unsolved; default: the "
                  "pair's own number")
      .transform(whole_number());
  command.add_flag("--count-solutions", arguments.options.count_solutions,
                   "count each problem's solutions by enumeration (all contacts slide)");
}

void add_solve_options(Command command, SolveArguments& arguments) {
  command
      .add_option("inputs", arguments.inputs,
                  "problem files (HDF5: A, b, mu; mode and slip_velocity where contacts slide), or local files of "
                  "FCLIB")
      .required()
      .type_name("IN.h5");
  command.add_option("-o,--output", arguments.output, "solution file; a folder where there are several inputs")
      .type_name("OUT.h5");
  command.add_option("--outputs", arguments.outputs, output_help()).delimiter(',').type_name("NAME,...");
  command.add_option("--device", arguments.device, "auto, cpu, scalar, cuda or cuda:1").capture_default_str();
  command.add_option("--threads", arguments.threads, "processor threads, 0 for all")
      .transform(thread_count())
      .capture_default_str();
  command
      .add_option("--tolerance", arguments.options.tolerance,
                  "solved: the forces are exact for a load that differs by at most this share")
      .check(positive_number())
      .capture_default_str();
  command
      .add_option("--max-iterations", arguments.options.max_iterations,
                  "outer iterations per problem, over all stages, solvers and starts; default: the method's own limit")
      .transform(whole_number());
  command.add_option("--max-unsolved", arguments.max_unsolved, "exit code 4 where a larger share is unsolved")
      .check(share())
      .capture_default_str();
  command.add_option("--format", arguments.format, "human or json")
      .check(one_of({"human", "json"}))
      .capture_default_str();
}

}  // namespace

void add_contact_commands(Command app) {
  Command contact = app.add_subcommand("contact", "Raw friction contact problems from files");
  contact.require_subcommand();
  contact.footer(
      "Examples:\n"
      "  garra contact solve data/reference/contact/random_n3.h5 -o solutions.h5\n"
      "  garra contact solve run-three_puma_sphere/failures/*.h5");
  Command solve = contact.add_subcommand("solve", "Solve problem files: a = A c + b with Coulomb friction");
  const auto arguments = std::make_shared<SolveArguments>();
  add_solve_options(solve, *arguments);
  add_method_options(solve, *arguments);
  solve.footer(
      "Examples:\n"
      "  garra contact solve data/reference/contact/random_n3.h5 -o solutions.h5\n"
      "  garra contact solve fclib/*.hdf5 -o solutions/ --method projected-lm --starts 20 --max-unsolved 0 --format "
      "json\n"
      "  garra contact solve problems.h5 --method merit --merit second-order-cone --minimizer spg-newton");
  solve.callback([arguments] { run_solve(*arguments); });
  add_contact_merit_command(contact);
  add_contact_bench_command(contact);
  add_contact_tables(contact);
}

}  // namespace garra::cli
