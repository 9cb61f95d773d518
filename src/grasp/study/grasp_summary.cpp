// summary.json of a grasp study: only results, so that its bytes do not depend on how they were computed.
#include <nlohmann/json.hpp>

#include "garra/grasp_set.hpp"
#include "grasp/sample/nominal.hpp"
#include "grasp/study/grasp_study.hpp"
#include "study/summary.hpp"

namespace garra::grasp {

namespace {

using Json = nlohmann::ordered_json;
using study::at;
using study::distribution;
using study::Histogram;
using study::number;
using study::Tally;

Json contacts_to_json(const Layout& l, const Tally& t) {
  Json list = Json::array();
  for (int j = 0; j < l.contacts; ++j) {
    Json c;
    c["name"] = "contact " + std::to_string(j);
    c["stick"] = at(t, l.state + 3 * j);
    c["slip"] = at(t, l.state + 3 * j + 1);
    c["break"] = at(t, l.state + 3 * j + 2);
    c["limiting_contact"] = at(t, l.first + j);
    c["normal_force"] = distribution(t, l.force[j], "N", 2 * static_cast<std::size_t>(j));
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
  Json j;
  study::for_each_row(kColumns, [&](const auto& row, int k) {
    j[row.words.name] = distribution(t, l.metric[k], row.words, 2 * static_cast<std::size_t>(l.contacts + k));
  });
  return j;
}

/// P(hold) if every contact had the same friction coefficient: the distribution function of the required friction.
Json held_against_friction(const Layout& l, const Tally& t) {
  const Histogram& h = l.metric[metric("required_friction")];
  // The distribution function starts with the counts below the axis and ends with those above it.
  std::int64_t total = at(t, h.offset + h.bins) + at(t, h.offset + h.bins + 1);
  for (int k = 0; k < h.bins; ++k) total += at(t, h.offset + k);
  Json j;
  std::int64_t below = at(t, h.offset + h.bins);
  for (int k = 0; k <= h.bins; ++k) {
    const study::Interval i = study::clopper_pearson(below, total);
    j["friction"].push_back(h.low + (h.high - h.low) * k / h.bins);
    j["probability"].push_back(total > 0 ? number(static_cast<double>(below) / static_cast<double>(total))
                                         : Json(nullptr));
    j["low"].push_back(i.low);
    j["high"].push_back(i.high);
    if (k < h.bins) below += at(t, h.offset + k);
  }
  return j;
}

Json input(const Layout& l, const Tally& t, const Input& in, int k) {
  const int bin = k * study::kInputBins;
  const study::InputCounts counts{l.held_bin + bin, l.decided_bin + bin};
  return study::input_json(t, counts, {in.name, in.unit, in.distribution});
}

Json solver(const Scenario& s, const Layout& l, const Tally& t) {
  Json j, steps = Json::array();
  double sum = 0, n = 0;
  std::int64_t beyond = 0;
  for (int k = 0; k < kIterationBins; ++k) {
    const auto c = at(t, l.iterations + k);
    steps.push_back(c);
    sum += k * static_cast<double>(c);
    n += static_cast<double>(c);
    if (k > solvers::kMaxNewtonSteps) beyond += c;
  }
  double worst = 0;
  // The residual of an unsolved sample is no measure of the answers.
  for (const auto& e : t.worst.list())
    if (e.outcome != static_cast<int>(Outcome::kUnsolved)) worst = std::max(worst, e.value);
  Json counts = Json::array();
  for (int k = 0; k < l.residual.bins; ++k) counts.push_back(at(t, l.residual.offset + k));
  j["method"] = s.method;
  j["tolerance"] = s.tolerance;
  j["worst_residual"] = number(worst);
  j["residual_log10"] = {{"low", l.residual.low},
                         {"high", l.residual.high},
                         {"counts", counts},
                         {"above", at(t, l.residual.offset + l.residual.bins + 1)}};
  j["iterations"] = {{"counts", steps}};
  if (s.method == "auto") {
    // The last bin has all larger numbers.
    const double after = t.sums.empty() ? 0 : t.sums[static_cast<std::size_t>(l.beyond_newton)];
    sum = after;
    for (int k = 0; k < kIterationBins; ++k)
      sum += std::min(k, solvers::kMaxNewtonSteps) * steps[static_cast<std::size_t>(k)].get<double>();
    j["beyond_newton"] = {{"samples", beyond}, {"share_of_iterations", sum > 0 ? after / sum : 0.0}};
  }
  const bool known = s.method == "auto" || steps.back() == 0;
  j["mean_iterations"] = known ? Json(n > 0 ? sum / n : 0.0) : Json(nullptr);
  return j;
}

Json ranking_to_json(const study::Ranking& r, const char* key) {
  Json list = Json::array();
  for (const auto& e : r.list())
    list.push_back(
        {{"sample", e.sample}, {"outcome", to_string(static_cast<Outcome>(e.outcome))}, {key, number(e.value)}});
  return list;
}

/// Estimate from a pair of counts: samples with the property, and undecided ones.
study::Estimate estimate_share(const study::Total& t, int pair) {
  // Undecided samples are no evidence either way and widen the interval.
  const auto open = at(t, pair + 1);
  const study::DecisionCounts all{at(t, pair), t.count - open, open};
  return study::make_estimate({&all, 1});
}

Json probability(const study::Estimate& e) {
  Json j = study::to_json(e);
  j["confidence"] = 0.95;
  return j;
}

Json words(const char* label, const char* meaning) { return {{"label", label}, {"meaning", meaning}}; }

}  // namespace

study::Estimate Study::no_slip(const study::Total& t) const { return estimate_share(t, layout_.sticks); }
study::Estimate Study::resisted(const study::Total& t) const { return estimate_share(t, layout_.resisted); }

study::Estimate Study::object_held(const study::Total& t, int k) const {
  return estimate_share(t, layout_.objects_held + 2 * k);
}

study::Estimate Study::named_estimate(const study::Total& t, const std::string& quantity) const {
  if (quantity == "p_no_slip") return no_slip(t);
  if (quantity == "p_resisted") return resisted(t);
  return study::Study::named_estimate(t, quantity);
}

std::string Study::summary(const study::Total& total, const std::string& stopped_by) const {
  const Layout& l = layout_;
  Json j = study::summary_head("grasp", scenario_.title, scenario_.plan, total, stopped_by);
  j["held"] = probability(estimate(total));
  if (any_slides(scenario_)) j["held"].update(words(kSlidingWords[0].label, kSlidingWords[0].meaning));
  j["no_slip"] = probability(no_slip(total));
  j["no_slip"].update(words("P(no slip)", "every contact sticks, whether or not the wrench is balanced"));
  j["resisted"] = probability(resisted(total));
  j["resisted"].update(words("P(resisted)", "some forces inside the friction cones and limits balance the wrench"));
  for (int k = 0; l.objects > 1 && k < l.objects; ++k)
    j["objects"].push_back({{"name", nth_object(scenario_, k).name}, {"held", probability(object_held(total, k))}});
  j["held_imbalance"] = scenario_.held_imbalance;
  j["held_acceleration"] = scenario_.held_acceleration;
  j["left_out"] = {{"samples", at(total, l.left_out)}, {"fewer_than_three", at(total, l.left_out + 1)}};
  j["non_unique"] = at(total, l.several);
  study::put_outcomes(j, outcome_words(), total, l.outcome);
  j["contacts"] = contacts_to_json(l, total);
  j["metrics"] = metrics(l, total);
  j["unresisted"] = Json::array();
  for (const auto& wrench : group_ ? std::vector<Vec<double, 6>>() : unresisted_wrenches(*model_))
    j["unresisted"].push_back(describe_wrench(wrench));
  j["held_against_friction"] = held_against_friction(l, total);
  j["inputs"] = Json::array();
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    j["inputs"].push_back(input(l, total, inputs_[k], static_cast<int>(k)));
  j["solver"] = solver(scenario_, l, total);
  j["convergence"] = study::convergence(total);
  j["closest"] = ranking_to_json(total.closest, "margin");
  const auto held = at(total, l.outcome);
  j["failures_kept"] = scenario_.plan.keep == "none" ? 0 : total.count - held;
  j["worst"] = ranking_to_json(total.worst, "residual");
  return j.dump(1) + "\n";
}

}  // namespace garra::grasp
