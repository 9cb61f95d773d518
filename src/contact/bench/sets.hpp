// The problem sets of a benchmark: built in, or from files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contact/bench/record.hpp"

namespace garra::cli {

inline constexpr const char* kMncpSet = "mncp";  ///< no contact problems: measured by bench_mncp

/// Request of problem sets, with the number of problems of each.
struct SetRequest {
  std::vector<std::string> names;  ///< sets, files or folders; empty: every built-in set
  std::int64_t problems = 200;     ///< of each built-in set
  std::int64_t most = 0;           ///< of each set from files; 0: all
  std::uint64_t seed = 0;
};

/// Sets in the order of the request. All files together make one set for each number of contacts, in an order drawn
/// from the seed, so that the head of a set is a fair sample. Throws Error(kUsage) for a name that is neither set nor
/// file.
[[nodiscard]] std::vector<SetRecord> read_sets(const SetRequest& request);
/// Whether the request names the MNCP set, or nothing at all.
[[nodiscard]] bool wants_mncp(const SetRequest& request);

}  // namespace garra::cli
