// What the summaries of all studies are written with.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "garra/study/distribution.hpp"
#include "garra/study/tally.hpp"

namespace garra::study {

using Json = nlohmann::ordered_json;

[[nodiscard]] std::int64_t at(const Tally& t, int i);
/// null where it is not finite
[[nodiscard]] Json number(double x);
/// Quantile by linear interpolation within the histogram's bins; null where it lies outside of them.
[[nodiscard]] Json quantile(const Tally& t, const Histogram& h, double p);
/// A distribution of docs/run-folder.md; `sums` are the sum and the sum of squares of the values.
[[nodiscard]] Json distribution(const Tally& t, const Histogram& h, const std::string& unit, const double* sums);
/// "normal(1.0, 0.05)", ", truncated"
[[nodiscard]] std::string describe(const Distribution& d);

}  // namespace garra::study
