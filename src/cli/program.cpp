#include "cli/launch/program.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/files/hdf5_errors.hpp"
#include "base/files/text_file.hpp"
#include "base/instruction_set.hpp"
#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"

namespace {

using garra::Error;
using garra::ExitCode;

int finish(ExitCode code) { return static_cast<int>(code); }

ExitCode complain(ExitCode code, const std::string& problem, const char* remedy) {
  std::fprintf(stderr, "garra: %s\n  %s\n", garra::cli::printable(problem).c_str(), remedy);
  return code;
}

/// Exit code of an exception, thrown to main or in a thread; the only place that defines it. A refusal by the file
/// system, the memory or process limits is no bug.
ExitCode report_exception(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    if (*error.what() != '\0') std::fprintf(stderr, "garra: %s\n", garra::cli::printable(error.what()).c_str());
    return error.code();
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(ExitCode::kInputOutput, error.path1().string() + ": " + error.code().message(),
                    "check the path and its permissions");
  } catch (const std::bad_alloc&) {
    return complain(ExitCode::kNoDevice, "out of memory",
                    "use smaller chunks (sampling.chunk), fewer kept samples (output.keep) or fewer --threads");
  } catch (const std::length_error&) {
    return complain(ExitCode::kNoDevice, "out of memory: a size is beyond any", "look for a wrong size in the input");
  } catch (const std::system_error& error) {
    return complain(ExitCode::kNoDevice, std::string("the system refuses: ") + error.what(),
                    "use fewer --threads, or raise the limits of this process (ulimit -a)");
  } catch (const std::exception& error) {
    return complain(ExitCode::kInternal, std::string("internal error: ") + error.what(),
                    "this is a bug; please report the command and the scenario");
  } catch (...) {
    return complain(ExitCode::kInternal, "internal error", "this is a bug; please report the command and the scenario");
  }
}

/// Ends the program for an uncaught exception: thrown while another one was active, or in a thread of a library.
[[noreturn]] void end_at_once() {
  const auto thrown = std::current_exception();
  std::_Exit(finish(thrown ? report_exception(thrown) : ExitCode::kInternal));
}

/// Before any other object is constructed, because these need memory, too.
[[gnu::constructor(101)]] void end_well() { std::set_terminate(end_at_once); }

bool ended_by_main = false;

/// The OpenMP library calls exit(1) if it gets no thread or no memory; 1 means something else here.
void after_exit() {
  if (ended_by_main) return;
  std::_Exit(finish(complain(ExitCode::kNoDevice, "the OpenMP library cannot go on (see above)",
                             "use fewer --threads, or raise the limits of this process (ulimit -a)")));
}

/// libhdf5 1.10 crashes on some damaged files (tests/fuzz/corpus/problems); the message then names the file.
void on_crash(int signal) {
  static constexpr char kSaid[] =
      "garra: the HDF5 library broke down: a file is damaged, or made to harm\n  Write or copy the file again.\n";
  if (garra::io::Hdf5Turn::is_at_work()) {
    (void)!::write(STDERR_FILENO, kSaid, sizeof kSaid - 1);
    ::_exit(finish(ExitCode::kInputOutput));
  }
  std::signal(signal, SIG_DFL);
  (void)std::raise(signal);
}

void watch_crashes() {
  static char stack[1 << 16];  // its own: the stack itself may be what has run out
  const stack_t place = {.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
  ::sigaltstack(&place, nullptr);
  struct sigaction action = {};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE}) ::sigaction(signal, &action, nullptr);
}

/// Opens closed standard streams such that every write to them fails. Otherwise the next file would take their number,
/// and printed text would go there.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) == -1) (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// Exit code that reports an answer that did not reach its reader.
ExitCode with_output(ExitCode code) {
  std::cout.flush();
  const bool lost = (std::fflush(stdout) != 0) | (std::ferror(stdout) != 0) | !std::cout;
  const bool unsaid = (std::fflush(stderr) != 0) | (std::ferror(stderr) != 0);
  const bool done = code == ExitCode::kDone || code == ExitCode::kRequirementFailed ||
                    code == ExitCode::kTooManyUnsolved || code == ExitCode::kStoppedResumable;
  if (!done || (!lost && !unsaid)) return code;
  return complain(ExitCode::kInputOutput, "the output cannot be written (disk full, or closed)",
                  "`garra resume RUN` prints the answer of a run again");
}

/// Names of files go into answers, which are UTF-8.
void require_utf8(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i)
    if (!garra::io::is_utf8(argv[i]))
      throw Error(ExitCode::kUsage, "argument " + std::to_string(i) + " is not UTF-8: " + argv[i],
                  "rename the file, or give the text as UTF-8");
}

int run(int argc, char** argv) {
  require_utf8(argc, argv);
  garra::require_wanted_instruction_set();
  garra::cli::CommandLine line("garra: batched robotics solves on CPU lanes and CUDA", "garra",
                               std::string("garra ") + garra::version());
  const garra::cli::Command app = line.program();
  app.require_subcommand();
  app.footer(
      "Examples:\n"
      "  garra run data/scenarios/three_puma_sphere.toml --samples 1000000\n"
      "  garra contact solve problems.h5 -o solutions.h5\n"
      "Exit codes: 0 done, 1 a requirement does not hold, 2 command line, 3 invalid file, 4 too many unsolved,\n"
      "  5 input/output, 6 no such device or memory, 70 internal error, 75 stopped early but resumable");
  garra::cli::add_run_commands(app);
  garra::cli::add_replay_command(app);
  garra::cli::add_submit_command(app);
  garra::cli::add_worker_command(app);
  garra::cli::add_status_command(app);
  garra::cli::add_verify_command(app);
  garra::cli::add_check_command(app);
  garra::cli::add_contact_commands(app);
  garra::cli::add_chain_commands(app);
  garra::cli::add_grasp_commands(app);
  garra::cli::add_platform_commands(app);
  garra::cli::add_singularity_commands(app);
  garra::cli::add_papers_commands(app);
  garra::cli::add_doctor_command(app);
  // `garra help run` is `garra run --help`.
  std::vector<const char*> words(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    words.erase(words.begin() + 1);
    words.push_back("--help");
  }
  return line.run(static_cast<int>(words.size()), words.data());
}

}  // namespace

int garra_program(int argc, char** argv) {
  occupy_closed_streams();
  watch_crashes();
  std::atexit(after_exit);
  std::signal(SIGXFSZ, SIG_IGN);  // a file grown too large is a failed write with a message, not a killed program
#ifdef __GLIBC__
  // Blocks of rows come and go: memory that is kept needs no new pages (a seventh of the time of a study that keeps
  // rows).
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
  // OMP_NUM_THREADS may ask for more threads than the system gives.
  if (omp_get_max_threads() > garra::most_threads()) omp_set_num_threads(garra::most_threads());
  ExitCode code = ExitCode::kInternal;
  try {
    code = static_cast<ExitCode>(run(argc, argv));
  } catch (...) {
    code = report_exception(std::current_exception());
  }
  // Last, because only flushing shows whether the answer has been written.
  code = with_output(code);
  ended_by_main = true;
  return finish(code);
}
