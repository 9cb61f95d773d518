// summary.json of a grasp study in time, and its probabilities: only results, so that its bytes do not depend on how
// they were computed. docs/theory/grasp-time.md, docs/reference/run-folder.md.
#include <algorithm>
#include <array>
#include <cmath>

#include "grasp/sample/finger_command.hpp"
#include "grasp/time/motion_outcomes.hpp"
#include "grasp/time/time_study.hpp"
#include "study/summary.hpp"

namespace garra::grasp {

namespace {

using study::at;
using study::DecisionCounts;
using study::Json;
using study::number;
using study::Total;

/// Words for the quantities drawn over time; the reference values are the scenario's.
std::array<study::ColumnWords, kBands> band_words(const InTime& time) {
  return {{{"drift", "m", "Drift", "of the center of mass", time.drop},
           {"turn", "rad", "Turn", "of the object", time.drop_turn},
           {"margin", "1", "Friction left", "of the closed contact nearest to slipping"},
           {"slip", "m", "Slip path", "of the contact that has slid farthest", time.slip},
           {"force", "N", "Normal force", "of the contact that presses hardest"}}};
}
constexpr const char* kScheme[] = {"moreau_jean", "explicit"};

std::int64_t count_ended(const Total& t, const TimeLevel& l, MotionEnd end) {
  return at(t, l.outcome + static_cast<int>(end));
}

std::int64_t count_samples(const Total& t, const TimeLevel& l) {
  std::int64_t n = 0;
  for (int k = 0; k < kMotionEnds; ++k) n += at(t, l.outcome + k);
  return n;
}

study::Estimate make_estimate(const DecisionCounts& v) { return study::make_estimate({&v, 1}); }

/// By instant: samples without the event so far, among those for which that is known; the others may be either.
std::vector<DecisionCounts> survivors(const Total& t, std::int64_t samples, int happened, int unknown, int instants) {
  std::vector<DecisionCounts> list;
  std::int64_t gone = 0, unsolved = 0;
  for (int k = 0; k < instants; ++k) {
    gone += at(t, happened + k);
    unsolved += at(t, unknown + k);
    list.push_back({samples - gone - unsolved, samples - unsolved, unsolved});
  }
  return list;
}

Json curve(const std::vector<DecisionCounts>& survivors) {
  Json j = {{"probability", Json::array()}, {"low", Json::array()}, {"high", Json::array()}};
  for (const DecisionCounts& v : survivors) {
    const Json e = study::to_json(make_estimate(v));
    for (const auto& [key, value] : e.items()) j[key].push_back(value);
  }
  return j;
}

/// Quantile in a band. Below its bins a number that spans decades is spread evenly from 0 on, another one has the
/// lowest value; above them it is unknown.
Json quantile(const Total& t, const Bins& b, double p) {
  const study::Histogram& h = b.histogram;
  const auto below = static_cast<double>(at(t, h.offset + h.bins));
  double inside = static_cast<double>(at(t, h.offset + h.bins + 1)) + below;
  for (int k = 0; k < h.bins; ++k) inside += static_cast<double>(at(t, h.offset + k));
  if (inside > 0 && p * inside < below) return b.decades ? std::pow(10, h.low) * (p * inside / below) : h.low;
  const Json q = study::quantile(t, h, p);
  return b.decades && !q.is_null() ? Json(std::pow(10, q.get<double>())) : q;
}

/// The distributions of a level.
void add_metrics(const Total& t, const TimeLayout& layout, int level, const Scenario& s, Json& j) {
  const TimeLevel& l = layout.level[static_cast<std::size_t>(level)];
  study::for_each_row(kTimeColumns, [&](const auto& row, int k) {
    Json& of = j[row.words.name];
    // Without limits nothing was measured; the key stays, so that every study has the same keys.
    if (k == time_metric("peak_torque") && torque_limits(s).empty()) return;  // null
    of = study::distribution(t, l.shown[k], row.words_in(s), static_cast<std::size_t>(layout.metric_sum(level, k)));
  });
}

double instant_time(const InTime& time, int instant) { return time.duration * instant / (time.instants - 1); }

Json bands(const Total& t, const TimeLayout& layout, const TimeLevel& l, const InTime& time) {
  constexpr std::pair<const char*, double> quantiles[] = {
      {"q05", 0.05}, {"q25", 0.25}, {"q50", 0.5}, {"q75", 0.75}, {"q95", 0.95}};
  Json j = {{"time", Json::array()}, {"alive", Json::array()}};
  const auto words = band_words(time);
  for (const study::ColumnWords& w : words) study::put_words(j[w.name], w);
  for (int k = 0; k < static_cast<int>(layout.band_instant.size()); ++k) {
    j["time"].push_back(instant_time(time, layout.band_instant[static_cast<std::size_t>(k)]));
    // Every sample in hand has a drift, so its histogram counts the remaining ones.
    const study::Histogram drift = l.bands.at(kDrift, k).histogram;
    std::int64_t alive = 0;
    for (int b = 0; b < drift.bins + 2; ++b) alive += at(t, drift.offset + b);
    j["alive"].push_back(alive);
    for (int look = 0; look < kBands; ++look)
      for (const auto& [name, p] : quantiles)
        j[words[static_cast<std::size_t>(look)].name][name].push_back(quantile(t, l.bands.at(look, k), p));
  }
  return j;
}

Json level_json(const Total& t, const TimeLayout& layout, int level, const DecisionCounts& held, const Scenario& s) {
  const InTime& time = *s.time;
  const TimeLevel& l = layout.level[static_cast<std::size_t>(level)];
  const std::int64_t samples = count_samples(t, l);
  const auto kept = survivors(t, samples, l.lost, l.lost_unknown, layout.instants),
             still = survivors(t, samples, l.slipped, l.slipped_unknown, layout.instants);
  Json j;
  j["friction"] = time.friction.empty() ? Json(nullptr) : Json(time.friction[static_cast<std::size_t>(level)]);
  j["samples"] = samples;
  for (int k = 0; k < kMotionEnds; ++k) j["outcomes"][to_string(static_cast<MotionEnd>(k))] = at(t, l.outcome + k);
  j["held"] = study::to_json(make_estimate(held));
  for (int k = 0; layout.objects > 1 && k < layout.objects; ++k) {
    const std::int64_t open = held.unsolved;
    const std::int64_t stopped = at(t, l.objects_held + 2 * k + 1);
    const DecisionCounts of{at(t, l.objects_held + 2 * k), samples - open - stopped, open + stopped};
    j["objects"].push_back({{"name", nth_object(s, k).name}, {"held", study::to_json(make_estimate(of))}});
  }
  // At the last instant: samples neither slipped nor lost until the end.
  j["no_slip"] = study::to_json(make_estimate(still.back()));
  j["survival"]["time"] = Json::array();
  for (int k = 0; k < layout.instants; ++k) j["survival"]["time"].push_back(instant_time(time, k));
  j["survival"]["drop"] = curve(kept);
  j["survival"]["slip"] = curve(still);
  add_metrics(t, layout, level, s, j);
  j["bands"] = bands(t, layout, l, time);
  return j;
}

Json contacts_to_json(const Total& t, const TimeLayout& l) {
  Json list = Json::array();
  for (int c = 0; c < l.contacts; ++c)
    list.push_back({{"name", "contact " + std::to_string(c)},
                    {"slipped_first", at(t, l.slipped_first + c)},
                    {"slip_path", study::distribution(t, l.slip[c], "m", static_cast<std::size_t>(l.slip_sum(c)))},
                    {"peak_force", study::distribution(t, l.force[c], "N", static_cast<std::size_t>(l.force_sum(c)))}});
  return list;
}

Json inputs_json(const Total& t, const TimeLayout& l, const std::vector<Input>& inputs) {
  Json list = Json::array();
  // Levels are adjacent in the counts, so one stride serves all of their bins.
  const int stride = l.levels() > 1 ? l.level[1].held_bin - l.level[0].held_bin : 0;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const int bin = static_cast<int>(k) * study::kInputBins;
    const study::InputCounts counts{l.level[0].held_bin + bin, l.level[0].decided_bin + bin, l.levels(), stride};
    list.push_back(study::input_json(t, counts, {inputs[k].name, inputs[k].unit, inputs[k].distribution}));
  }
  return list;
}

/// Sum k; before the first sample all lists are empty.
double sum(const Total& t, int k) { return t.sums.empty() ? 0 : t.sums[static_cast<std::size_t>(k)]; }
double largest_error(const Total& t, int audit) {
  return t.least.empty() ? NAN : -t.least[static_cast<std::size_t>(audit)];
}

Json audit(const Total& t, const TimeLayout& l, const InTime& time) {
  constexpr const char* names[kAudits] = {"energy_balance", "momentum_balance", "worst_gap",
                                          "worst_cone",     "worst_residual",   "worst_ratio"};
  const bool bounded = time.scheme == Scheme::kExplicit;
  Json j;
  // The stability bound is that of the explicit scheme.
  for (int k = 0; k < kAudits; ++k) j[names[k]] = k == kRatio && !bounded ? Json(nullptr) : number(largest_error(t, k));
  j["unstable_share"] = bounded ? number(sum(t, l.unstable()) / sum(t, l.steps())) : Json(nullptr);
  return j;
}

/// Appends samples of a ranking to those in `list`, up to ten in all.
void add_ranked(const Total& t, int ranking, const InTime& time, Json& list) {
  if (t.groups.empty()) return;
  const auto what = [&](int k) { return t.groups[static_cast<std::size_t>(ranking * kRemembered + k)].list(); };
  const auto end_time = what(kEndTime), drift = what(kItsDrift), slip = what(kItsSlip);
  const auto levels = std::max<std::int64_t>(1, std::ssize(time.friction));
  for (std::size_t k = 0; k < end_time.size() && list.size() < study::Ranking::kLimit; ++k) {
    const std::int64_t sample = end_time[k].sample, level = sample % levels;
    list.push_back(
        {{"sample", sample},
         {"level", level},
         {"friction", time.friction.empty() ? Json(nullptr) : Json(time.friction[static_cast<std::size_t>(level)])},
         {"outcome", to_string(static_cast<MotionEnd>(end_time[k].outcome))},
         {"end_time", number(end_time[k].value)},
         {"peak_drift", number(drift[k].value)},
         {"slip", number(slip[k].value)}});
  }
}

}  // namespace

