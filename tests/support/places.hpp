/// Where the sources and the program lie. Functions and not macros: a macro with the folder of the clone in it would be
/// an argument of every compilation, and a compiler cache would find nothing of another clone.
#pragma once

#include <string>

namespace garra::test {

/// The folder of the source tree, without a slash at its end.
std::string source_folder();

/// The program `garra` that was built with the tests.
std::string program();

}  // namespace garra::test
