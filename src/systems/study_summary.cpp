#include "systems/study_summary.hpp"

#include <algorithm>
#include <cmath>

namespace garra::study {

std::int64_t at(const Tally& t, int i) { return t.counts[static_cast<std::size_t>(i)]; }

Json number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }

/// Quantile by linear interpolation within the histogram's bins; null where it lies outside of them.
Json quantile(const Tally& t, const Histogram& h, double p) {
  std::int64_t total = at(t, h.offset + h.bins) + at(t, h.offset + h.bins + 1);
  for (int k = 0; k < h.bins; ++k) total += at(t, h.offset + k);
  if (total == 0) return nullptr;
  double rest = p * static_cast<double>(total) - static_cast<double>(at(t, h.offset + h.bins));
  if (rest < 0) return nullptr;
  for (int k = 0; k < h.bins; ++k) {
    const auto n = static_cast<double>(at(t, h.offset + k));
    if (n > 0 && rest <= n) return h.low + (h.high - h.low) * (k + rest / n) / h.bins;
    rest -= n;
  }
  return nullptr;
}

Json distribution(const Tally& t, const Histogram& h, const std::string& unit, const double* sums) {
  Json j;
  std::int64_t inside = 0;
  Json counts = Json::array();
  for (int k = 0; k < h.bins; ++k) {
    counts.push_back(at(t, h.offset + k));
    inside += at(t, h.offset + k);
  }
  const auto below = at(t, h.offset + h.bins), above = at(t, h.offset + h.bins + 1);
  // Mean and spread of the finite values; infinite ones are counted in `below` or `above` only when sums are exact.
  const auto n = static_cast<double>(inside);
  const bool finite = below == 0 && above == 0 && inside > 0;
  const double mean = finite ? sums[0] / n : NAN;
  j["unit"] = unit;
  j["mean"] = number(mean);
  j["sd"] = number(finite ? std::sqrt(std::max(0.0, sums[1] / n - mean * mean)) : NAN);
  for (const char* p : {"0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99"})
    j["quantiles"][p] = quantile(t, h, std::stod(p));
  j["low"] = h.low;
  j["high"] = h.high;
  j["counts"] = counts;
  j["below"] = below;
  j["above"] = above;
  j["undefined"] = at(t, h.offset + h.bins + 2);
  return j;
}

std::string describe(const Distribution& d) {
  const auto n = [](double x) { return Json(x).dump(); };
  std::string s;
  switch (d.kind) {
    case Distribution::Kind::kConstant:
      return n(d.a);
    case Distribution::Kind::kUniform:
      s = "uniform(" + n(d.a) + ", " + n(d.b) + ")";
      break;
    case Distribution::Kind::kNormal:
      s = "normal(" + n(d.a) + ", " + n(d.b) + ")";
      break;
    case Distribution::Kind::kLognormal:
      s = "lognormal(" + n(d.a) + ", " + n(d.b) + ")";
      break;
    case Distribution::Kind::kBallRadius:
      s = "ball(" + n(d.a) + ")";
      break;
    case Distribution::Kind::kConeAngle:
      s = "cone(" + n(d.a) + ")";
      break;
  }
  return d.low > 0 || d.high < 1 ? s + ", truncated" : s;
}

}  // namespace garra::study
