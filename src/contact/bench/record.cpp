#include "contact/bench/record.hpp"

#include <algorithm>
#include <cmath>

namespace garra::cli {
namespace {

template <class T>
std::vector<T> slice_values(const std::vector<T>& values, std::int64_t first, std::int64_t last) {
  if (values.empty()) return {};
  return {values.begin() + first, values.begin() + last};
}

/// The quantile `share`: the smallest value that at least this share of them does not exceed.
template <class T>
T sample_quantile(std::vector<T> values, double share) {
  if (values.empty()) return T{};
  const auto n = static_cast<double>(values.size());
  const auto at = std::clamp(std::ceil(share * n) - 1, 0.0, n - 1);
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

}  // namespace

const char* to_string(Ending ending) {
  switch (ending) {
    case Ending::kGaveUp:
      return "gave_up";
    case Ending::kFalseClaim:
      return "false_claim";
    case Ending::kCrashed:
      return "crashed";
    case Ending::kTimedOut:
      return "timed_out";
    default:
      return to_string(static_cast<Status>(ending));
  }
}

contact::Problems slice(const contact::Problems& all, std::int64_t first, std::int64_t count) {
  const auto cut = [&](const auto& values, std::int64_t stride) {
    return slice_values(values, first * stride, (first + count) * stride);
  };
  const int k = all.contacts;
  return {.contacts = k,
          .count = count,
          .A = cut(all.A, 9 * k * k),
          .b = cut(all.b, 3 * k),
          .mu = cut(all.mu, k),
          .mode = cut(all.mode, k),
          .slip_velocity = cut(all.slip_velocity, 2 * k)};
}

Totals totals(const SolverRecord& record) {
  Totals out;
  std::vector<double> seconds;
  std::vector<std::int32_t> iterations;
  for (const Outcome& o : record.outcomes) {
    ++out.tried;
    out.solved += o.ending == Ending::kConverged;
    out.mean += o.seconds;
    seconds.push_back(o.seconds);
    iterations.push_back(o.iterations);
    out.most_iterations = std::max(out.most_iterations, o.iterations);
  }
  out.mean /= static_cast<double>(std::max<std::int64_t>(out.tried, 1));
  out.median = sample_quantile(seconds, 0.5);
  out.p999 = sample_quantile(seconds, 0.999);
  out.iterations = sample_quantile(iterations, 0.5);
  return out;
}

}  // namespace garra::cli
