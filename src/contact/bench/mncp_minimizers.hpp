// Runs the families of the MNCP test set with every merit function and minimizer, by those of contact/mcp.
#pragma once

#include <vector>

#include "contact/bench/mncp.hpp"
#include "garra/mncp.hpp"

namespace garra::cli {

/// Runs one merit function and minimizer on every problem of the set, in its order.
[[nodiscard]] std::vector<MncpResult> measure_mncp(const mncp::Choice& choice, double tolerance, int starts);

}  // namespace garra::cli

namespace garra::mncp {

/// Problems of one family, their numbers and starts.
struct RowJob {
  int family;
  Choice choice;
  Options options;
  batch::InColumn numbers, start;
  std::int64_t count;
  Device device;
};

[[nodiscard]] Solutions solve_rows(const RowJob& job);

}  // namespace garra::mncp
