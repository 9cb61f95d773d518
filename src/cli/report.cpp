#include "cli/report.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/files/atomic_file.hpp"
#include "garra/core/error.hpp"

namespace garra::cli {

namespace {

namespace fs = std::filesystem;

/// The parent of the build or unpacked folder, which contains python/.
fs::path project_root() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
}

/// Folder of the Python package: python/ of a source tree, or share/garra/python of `cmake --install` or a Debian
/// package. In a wheel, whose program is garra/bin/garra, the folder that contains garra/. Empty if there is none
/// beside the program.
fs::path package_folder() {
  std::error_code ignored;
  const fs::path root = project_root();
  for (const fs::path& folder : {root / "python", root / "share/garra/python", root.parent_path()})
    if (fs::exists(folder / "garra/report.py", ignored)) return folder;
  return {};
}

/// The path as given, made absolute, because the child changes its folder.
std::string python_program() {
  std::error_code ignored;
  if (const char* chosen = std::getenv("GARRA_PYTHON")) {
    const std::string name = chosen;
    return name.find('/') == std::string::npos ? name : fs::absolute(name, ignored).string();
  }
  const fs::path venv = project_root() / ".venv/bin/python";
  return fs::exists(venv, ignored) ? venv.string() : "python3";
}

/// Command that runs a module of the project's own package and nothing else of ours. The current folder, the run folder
/// and PYTHONPATH may hold untrusted modules: -I keeps them out of sys.path, where a plain -m would put the current
/// folder first. The child changes to the project's folder, because matplotlib reads a matplotlibrc in its current one.
/// Without a package beside the program, the one installed in this Python is used.
std::vector<std::string> python_command(const std::string& module, const std::vector<std::string>& files) {
  static constexpr const char* kStart =
      "import importlib.util, os, runpy, sys\n"
      "folder, package, module = sys.argv[1:4]\n"
      "os.chdir(folder)\n"
      "if package: sys.path.insert(0, package)\n"
      "del sys.argv[1:4]\n"
      "if importlib.util.find_spec('garra') is None:\n"
      "    sys.exit('garra: its Python package is not beside the program, nor in ' + sys.executable + "
      "': `pip install garra` there, or name the Python that has it in GARRA_PYTHON')\n"
      "runpy.run_module(module, run_name='__main__', alter_sys=True)";
  std::vector<std::string> command = {python_program(),          "-I",  "-c", kStart, project_root().string(),
                                      package_folder().string(), module};
  std::error_code ignored;
  for (const std::string& file : files) command.push_back(fs::absolute(file, ignored).string());
  return command;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// Which streams of the process are shown.
enum class Shown { kNone, kErrors, kAll };

/// The exit code of the process, -1 if it did not start or end. Without a shell, because a folder may have any name.
int run_process(std::vector<std::string> command, Shown shown) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (shown != Shown::kAll) posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (shown == Shown::kNone) posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int rc = posix_spawnp(&child, command[0].c_str(), &files, nullptr, pointers(command).data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (rc != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The exit code of the Python that writes the page; a killed one leaves nothing beside it.
int make_page(const std::string& module, const std::vector<std::string>& files, const std::string& page, bool quiet) {
  const int code = run_process(python_command(module, files), quiet ? Shown::kNone : Shown::kErrors);
  if (code != 0) io::remove_abandoned(page);
  return code;
}

}  // namespace

bool make_bench_report(const std::string& folder, bool quiet) {
  return make_page("garra.bench_report", {folder}, folder + "/bench.html", quiet) == 0;
}

bool make_singularity_page(const std::string& item, const std::string& page, bool quiet) {
  return make_page("garra.singularity_page", {item, page}, page, quiet) == 0;
}

bool work_by_dask(const std::string& run, const std::string& address, bool quiet) {
  std::vector<std::string> command = python_command("garra.campaign", {run});
  std::error_code ignored;
  command.push_back(address);
  command.push_back(fs::read_symlink("/proc/self/exe", ignored).string());
  return run_process(std::move(command), quiet ? Shown::kNone : Shown::kErrors) == 0;
}

bool make_ranking_page(const std::string& ranking, const std::string& page, bool quiet) {
  return make_page("garra.ranking_page", {ranking, page}, page, quiet) == 0;
}

void run_module(const std::string& module, const std::string& task, const std::vector<std::string>& files,
                const std::string& output, const std::vector<std::string>& words) {
  std::vector<std::string> command = python_command(module, files);
  command.insert(command.end(), words.begin(), words.end());
  std::error_code ignored;
  if (!output.empty()) command.insert(command.end(), {"-o", fs::absolute(output, ignored).string()});
  const int code = run_process(std::move(command), Shown::kAll);
  if (code == 0) return;
  for (const ExitCode known : {ExitCode::kUsage, ExitCode::kInvalidFile, ExitCode::kInputOutput})
    if (code == static_cast<int>(known)) throw Error(known, task);
  throw Error(ExitCode::kInputOutput, task,
              "it needs Python 3 with numpy, matplotlib, jinja2, h5py: tools/setup installs them");
}

int make_report(const std::string& run, bool quiet) {
  return make_page("garra.report", {run}, run + "/report.html", quiet);
}

}  // namespace garra::cli
