// The instruction set that this library is compiled for. Each set has its own library; a program links one.
#pragma once

namespace garra {

/// "x86-64-v2", "x86-64-v3" (AVX2, FMA) or "x86-64-v4" (AVX-512), the widest that the compiler was allowed to use.
[[nodiscard]] const char* instruction_set();

/// Doubles in a SIMD register; 1 if SIMD lanes do not pay.
[[nodiscard]] int lanes_of_doubles();

/// Throws if the environment's GARRA_ISA names another instruction set than this library's.
void require_wanted_instruction_set();

}  // namespace garra
