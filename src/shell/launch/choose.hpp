// Which of a wheel's libraries runs here: what the program and the Python package ask before they load one. Compiled
// for any x86-64, so it can be asked everywhere.
#pragma once

/// "v2", "v3" or "v4": what the environment's GARRA_ISA wants, or the widest set that this processor has. Where that
/// cannot be: null, and *problem says why and what to do.
extern "C" const char* garra_choose_isa(const char** problem);
