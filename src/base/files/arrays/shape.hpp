// Shapes of arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace garra::io {

/// Numbers along each axis of a dataset, the slowest first.
using Shape = std::vector<std::uint64_t>;

/// "[500, 9, 9]"; "[]" for a single value.
[[nodiscard]] std::string to_string(const Shape& shape);

}  // namespace garra::io
