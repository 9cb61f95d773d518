// The program of a wheel: loads the library for this processor, then the rest of the program.
#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "garra/core/error.hpp"
#include "shell/launch/choose.hpp"

namespace {

int refuse(const char* problem, garra::ExitCode code) {
  std::fprintf(stderr, "garra: %s\n", problem);
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  const char* problem = nullptr;
  const char* isa = garra_choose_isa(&problem);
  if (isa == nullptr) return refuse(problem, garra::ExitCode::kUsage);
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib";
  // The first one's name for the loader is libgarra.so, whichever it is: the second one finds it by that.
  for (const std::string& name : {std::string("libgarra-") + isa + ".so", std::string("libgarra-host.so")})
    if (dlopen((folder / name).c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
      return refuse(dlerror(), garra::ExitCode::kInternal);
  auto* const program = reinterpret_cast<int (*)(int, char**)>(dlsym(RTLD_DEFAULT, "garra_program"));
  return program == nullptr ? refuse(dlerror(), garra::ExitCode::kInternal) : program(argc, argv);
}
