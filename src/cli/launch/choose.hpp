// Selects the libraries of a wheel that run here (cmake/isas.cmake), before the program or the Python package loads
// them. Compiled for any x86-64, so it runs everywhere.
#pragma once

/// Names of the libraries in loading order, separated by a space. The instruction set is that of the environment's
/// GARRA_ISA, or the widest that this processor has. On failure null, and *problem has the reason and the remedy.
extern "C" const char* garra_libraries(const char** problem);
