// Counts the problems in a file, whether or not garra can solve them.
#pragma once

#include <cstdint>
#include <string>

namespace garra::io {

/// From the shape of A; 1 for any other file.
[[nodiscard]] std::int64_t count_problems(const std::string& path);

}  // namespace garra::io
