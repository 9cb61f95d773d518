// Pointer from the answer of a run to a sample.
#pragma once

#include <cstdint>
#include <string>

namespace garra::cli {

/// The run folder, and the sample of it to look at first (-1: none).
struct Look {
  std::string run;
  std::int64_t sample;
};

}  // namespace garra::cli
