#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "garra/core/error.hpp"

namespace {

using garra::Error;
using garra::ExitCode;

int finish(ExitCode code) { return static_cast<int>(code); }

/// The command whose help fits: the innermost one that was named.
std::string help_command(const CLI::App& app) {
  const auto used = app.get_subcommands();
  return app.get_name() + (used.empty() ? "" : " " + help_command(*used.front()));
}

/// CLI11's message, or the nearest subcommand or flag where something unknown was given.
int usage(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  const std::string unknown = garra::cli::unknown_word(app, argc, argv);
  if (unknown.empty())
    std::fprintf(stderr, "garra: %s\n  See `%s --help`.\n", error.what(), help_command(app).c_str());
  else
    std::fprintf(stderr, "%s\n", unknown.c_str());
  return finish(ExitCode::kUsage);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("garra: batched robotics solves on CPU lanes and CUDA", "garra");
  app.set_version_flag("--version", "garra " GARRA_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  garra run data/scenarios/three_puma_sphere.toml --samples 1000000\n"
      "  garra contact solve problems.h5 -o solutions.h5\n"
      "Exit codes: 0 done, 1 a requirement does not hold, 2 command line, 3 invalid file, 4 too many unsolved,\n"
      "  5 input/output, 6 no such device or memory, 70 internal error, 75 stopped early but resumable");
  garra::cli::add_run_commands(app);
  garra::cli::add_replay_command(app);
  garra::cli::add_check_command(app);
  garra::cli::add_contact_commands(app);
  garra::cli::add_chain_commands(app);
  garra::cli::add_grasp_commands(app);
  garra::cli::add_platform_commands(app);
  garra::cli::add_singularity_commands(app);
  garra::cli::add_doctor_command(app);
  std::signal(SIGXFSZ, SIG_IGN);  // a file grown too large is a failed write with a message, not a killed program
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return usage(app, error, argc, argv);
  } catch (const Error& error) {
    if (*error.what() != '\0') std::fprintf(stderr, "garra: %s\n", error.what());
    return finish(error.code());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "garra: out of memory\n  use smaller chunks (sampling.chunk) or fewer kept samples\n");
    return finish(ExitCode::kNoDevice);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "garra: internal error: %s\n  this is a bug; please report the command and the scenario\n",
                 error.what());
    return finish(ExitCode::kInternal);
  }
}
