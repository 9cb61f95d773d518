// summary.json of a grasp study: the result and nothing else, so that it is the same bytes however it was computed.
#include <cmath>
#include <nlohmann/json.hpp>

#include "systems/grasp_study.hpp"
#include "systems/study_summary.hpp"

namespace garra::grasp {

namespace {

using Json = nlohmann::ordered_json;
using study::at;
using study::describe;
using study::distribution;
using study::Histogram;
using study::number;
using study::Tally;

Json contacts(const Layout& l, const Tally& t) {
  Json list = Json::array();
  for (int j = 0; j < l.contacts; ++j) {
    Json c;
    c["name"] = "contact " + std::to_string(j + 1);
    c["stick"] = at(t, l.state + 3 * j);
    c["slip"] = at(t, l.state + 3 * j + 1);
    c["break"] = at(t, l.state + 3 * j + 2);
    c["fails_first"] = at(t, l.first + j);
    c["normal_force"] = distribution(t, l.force[j], "N", t.sums.data() + 2 * j);
    Json rows = Json::array();
    for (int y = 0; y < kConeBins; ++y) {
      Json row = Json::array();
      for (int x = 0; x < kConeBins; ++x) row.push_back(at(t, l.cone + (j * kConeBins + y) * kConeBins + x));
      rows.push_back(row);
    }
    c["cone"] = {{"bins", kConeBins}, {"extent", kConeExtent}, {"counts", rows}};
    list.push_back(c);
  }
  return list;
}

Json metrics(const Layout& l, const Tally& t) {
  static constexpr const char* name[kMetrics] = {"friction_margin", "critical_friction", "load_factor", "wrench_radius",
                                                 "minimum_squeeze"};
  static constexpr const char* unit[kMetrics] = {"1", "1", "1", "N", "N"};
  Json j;
  for (int k = 0; k < kMetrics; ++k)
    j[name[k]] = distribution(t, l.metric[k], unit[k], t.sums.data() + 2 * (l.contacts + k));
  return j;
}

/// P(hold) if every contact had the same friction coefficient: the distribution function of the critical friction.
Json held_against_friction(const Layout& l, const Tally& t) {
  const Histogram& h = l.metric[kCritical];
  std::int64_t total = at(t, h.offset + h.bins) + at(t, h.offset + h.bins + 1);
  for (int k = 0; k < h.bins; ++k) total += at(t, h.offset + k);
  Json j;
  std::int64_t below = at(t, h.offset + h.bins);
  for (int k = 0; k <= h.bins; ++k) {
    const study::Interval i = study::wilson(below, total);
    j["friction"].push_back(h.low + (h.high - h.low) * k / h.bins);
    j["probability"].push_back(total > 0 ? number(static_cast<double>(below) / static_cast<double>(total)) : Json(nullptr));
    j["low"].push_back(i.low);
    j["high"].push_back(i.high);
    if (k < h.bins) below += at(t, h.offset + k);
  }
  return j;
}

/// First-order Sobol index of the indicator "held": variance of its mean over the quantile bins of the input, less what
/// that would be by chance, over its whole variance. `noise` is two standard deviations of an input without influence.
Json input(const Layout& l, const Tally& t, const Input& in, int k) {
  std::int64_t held = 0, decided = 0;
  Json bins = {{"value", Json::array()}, {"held", Json::array()}, {"decided", Json::array()}};
  for (int b = 0; b < kQuantileBins; ++b) {
    const auto h = at(t, l.held_bin + k * kQuantileBins + b), n = at(t, l.decided_bin + k * kQuantileBins + b);
    held += h;
    decided += n;
    bins["value"].push_back(number(study::quantile(in.distribution, (b + 0.5) / kQuantileBins)));
    bins["held"].push_back(h);
    bins["decided"].push_back(n);
  }
  const double n = static_cast<double>(decided), p = n > 0 ? static_cast<double>(held) / n : 0;
  double between = 0;
  for (int b = 0; b < kQuantileBins; ++b) {
    const auto nb = static_cast<double>(at(t, l.decided_bin + k * kQuantileBins + b));
    if (nb == 0) continue;
    const double d = static_cast<double>(at(t, l.held_bin + k * kQuantileBins + b)) / nb - p;
    between += nb * d * d;
  }
  const double variance = n * p * (1 - p), chance = n > 0 ? (kQuantileBins - 1) / n : 0;
  Json j;
  j["name"] = in.name;
  j["unit"] = in.unit;
  j["distribution"] = describe(in.distribution);
  j["influence"] = variance > 0 ? std::max(0.0, between / variance - chance) : 0.0;
  j["noise"] = n > 0 ? 2 * std::sqrt(2.0 * (kQuantileBins - 1)) / n : 0.0;
  j["bins"] = bins;
  return j;
}

Json solver(const Scenario& s, const Layout& l, const Tally& t) {
  Json j, steps = Json::array();
  double sum = 0, n = 0;
  for (int k = 0; k < kIterationBins; ++k) {
    const auto c = at(t, l.iterations + k);
    steps.push_back(c);
    sum += k * static_cast<double>(c);
    n += static_cast<double>(c);
  }
  double worst = 0;
  for (const auto& e : t.worst.list())
    if (e.outcome != static_cast<int>(Outcome::kUnsolved)) worst = std::max(worst, e.value);
  Json counts = Json::array();
  for (int k = 0; k < l.residual.bins; ++k) counts.push_back(at(t, l.residual.offset + k));
  j["method"] = "auto";
  j["tol"] = s.tol;
  j["worst_residual"] = number(worst);
  j["residual_log10"] = {{"low", l.residual.low}, {"high", l.residual.high}, {"counts", counts},
                         {"above", at(t, l.residual.offset + l.residual.bins + 1)}};
  j["iterations"] = {{"counts", steps}};
  j["mean_iterations"] = n > 0 ? sum / n : 0.0;
  return j;
}

Json ranking(const study::Ranking& r, const char* key) {
  Json list = Json::array();
  for (const auto& e : r.list())
    list.push_back({{"sample", e.sample}, {"outcome", to_string(static_cast<Outcome>(e.outcome))}, {key, number(e.value)}});
  return list;
}

/// Estimates after a growing number of blocks, so that the curve does not depend on the size of chunks.
Json convergence(const study::Total& t) {
  Json j = {{"samples", Json::array()}, {"probability", Json::array()}, {"low", Json::array()}, {"high", Json::array()}};
  const std::size_t blocks = t.block_sums.size();
  double held = 0, unsolved = 0;
  std::size_t next = 1;
  for (std::size_t b = 1; b <= blocks; ++b) {
    held += t.block_sums[b - 1][0];
    unsolved += t.block_sums[b - 1][1];
    if (b < next && b < blocks) continue;
    next = std::max(b + 1, b + b / 12);  // about 30 points per decade
    const auto n = std::min(t.count, static_cast<std::int64_t>(b) * study::kBlock);
    const auto u = static_cast<std::int64_t>(unsolved), h = static_cast<std::int64_t>(held);
    const study::Interval i = study::wilson_with_unsolved(h, n - u, u);
    j["samples"].push_back(n);
    j["probability"].push_back(number(held / static_cast<double>(n - u)));
    j["low"].push_back(i.low);
    j["high"].push_back(i.high);
  }
  return j;
}

}  // namespace

study::Estimate Study::estimate(const study::Total& t) const {
  const auto held = at(t, layout_.outcome + static_cast<int>(Outcome::kHeld));
  const auto unsolved = at(t, layout_.outcome + static_cast<int>(Outcome::kUnsolved));
  const auto decided = t.count - unsolved;
  return {decided > 0 ? static_cast<double>(held) / static_cast<double>(decided) : NAN,
          study::wilson_with_unsolved(held, decided, unsolved)};
}

double Study::widest_interval(const study::Total& t) const {
  const study::Interval i = estimate(t).interval;
  return i.high - i.low;
}

double Study::unsolved_share(const study::Total& t) const {
  if (t.count == 0) return 0;
  return static_cast<double>(at(t, layout_.outcome + static_cast<int>(Outcome::kUnsolved))) / static_cast<double>(t.count);
}

std::string Study::summary(const study::Total& total, const std::string& stopped_by) const {
  const Layout& l = layout_;
  Json j;
  j["schema"] = 1;
  j["job"] = "grasp";
  j["title"] = scenario_.title;
  j["seed"] = scenario_.plan.seed;
  j["samples"] = total.count;
  j["requested"] = scenario_.plan.samples;
  j["stopped_by"] = stopped_by;
  const study::Estimate e = estimate(total);
  j["held"] = {{"probability", number(e.probability)}, {"low", e.interval.low}, {"high", e.interval.high}, {"confidence", 0.95}};
  for (int k = 0; k < kOutcomes; ++k) j["outcomes"][to_string(static_cast<Outcome>(k))] = at(total, l.outcome + k);
  j["contacts"] = contacts(l, total);
  j["metrics"] = metrics(l, total);
  j["held_against_friction"] = held_against_friction(l, total);
  j["inputs"] = Json::array();
  for (std::size_t k = 0; k < inputs_.size(); ++k) j["inputs"].push_back(input(l, total, inputs_[k], static_cast<int>(k)));
  j["solver"] = solver(scenario_, l, total);
  j["convergence"] = convergence(total);
  j["closest"] = ranking(total.closest, "margin");
  const auto held = at(total, l.outcome);
  j["failures_kept"] = scenario_.plan.keep == "none" ? 0 : total.count - held;
  j["worst"] = ranking(total.worst, "residual");
  return j.dump(1) + "\n";
}

}  // namespace garra::grasp
