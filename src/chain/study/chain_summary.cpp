// summary.json of a chain study, and which of its designs is the best.
#include <algorithm>
#include <cmath>

#include "chain/study/chain_outcomes.hpp"
#include "chain/study/chain_study.hpp"
#include "study/summary.hpp"

namespace garra::chain {

namespace {

using study::at;
using study::Json;
using study::number;
using study::Tally;

/// Torques that differ by less than this factor are no reason to prefer a design.
constexpr double kSameTorque = 1.05;

Json outcomes_at(const Tally& t, int first) {
  Json j;
  for (int k = 0; k < kStudyOutcomes; ++k) j[to_string(static_cast<StudyOutcome>(k))] = at(t, first + k);
  return j;
}

/// The median where it is known, else infinity.
double median(const Tally& t, const study::Histogram& h) {
  const Json m = study::quantile(t, h, 0.5);
  // Beyond the histogram a median is not known: such a design comes last.
  return m.is_null() ? INFINITY : m.get<double>();
}

Json robot_json(const Robot& robot) {
  Json j = {{"name", robot.name}, {"joints", robot.joints}};
  for (std::size_t k = 0; k < robot.joint.size(); ++k) {
    const Joint& joint = robot.joint[k];
    j["joint_names"].push_back(joint.name.empty() ? "joint " + std::to_string(k) : joint.name);
    j["units"].push_back(joint.prismatic ? "m" : "rad");
    j["torque_units"].push_back(joint.prismatic ? "N" : "N*m");
  }
  return j;
}

Json settle_json(const Design& d) {
  if (!d.settles()) return nullptr;
  const SimulateOptions& o = d.options;
  const bool feedback = d.torque.kind == TorqueKind::kPd || d.torque.kind == TorqueKind::kComputed;
  Json place = nullptr;
  if (!o.settle_at.empty())
    place = o.settle_at;
  else if (feedback)
    place = d.torque.set_point;
  return {{"within", d.within}, {"speed", o.settle_speed}, {"band", o.settle_band}, {"at", place}};
}

Json method_json(const Design& d) {
  const SimulateOptions& o = d.options;
  const bool adaptive = o.method == Integrator::kDopri5;
  return {{"integrator", to_string(o.method)},
          {"step", adaptive ? Json(nullptr) : Json(o.step)},
          {"tolerance", adaptive ? Json(o.tolerance.relative) : Json(nullptr)},
          {"duration", o.duration},
          {"torque", to_string(d.torque.kind)},
          {"tool", name_of(o.tool.kind)},
          {"friction", !o.friction.coulomb.empty() || !o.friction.breakaway.empty()},
          {"limits", name_of(o.limits)}};
}

const study::Distribution& get_distribution(const Design& d, int slot) {
  if (slot == kSlotMass) return d.mass;
  if (slot == kSlotSize) return d.size;
  if (slot == kSlotAmplitude) return d.amplitude;
  const JointInputs& in = slot < kSlotQd ? d.q : slot < kSlotDamping ? d.qd : d.damping;
  return in.value[static_cast<std::size_t>(slot % kMaxJoints)];
}

Json inputs_json(const Scenario& s, const std::vector<Input>& inputs) {
  Json list = Json::array();
  for (const Input& input : inputs) {
    const std::string text = study::describe(get_distribution(s.designs.front(), input.slot));
    const bool same = std::all_of(s.designs.begin(), s.designs.end(), [&](const Design& d) {
      return study::describe(get_distribution(d, input.slot)) == text;
    });
    list.push_back({{"name", input.name},
                    {"unit", input.unit},
                    {"distribution", same ? text : text + ", differs between designs"}});
  }
  return list;
}

Json sweep_json(const std::vector<Sweep>& sweep) {
  Json list = Json::array();
  for (const Sweep& s : sweep)
    list.push_back({{"key", s.key}, {"unit", s.unit}, {"values", s.values}, {"scale", s.scale}});
  return list;
}

/// One design with what has been counted of it.
struct Counted {
  const Scenario& scenario;
  const Design& design;
  const DesignLayout& layout;
  const DesignResult& result;
};

Json design_json(const Counted& c, const study::Total& t, std::size_t first_sum) {
  Json j = {{"values", c.design.values},
            {"samples", c.result.samples},
            {"outcomes", outcomes_at(t, c.layout.outcome)},
            {"probability", number(c.result.probability)},
            {"low", c.result.interval.low},
            {"high", c.result.interval.high}};
  std::size_t k = 0;
  const auto next = [&](study::ColumnWords words, const char* unit) {
    words.unit = unit;
    const std::size_t at = k++;
    return study::distribution(t, c.layout.metric[at], words, first_sum + 2 * at);
  };
  for (const MetricRow& row : kMetrics) {
    Json& to = j[row.words.name];
    if (row.sliding == nullptr)
      to = next(row.words, row.words.unit);
    else
      for (const Joint& joint : c.scenario.robot.joint)
        to.push_back(next(row.words, joint.prismatic ? row.sliding : row.words.unit));
    if (row.hidden) j.erase(row.words.name);
  }
  return j;
}

Json worst_balance(const study::Ranking& balances) {
  return balances.list().empty() ? Json(nullptr) : number(std::abs(balances.list().front().value));
}

Json slowest_json(const study::Ranking& ranking, int design) {
  Json list = Json::array();
  for (const auto& e : ranking.list())
    list.push_back({{"sample", e.sample}, {"design", design}, {"settling_time", number(e.value)}});
  return list;
}

Json added_outcomes(const Json& designs) {
  Json sum;
  for (int k = 0; k < kStudyOutcomes; ++k) {
    std::int64_t n = 0;
    const char* name = to_string(static_cast<StudyOutcome>(k));
    for (const auto& design : designs) n += design["outcomes"][name].get<std::int64_t>();
    sum[name] = n;
  }
  return sum;
}

/// Why this design is the best: see Study::best.
const char* why(const std::vector<DesignResult>& all, int best) {
  if (all.size() == 1) return "the only design";
  for (const DesignResult& r : all)
    if (r.settled > 0 && r.probability > all[static_cast<std::size_t>(best)].probability)
      return "its interval reaches that of the design that settles in time most often, and it needs at least 5 % less "
             "torque (median of the largest peak torque)";
  return "it settles in time most often, and no design whose interval meets its own needs 5 % less torque (median of "
         "the "
         "largest peak torque)";
}

}  // namespace

std::vector<DesignResult> Study::results(const study::Total& t) const {
  std::vector<DesignResult> list;
  for (const study::DecisionCounts& d : decisions(t)) {
    const study::Estimate e = study::make_estimate({&d, 1});
    list.push_back({d.decided + d.unsolved, d.held, d.unsolved, e.probability, e.interval});
  }
  return list;
}

int Study::best(const study::Total& t) const {
  // Nothing is asked of the designs.
  if (!scenario_.designs.front().settles()) return -1;
  const std::vector<DesignResult> all = results(t);
  double highest = 0, reached = 0, least = INFINITY;
  for (const DesignResult& r : all)
    if (r.settled > 0 && r.probability > highest) {
      highest = r.probability;
      // The lower end of the best one's interval: whoever reaches it may be as good.
      reached = r.interval.low;
    }
  const auto competes = [&](std::size_t d) { return all[d].settled > 0 && all[d].interval.high >= reached; };
  const auto torque = [&](std::size_t d) { return median(t, layouts()[d].metric[kLargestTorque]); };
  for (std::size_t d = 0; d < all.size(); ++d)
    if (competes(d)) least = std::min(least, torque(d));
  int best = -1;
  std::array<double, 2> best_rank{};
  for (std::size_t d = 0; d < all.size(); ++d) {
    // Within 5 % of the least torque.
    if (!competes(d) || torque(d) > kSameTorque * least) continue;
    const std::array<double, 2> rank = {-all[d].probability, median(t, layouts()[d].metric[kSettlingTime])};
    if (best >= 0 && !(rank < best_rank)) continue;
    best = static_cast<int>(d);
    best_rank = rank;
  }
  return best;
}

study::Estimate Study::estimate(const study::Total& t) const {
  const int d = t.counts.empty() ? -1 : best(t);
  const std::vector<DesignResult> all = results(t);
  if (d >= 0) return {all[static_cast<std::size_t>(d)].probability, all[static_cast<std::size_t>(d)].interval};
  // None has settled: what is said of the first holds for all that have as many samples.
  return {all.front().probability, all.front().interval};
}

std::string Study::summary(const study::Total& t, const std::string& stopped_by) const {
  const Scenario& s = scenario_;
  const int chosen = best(t);
  const std::vector<DesignResult> all = results(t);
  Json j = study::summary_head("chain", s.title, s.plan, t, stopped_by);
  if (!s.note.empty()) j["note"] = s.note;
  j["robot"] = robot_json(s.robot);
  const Design& shown = s.designs[static_cast<std::size_t>(std::max(chosen, 0))];  // a sweep may change either
  j["settle"] = settle_json(shown);
  j["method"] = method_json(shown);
  j["sweep"] = sweep_json(s.sweep);
  j["outcomes"] = nullptr;  // in its place; added up below
  j["outcome_words"] = study::words_to_json(kOutcomeWords);
  j["designs"] = Json::array();
  for (std::size_t d = 0; d < all.size(); ++d) {
    const std::size_t first_sum = static_cast<std::size_t>(2 * metrics_) * d;
    j["designs"].push_back(design_json({s, s.designs[d], layouts()[d], all[d]}, t, first_sum));
    j["designs"].back()["worst_balance"] = worst_balance(t.groups[all.size() + d]);
  }
  j["outcomes"] = added_outcomes(j["designs"]);
  j["best"] = chosen < 0 ? Json(nullptr) : Json{{"design", chosen}, {"why", why(all, chosen)}};
  j["inputs"] = inputs_json(s, inputs_);
  j["convergence"] = study::convergence(t, designs(), std::max(chosen, 0));
  j["worst"] = Json::array();
  for (const auto& e : t.worst.list())
    j["worst"].push_back({{"sample", e.sample}, {"design", e.sample % designs()}, {"balance", number(e.value)}});
  j["slowest"] = chosen < 0 ? Json::array() : slowest_json(t.groups[static_cast<std::size_t>(chosen)], chosen);
  const std::int64_t settled = j["outcomes"]["settled"], completed = j["outcomes"]["completed"];
  j["failures_kept"] = s.plan.keep == "none" ? 0 : t.count - settled - completed;
  return j.dump(1) + "\n";
}

}  // namespace garra::chain
