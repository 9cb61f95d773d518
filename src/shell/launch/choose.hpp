// Which of a wheel's libraries run here (cmake/isas.cmake): what the program and the Python package ask before they
// load them. Compiled for any x86-64, so it can be asked everywhere.
#pragma once

/// Their names, a space between two, in the order in which they are to be loaded: those of the instruction set that the
/// environment's GARRA_ISA wants, or of the widest that this processor has. Where that cannot be: null, and *problem
/// says why and what to do.
extern "C" const char* garra_libraries(const char** problem);
