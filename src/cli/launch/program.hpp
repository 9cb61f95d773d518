// The program without its main(), which lies elsewhere in a wheel (cli/launch).
#pragma once

/// The body of main(), under a name that can be looked up.
extern "C" [[gnu::visibility("default")]] int garra_program(int argc, char** argv);
