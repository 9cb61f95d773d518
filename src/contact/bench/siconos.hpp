// Runs Siconos as a further solver, in a separate process (garra_siconos): it may abort or hang, the benchmark may not.
#pragma once

#include <string>
#include <vector>

#include "contact/bench/record.hpp"

namespace garra::cli {

/// garra_siconos beside this program, or the path in GARRA_SICONOS; "" if there is none.
[[nodiscard]] std::string siconos_program();

/// Names of its methods; none without the program.
[[nodiscard]] std::vector<std::string> siconos_methods();

/// Problems with sliding contacts are solved without them (contact::without_sliding) and certified as given.
[[nodiscard]] SolverRecord measure_siconos(const contact::Problems& problems, const std::string& method,
                                           const MeasureOptions& options);

}  // namespace garra::cli
