#include "base/instruction_set.hpp"

#include <cstdlib>
#include <string>

#include "garra/core/error.hpp"
#include "garra/core/lanes.hpp"

namespace garra {

const char* instruction_set() {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
  return "x86-64-v4";
#elif defined(__AVX2__) && defined(__FMA__)
  return "x86-64-v3";
#elif defined(__SSE4_2__)
  return "x86-64-v2";
#else
  return "x86-64";
#endif
}

int lanes_of_doubles() { return kLanesPay ? Lanes<double>::kSize : 1; }

void require_wanted_instruction_set() {
  const char* set = std::getenv("GARRA_ISA");
  if (set == nullptr || *set == '\0') return;
  const std::string wanted = set, have = instruction_set();
  if (wanted != have && "x86-64-" + wanted != have)
    throw Error(ExitCode::kUsage, "GARRA_ISA=" + wanted + ": this build of garra has one instruction set, " + have,
                "unset GARRA_ISA, or take the wheel of tools/wheel, which has v2, v3 and v4");
}

}  // namespace garra