std::int64_t TimeStudy::ended(const Total& t, MotionEnd end) const {
  std::int64_t n = 0;
  for (const TimeLevel& l : layout_.level) n += count_ended(t, l, end);
  return n;
}

std::vector<std::int64_t> TimeStudy::ranked(const Total& t, int ranking) const {
  std::vector<std::int64_t> list;
  if (t.groups.empty()) return list;
  for (const auto& entry : t.groups[static_cast<std::size_t>(ranking * kRemembered + kEndTime)].list())
    list.push_back(entry.sample);
  return list;
}

std::vector<std::int64_t> TimeStudy::first_losses(const Total& t) const {
  std::vector<std::int64_t> list;
  for (std::size_t k = kLevelLosses; k < t.groups.size(); ++k)
    if (!t.groups[k].list().empty()) list.push_back(t.groups[k].list().front().sample);
  return list;
}

std::string TimeStudy::summary(const Total& t, const std::string& stopped_by) const {
  const TimeLayout& l = layout_;
  InTime time = this->time();
  time.torque_limit = torque_limits(scenario_);  // those of the fingers, too
  Json j = study::summary_head("grasp", scenario_.title, scenario_.plan, t, stopped_by, {{"study", "time"}});
  j["time"] = {{"duration", time.duration},
               {"step", time.step},
               {"scheme", kScheme[static_cast<int>(time.scheme)]},
               {"slip", time.slip},
               {"drop", time.drop},
               {"drop_turn", time.drop_turn},
               {"drive", name_of(time.drive)},
               {"instants", time.instants},
               {"restitution", time.restitution}};
  j["held"] = study::to_json(estimate(t));
  j["held"]["confidence"] = 0.95;
  std::int64_t in_hand = 0;
  for (int k = 0; k < kMotionEnds; ++k) {
    const auto end = static_cast<MotionEnd>(k);
    j["outcomes"][to_string(end)] = ended(t, end);
    if (is_in_hand(end)) in_hand += ended(t, end);
  }
  j["outcome_words"] = study::words_to_json(kMotionEndWords);
  j["levels"] = Json::array();
  const std::vector<DecisionCounts> held = decisions(t);
  for (int k = 0; k < l.levels(); ++k)
    j["levels"].push_back(level_json(t, l, k, held[static_cast<std::size_t>(k)], scenario_));
  j["contacts"] = contacts_to_json(t, l);
  j["inputs"] = inputs_json(t, l, inputs_);
  j["audit"] = audit(t, l, time);
  const double steps = sum(t, l.steps()), iterations = sum(t, l.iterations());
  j["solver"] = {{"method", scenario_.method},
                 {"tolerance", scenario_.tolerance},
                 {"mean_iterations", number(iterations / steps)},
                 {"steps", static_cast<std::int64_t>(steps)}};
  j["convergence"] = study::convergence(t, l.levels());
  // Every sample that is not in hand is a failure, including undecided ones.
  j["failures_kept"] = scenario_.plan.keep == "none" ? 0 : t.count - in_hand;
  Json worst = Json::array(), closest = Json::array();
  // In this order: losses by time, then, if there are fewer than ten, the nearest to being lost.
  add_ranked(t, kLosses, time, worst);
  add_ranked(t, kInHand, time, worst);
  add_ranked(t, kInHand, time, closest);
  j["worst"] = worst;
  j["closest"] = closest;
  return j.dump(1) + "\n";
}

}  // namespace garra::grasp
