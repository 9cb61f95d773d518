// Runs the peer as a child process, which gets a file and a problem number, and answers line by line.
#include "contact/bench/siconos.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>

#include "garra/core/error.hpp"
#include "garra/io/problem_file.hpp"

namespace garra::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kStart = 1;    // [s] granted for loading the libraries
constexpr double kHangs = 0.5;  // share of the time limit that one problem may take before it counts as timed out
constexpr const char* kPrefix = "siconos-";  // before the peer's own names, whose _ become - as in ours

/// A child process whose output is read line by line. The destructor ends it.
class Child {
 public:
  explicit Child(std::vector<std::string> command) {
    int ends[2];
    if (pipe(ends) != 0) return;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclose(&files, ends[0]);
    posix_spawn_file_actions_addclose(&files, ends[1]);
    // posix_spawn takes pointers that it may write to.
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    // posix_spawn, not fork: this process has threads.
    if (posix_spawn(&pid_, command[0].c_str(), &files, nullptr, arguments.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    output_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      // SIGKILL, because a solver that hangs ignores other signals.
      kill(pid_, SIGKILL);
      wait();
    }
    if (output_ >= 0) close(output_);
  }

  enum class Read { kLine, kEnd, kTimeout };
  /// The next line, the end of the output, or nothing within `seconds`.
  Read read_line(double seconds, std::string& line) {
    const auto until = Clock::now() + std::chrono::duration<double>(std::max(seconds, 0.0));
    for (;;) {
      const std::size_t at = buffer_.find('\n');
      if (at != std::string::npos) {
        line = buffer_.substr(0, at);
        buffer_.erase(0, at + 1);
        return Read::kLine;
      }
      // A deadline, not a wait: slow output gets no more time than silence.
      const std::chrono::duration<double, std::milli> left = until - Clock::now();
      pollfd waiting{output_, POLLIN, 0};
      const int ready = poll(&waiting, 1, std::max(static_cast<int>(left.count()), 0));
      if (ready == 0) return Read::kTimeout;
      if (ready < 0 && errno != EINTR) return Read::kEnd;
      char block[65536];
      const ssize_t size = ready > 0 ? ::read(output_, block, sizeof block) : 0;
      if (ready > 0 && size <= 0) return Read::kEnd;
      buffer_.append(block, static_cast<std::size_t>(size));
    }
  }

  /// Waits for the end; whether it ended with code 0.
  bool ended_well() {
    const int status = wait();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  // Once: the number of a process that was waited for may be reused.
  int wait() {
    int status = 0;
    while (pid_ > 0 && waitpid(pid_, &status, 0) < 0)
      if (errno != EINTR) break;
    pid_ = -1;
    return status;
  }

  pid_t pid_ = -1;
  int output_ = -1;
  std::string buffer_;
};

/// A temporary folder, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "garra_bench_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw Error(ExitCode::kInputOutput, name + ": cannot create a temporary folder",
                  "Set TMPDIR to a place with room.");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

/// Answers of the process on the problems so far, in their order.
struct Answers {
  std::vector<Outcome> outcomes =
      {};  ///< endings before the certificate: converged (it says so) or gave up, crashed, ...
  std::vector<double> c = {};
  std::size_t rows = 0;  ///< numbers of c for each problem

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(outcomes.size()); }
  void add_failure(Ending ending, double seconds) {
    outcomes.push_back({ending, kNaN, seconds, 0});
    c.resize(c.size() + rows, kNaN);
  }
  void add_line(const std::string& line) {
    std::istringstream words(line);
    std::int64_t index = 0;
    // Not solved unless the line says so.
    int info = 1;
    Outcome outcome;
    words >> index >> info >> outcome.iterations >> outcome.seconds;
    outcome.ending = info == 0 ? Ending::kConverged : Ending::kGaveUp;
    outcomes.push_back(outcome);
    for (std::size_t i = 0; i < rows; ++i) {
      std::string word;
      words >> word;
      // strtod, since a stream does not read "nan".
      c.push_back(word.empty() ? kNaN : std::strtod(word.c_str(), nullptr));
    }
  }
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Reads answers of one process until it is done, dies or the time is up. False: start no further process.
bool read_answers(Child& child, std::int64_t count, double left, Answers& answers) {
  const auto start = Clock::now();
  auto last = start;
  std::string line;
  const std::int64_t before = answers.count();
  while (answers.count() < count) {
    // The start of the process is no part of the solver's time.
    const auto read = child.read_line(left + kStart - seconds_since(start), line);
    if (read == Child::Read::kLine) {
      answers.add_line(line);
      last = Clock::now();
      continue;
    }
    const double waited = seconds_since(last);
    if (read == Child::Read::kTimeout) {
      // A solver that has been quick so far and hits the limit has not failed at its current problem.
      if (waited > kHangs * left) answers.add_failure(Ending::kTimedOut, waited);
      return false;
    }
    // The next process continues behind the problem that killed this one, or that it did not answer.
    if (!child.ended_well() || answers.count() == before) answers.add_failure(Ending::kCrashed, waited);
    return true;
  }
  return false;
}

/// Checks the answers of Siconos with the certificate.
void check_answers(const contact::Problems& problems, const Answers& answers, double tolerance, SolverRecord& record) {
  // The same certificate as for our own solvers, regardless of the peer's report.
  const contact::Solutions checked = contact::check_solution(slice(problems, 0, answers.count()), answers.c, tolerance);
  record.outcomes = answers.outcomes;
  for (std::size_t i = 0; i < record.outcomes.size(); ++i) {
    Outcome& outcome = record.outcomes[i];
    if (outcome.ending == Ending::kCrashed || outcome.ending == Ending::kTimedOut) continue;
    const bool claimed = outcome.ending == Ending::kConverged;
    outcome.residual = checked.residual[i];
    outcome.ending = checked.status[i] == Status::kConverged ? Ending::kConverged
                     : claimed                               ? Ending::kFalseClaim
                                                             : Ending::kGaveUp;
  }
}

/// The peer's own name of a method.
std::string peer_name(const std::string& method) {
  std::string name = method.substr(std::string(kPrefix).size());
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

bool frictionless(const contact::Problems& problems) {
  return std::all_of(problems.mu.begin(), problems.mu.end(), [](double mu) { return mu == 0; });
}

}  // namespace

std::string siconos_program() {
  if (const char* chosen = std::getenv("GARRA_SICONOS")) return fs::exists(chosen) ? chosen : "";
  std::error_code ignored;
  const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path() / "garra_siconos";
  return fs::exists(beside) ? beside.string() : "";
}

std::vector<std::string> siconos_methods() {
  std::vector<std::string> names;
  const std::string program = siconos_program();
  if (program.empty()) return names;
  Child child({program});
  std::string line;
  while (child.read_line(10, line) == Child::Read::kLine) {
    std::replace(line.begin(), line.end(), '_', '-');
    names.push_back(kPrefix + line);
  }
  return names;
}

SolverRecord measure_siconos(const contact::Problems& problems, const std::string& method,
                             const MeasureOptions& options) {
  SolverRecord record{.name = method};
  // Peers know rolling contacts only; elimination leaves them problems with an unsymmetric A
  // (docs/theory/contact-solver.md).
  const contact::Problems rolling = contact::without_sliding(problems);
  if (method == std::string(kPrefix) + "lemke" && !frictionless(rolling)) {
    record.not_run = "only for problems whose contacts all slide";
    return record;
  }
  const TemporaryFolder folder;
  io::write_problems(folder.file("problems.h5"), rolling);
  std::ostringstream tolerance;
  // 17 digits: the very number.
  tolerance.precision(17);
  tolerance << options.tolerance;
  Answers answers{.rows = static_cast<std::size_t>(3 * problems.contacts)};
  const auto start = Clock::now();
  for (bool again = true; again && answers.count() < problems.count;) {
    const double left = options.time_limit - seconds_since(start);
    if (left <= 0 && answers.count() > 0) break;
    Child child({siconos_program(), peer_name(method), folder.file("problems.h5"), tolerance.str(),
                 std::to_string(answers.count())});
    again = read_answers(child, problems.count, left, answers);
  }
  check_answers(problems, answers, options.tolerance, record);
  return record;
}

}  // namespace garra::cli
