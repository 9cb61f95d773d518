// The version of this library.
#pragma once

#include <string>
#include <string_view>

namespace garra {

/// "0.2.0", as CMakeLists.txt has it. The only source file that is compiled with the number is version.cpp.
[[nodiscard]] const char* version();

/// Whether runs of these two versions have the same bits: equal major and minor number. A text that is no version is
/// the same as itself only.
[[nodiscard]] bool same_results(std::string_view a, std::string_view b);

/// Major and minor number of this library: "0.2". It stands in every chunk of a run.
[[nodiscard]] std::string results_version();

}  // namespace garra
