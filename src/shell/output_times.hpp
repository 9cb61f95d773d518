// When simulations end and are looked at: flags of commands whose options have `until` and `times`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "garra/core/error.hpp"
#include "shell/flags.hpp"

namespace garra::cli {

/// --until, --times, --every
template <class Options>
void add_output_times(Command command, Options& options, double& every) {
  command.add_option("--until", options.until, "end [s]").check(positive_number()).capture_default_str();
  const Option times = command.add_option("--times", options.times, "outputs [s]").delimiter(',').type_name("T,...");
  command.add_option("--every", every, "outputs at 0, this, twice this, ... [s]")
      .check(positive_number())
      .excludes(times);
}

/// The outputs that --every asks for; none where it was not given.
template <class Options>
void add_times_of(double every, Options& options) {
  if (every <= 0) return;
  if (options.until / every > 1e7) throw Error(ExitCode::kUsage, "--every asks for more than 1e7 outputs");
  // 1e-12: rounding of until / every must not lose the last output.
  const auto last = static_cast<std::int64_t>(std::floor(options.until / every * (1 + 1e-12)));
  for (std::int64_t k = 0; k <= last; ++k)
    // min: the last one may pass the end by rounding.
    options.times.push_back(std::min(options.until, static_cast<double>(k) * every));
}

}  // namespace garra::cli
