// Iterations of the method `auto` if no limit is given.
#pragma once

namespace garra::contact {

/// With bounded effort, and without a bound.
inline constexpr int kBoundedIterations = 3000, kFullIterations = 1 << 30;
[[nodiscard]] constexpr int own_limit(bool full_effort) { return full_effort ? kFullIterations : kBoundedIterations; }

}  // namespace garra::contact
