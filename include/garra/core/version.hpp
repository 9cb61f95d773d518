// The version of this library.
#pragma once

#include <string>
#include <string_view>

namespace garra {

/// The version as in CMakeLists.txt, "0.2.0". Only version.cpp is compiled with the number.
[[nodiscard]] const char* version();

/// Whether runs of these two versions have the same bits: equal major and minor number. A string
/// that is no version matches only itself.
[[nodiscard]] bool same_results(std::string_view a, std::string_view b);

/// Major and minor number of this library: "0.2". Every chunk of a run stores it.
[[nodiscard]] std::string results_version();

}  // namespace garra
