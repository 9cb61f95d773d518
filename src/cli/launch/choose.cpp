#include "cli/launch/choose.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Set {
  const char* name;
  const char* libraries;
  bool here;
};

// Kernels come last, because the library they register with must be loaded.
#ifdef GARRA_WITH_CUDA
#define GARRA_REST " libgarra-host.so libgarra-cuda.so"
#else
#define GARRA_REST " libgarra-host.so"
#endif

char said[256];

const char* refuse(const char** problem) {
  *problem = said;
  return nullptr;
}

}  // namespace

extern "C" const char* garra_libraries(const char** problem) {
  __builtin_cpu_init();
  // Widest first. The builtin also asks whether the operating system saves the wide registers.
  const Set sets[] = {{"v4", "libgarra-v4.so libgarra-fma.so" GARRA_REST, __builtin_cpu_supports("x86-64-v4") != 0},
                      {"v3", "libgarra-v3.so libgarra-fma.so" GARRA_REST, __builtin_cpu_supports("x86-64-v3") != 0},
                      {"v2", "libgarra-v2.so" GARRA_REST, __builtin_cpu_supports("x86-64-v2") != 0}};
  const Set* widest = nullptr;
  for (const Set& set : sets)
    if (set.here && widest == nullptr) widest = &set;
  if (widest == nullptr) {
    std::snprintf(said, sizeof said,
                  "this processor lacks x86-64-v2 (SSE4.2, POPCNT), which garra needs: every x86-64 since 2011 has it");
    return refuse(problem);
  }
  const char* wanted = std::getenv("GARRA_ISA");
  if (wanted == nullptr || *wanted == '\0') return widest->libraries;
  if (std::strncmp(wanted, "x86-64-", 7) == 0) wanted += 7;
  for (const Set& set : sets) {
    if (std::strcmp(wanted, set.name) != 0) continue;
    if (set.here) return set.libraries;
    std::snprintf(said, sizeof said,
                  "GARRA_ISA=%s: this processor does not have it; unset GARRA_ISA for its widest, %s", wanted,
                  widest->name);
    return refuse(problem);
  }
  std::snprintf(said, sizeof said, "GARRA_ISA=%.40s: no such instruction set; use v2, v3 or v4, or unset it for %s",
                wanted, widest->name);
  return refuse(problem);
}
