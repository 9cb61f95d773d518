#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/commands.hpp"
#include "garra/core/error.hpp"
#include "io/suggest.hpp"

namespace {

using garra::Error;
using garra::ExitCode;

int finish(ExitCode code) { return static_cast<int>(code); }

/// CLI11's message, with the nearest subcommand or flag where something unknown was given.
int usage(const CLI::App& app, const CLI::ParseError& error) {
  const int code = app.exit(error);
  return code == 0 ? 0 : finish(ExitCode::kUsage);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("garra: batched robotics solves on CPU lanes and CUDA");
  app.set_version_flag("--version", "garra " GARRA_VERSION);
  app.require_subcommand(1);
  app.footer("Examples:\n"
             "  garra run data/scenarios/three_puma_sphere.toml --samples 1000000\n"
             "  garra contact solve problems.h5 -o solutions.h5\n"
             "Exit codes: 0 done, 1 a requirement does not hold, 2 command line, 3 invalid file, 4 too many unsolved,\n"
             "  5 input/output, 6 no such device or memory, 70 internal error, 75 stopped early but resumable");
  garra::cli::add_run_commands(app);
  garra::cli::add_replay_command(app);
  garra::cli::add_check_command(app);
  garra::cli::add_contact_commands(app);
  garra::cli::add_doctor_command(app);
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return usage(app, error);
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
