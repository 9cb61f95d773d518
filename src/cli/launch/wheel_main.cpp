// The program of a wheel: loads the libraries for this processor, then the rest of the program.
#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>

#include "cli/launch/choose.hpp"
#include "garra/core/error.hpp"

namespace {

int refuse(const char* problem, garra::ExitCode code) {
  std::fprintf(stderr, "garra: %s\n", problem);
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  const char* problem = nullptr;
  const char* libraries = garra_libraries(&problem);
  if (libraries == nullptr) return refuse(problem, garra::ExitCode::kUsage);
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib";
  // Their names for the loader do not depend on the choice: later libraries find earlier ones by these names.
  std::istringstream names(libraries);
  for (std::string name; names >> name;)
    if (dlopen((folder / name).c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
      return refuse(dlerror(), garra::ExitCode::kInternal);
  auto* const program = reinterpret_cast<int (*)(int, char**)>(dlsym(RTLD_DEFAULT, "garra_program"));
  return program == nullptr ? refuse(dlerror(), garra::ExitCode::kInternal) : program(argc, argv);
}
