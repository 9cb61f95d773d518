// Which instruction set this library is compiled for: one library each, never two in one program.
#pragma once

namespace garra {

/// "x86-64-v2", "x86-64-v3" (AVX2, FMA) or "x86-64-v4" (AVX-512), the widest that the compiler was allowed to use.
[[nodiscard]] const char* instruction_set();

/// Doubles in a register of lanes; 1 where lanes do not pay.
[[nodiscard]] int lanes_of_doubles();

/// Throws where the environment's GARRA_ISA names another one than this library's.
void require_wanted_instruction_set();

}  // namespace garra
