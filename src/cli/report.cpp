#include "cli/report.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace garra::cli {

namespace {

namespace fs = std::filesystem;

/// Where the program was built or unpacked: python/ lies next to its folder.
fs::path project_root() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
}

std::string python_program() {
  if (const char* chosen = std::getenv("GARRA_PYTHON")) return chosen;
  const fs::path venv = project_root() / ".venv/bin/python";
  return fs::exists(venv) ? venv.string() : "python3";
}

/// This environment, with the project's Python package found first.
std::vector<std::string> environment() {
  std::vector<std::string> list;
  std::string path = "PYTHONPATH=" + (project_root() / "python").string();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (text.rfind("PYTHONPATH=", 0) == 0)
      path.append(":").append(text, 11);
    else
      list.push_back(text);
  }
  list.push_back(path);
  return list;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// Whether the process ended well. Started without a shell: a folder may have any name.
bool run_quietly(std::vector<std::string> command, bool quiet) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (quiet) posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<std::string> variables = environment();
  pid_t child = 0;
  const int rc =
      posix_spawnp(&child, command[0].c_str(), &files, nullptr, pointers(command).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  if (rc != 0) return false;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

bool make_bench_report(const std::string& folder, bool quiet) {
  return run_quietly({python_program(), "-m", "garra.bench_report", folder}, quiet);
}

bool make_singularity_page(const std::string& item, const std::string& page, bool quiet) {
  return run_quietly({python_program(), "-m", "garra.singularity_page", item, page}, quiet);
}

bool make_report(const std::string& run, bool quiet) {
  return run_quietly({python_program(), "-m", "garra.report", run}, quiet);
}

}  // namespace garra::cli
