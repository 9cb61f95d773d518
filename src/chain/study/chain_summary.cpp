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

/// Estimates of design `d` of `designs` after a growing number of blocks.
Json convergence(const study::Total& t, std::int64_t d, std::int64_t designs) {
  Json j = {
      {"samples", Json::array()}, {"probability", Json::array()}, {"low", Json::array()}, {"high", Json::array()}};
  double settled = 0, unsolved = 0;
  for (const auto& [point, tracked] : t.curve) {
    settled += tracked[static_cast<std::size_t>(2 * d)];
    unsolved += tracked[static_cast<std::size_t>(2 * d + 1)];
    const std::int64_t all = std::min(t.count, point * study::kBlock);
    // Sample i belongs to design i mod designs, so of the first `all` samples it has so many.
    const std::int64_t n = all > d ? (all - d + designs - 1) / designs : 0;
    const auto u = static_cast<std::int64_t>(unsolved), s = static_cast<std::int64_t>(settled);
    if (n == 0) continue;
    const study::Interval i = study::clopper_pearson_with_unsolved(s, n - u, u);
    j["samples"].push_back(n);
    j["probability"].push_back(number(settled / static_cast<double>(n - u)));
    j["low"].push_back(i.low);
    j["high"].push_back(i.high);
  }
  return j;
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
  const std::vector<Joint>& joint = c.scenario.robot.joint;
  const auto add = [&](const study::Histogram& h, int k) {
    const std::size_t sum = first_sum + 2 * static_cast<std::size_t>(k);
    static constexpr study::ColumnWords words[] = {{"settling_time", "s", "Settling time"},
                                                   {},
                                                   {"work", "J", "Work of the torques"},
                                                   {"dissipated", "J", "Dissipated energy"}};
    if (k == 1) return;  // the largest torque only ranks designs: joints may have different units
    if (k < 4) {
      j[words[k].name] = study::distribution(t, h, words[k], sum);
      return;
    }
    const auto at = static_cast<std::size_t>(k - 4);
    const bool torque = at < joint.size(), slides = joint[at % joint.size()].prismatic;
    const char* unit = torque ? (slides ? "N" : "N*m") : (slides ? "m/s" : "rad/s");
    const study::ColumnWords peak = torque ? study::ColumnWords{"peak_torque", unit, "Peak torque"}
                                           : study::ColumnWords{"peak_speed", unit, "Peak speed"};
    j[peak.name].push_back(study::distribution(t, h, peak, sum));
  };
  c.layout.for_each(add);
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
  return "settles in time most often, and none whose interval reaches its own needs 5 % less torque (median of the "
         "largest "
         "peak torque)";
}

}  // namespace

std::vector<DesignResult> Study::results(const study::Total& t) const {
  std::vector<DesignResult> list;
  for (int d = 0; d < designs(); ++d) {
    DesignResult r;
    for (int k = 0; k < kStudyOutcomes; ++k) {
      const std::int64_t n = t.counts.empty() ? 0 : at(t, offset(d) + k);
      r.samples += n;
      const auto outcome = static_cast<StudyOutcome>(k);
      if (is_success(outcome)) r.settled += n;
      if (is_unsolved(outcome)) r.unsolved += n;
    }
    const std::int64_t decided = r.samples - r.unsolved;
    r.probability = decided > 0 ? static_cast<double>(r.settled) / static_cast<double>(decided) : NAN;
    r.interval = study::clopper_pearson_with_unsolved(r.settled, decided, r.unsolved);
    list.push_back(r);
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
  const auto torque = [&](std::size_t d) { return median(t, layouts()[d].largest_torque); };
  for (std::size_t d = 0; d < all.size(); ++d)
    if (competes(d)) least = std::min(least, torque(d));
  int best = -1;
  std::array<double, 2> best_rank{};
  for (std::size_t d = 0; d < all.size(); ++d) {
    // Within 5 % of the least torque.
    if (!competes(d) || torque(d) > kSameTorque * least) continue;
    const std::array<double, 2> rank = {-all[d].probability, median(t, layouts()[d].settling)};
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

double Study::widest_interval(const study::Total& t) const {
  double widest = 0;
  for (const DesignResult& r : results(t)) widest = std::max(widest, r.interval.high - r.interval.low);
  return widest;
}

std::vector<study::DecisionCounts> Study::decisions(const study::Total& t) const {
  std::vector<study::DecisionCounts> list;
  for (const DesignResult& r : results(t)) list.push_back({r.settled, r.samples - r.unsolved, r.unsolved});
  return list;
}

std::string Study::summary(const study::Total& t, const std::string& stopped_by) const {
  const Scenario& s = scenario_;
  const int chosen = best(t);
  const std::vector<DesignResult> all = results(t);
  Json j;
  j["schema"] = study::kSummarySchema;
  j["job"] = "chain";
  j["title"] = s.title;
  j["note"] = s.note;
  j["seed"] = s.plan.seed;
  j["samples"] = t.count;
  j["requested"] = s.plan.samples;
  j["stopped_by"] = stopped_by;
  j["robot"] = robot_json(s.robot);
  j["settle"] = settle_json(s.designs.front());
  j["method"] = method_json(s.designs.front());
  j["sweep"] = sweep_json(s.sweep);
  j["outcomes"] = nullptr;  // in its place; added up below
  j["outcome_words"] = study::words_to_json(kOutcomeWords);
  j["designs"] = Json::array();
  for (std::size_t d = 0; d < all.size(); ++d) {
    const std::size_t first_sum = static_cast<std::size_t>(value_sums_) * d;
    j["designs"].push_back(design_json({s, s.designs[d], layouts()[d], all[d]}, t, first_sum));
    j["designs"].back()["worst_balance"] = worst_balance(t.groups[all.size() + d]);
  }
  j["outcomes"] = added_outcomes(j["designs"]);
  j["best"] = chosen < 0 ? Json(nullptr) : Json{{"design", chosen}, {"why", why(all, chosen)}};
  j["inputs"] = inputs_json(s, inputs_);
  j["convergence"] = convergence(t, std::max(chosen, 0), designs());
  j["worst"] = Json::array();
  for (const auto& e : t.worst.list())
    j["worst"].push_back({{"sample", e.sample}, {"design", e.sample % designs()}, {"balance", number(e.value)}});
  j["slowest"] = chosen < 0 ? Json::array() : slowest_json(t.groups[static_cast<std::size_t>(chosen)], chosen);
  const std::int64_t settled = j["outcomes"]["settled"], completed = j["outcomes"]["completed"];
  j["failures_kept"] = s.plan.keep == "none" ? 0 : t.count - settled - completed;
  return j.dump(1) + "\n";
}

}  // namespace garra::chain
