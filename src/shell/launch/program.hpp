// The program but for its main(), which a wheel has elsewhere (shell/launch).
#pragma once

/// What main() does; by a name that can be looked up.
extern "C" [[gnu::visibility("default")]] int garra_program(int argc, char** argv);
