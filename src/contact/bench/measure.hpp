// Measures one solver on one set of contact problems.
#pragma once

#include "contact/bench/record.hpp"

namespace garra::cli {

/// Measures one of garra's methods or pairs, in this process: problem after problem on the scalar executor, then the
/// throughput of the batch in lanes and on the chosen device.
[[nodiscard]] SolverRecord measure_method(const contact::Problems& problems, const std::string& method,
                                          const MeasureOptions& options);

}  // namespace garra::cli
