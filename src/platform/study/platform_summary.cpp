// summary.json of a platform study. It holds only results: its bytes do not depend on how they were
// computed.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "platform/study/platform_outcomes.hpp"
#include "platform/study/platform_study.hpp"
#include "study/summary.hpp"

namespace garra::platform {

namespace {

using study::at;
using study::Json;
using study::number;
using study::Total;

Json three(const Vec3<double>& v) { return {v[0], v[1], v[2]}; }

Json counts_to_json(const Total& t, int first, int n) {
  Json list = Json::array();
  for (int k = 0; k < n; ++k) list.push_back(at(t, first + k));
  return list;
}

Json subject(const Scenario& s, std::int64_t nodes) {
  if (s.kind == Study::kMap) {
    const MapGrid& m = s.map;
    return {{"low", three(m.low)}, {"high", three(m.high)},          {"points", m.points},
            {"nodes", nodes},      {"orientations", m.orientations}, {"tilt", m.tilt},
            {"turn", m.turn}};
  }
  return {{"kind", name_of(s.path.kind)},
          {"law", name_of(s.path.law)},
          {"poses", s.path.pose.position.size() / 3},
          {"instants", s.path.instants}};
}

/// Legs that failed first, by kind of failure.
Json failures(const StudyLayout& l, const Total& t, const std::vector<double>& time) {
  Json legs = Json::array();
  for (int leg = 0; leg <= kLegs; ++leg) {
    Json row = {{"leg", leg == 0 ? Json(nullptr) : Json(leg - 1)}};
    for (int k = 1; k < kOutcomes; ++k)
      row[to_string(static_cast<Outcome>(k))] = at(t, l.failed + k * (kLegs + 1) + leg);
    legs.push_back(row);
  }
  const int n = static_cast<int>(time.size());
  return {{"legs", legs}, {"time", time}, {"count", counts_to_json(t, l.failed_at, n)}};
}

/// Input; the influence of an input of several numbers is the sum of theirs.
Json input_json(const PlatformStudy& study, const Total& t, const StudyUncertain& in) {
  const StudyLayout& l = study.layout();
  double sum = 0, noise = 0, unresolved = 0;
  int resolution = study::kShownInputBins;
  Json bins = nullptr;
  for (std::size_t k = 0; k < study.slots().size(); ++k) {
    const int slot = study.slots()[k];
    // Slots of this input only.
    if (slot < in.slot || slot >= in.slot + in.slots) continue;
    const int first = static_cast<int>(k) * study::kInputBins;
    const study::InputCounts counts{l.feasible_bin + first, l.decided_bin + first};
    const study::Influence i = study::compute_influence(t, counts);
    sum += i.value;
    // Independent errors: variances add.
    noise += i.noise * i.noise;
    unresolved += i.unresolved;
    resolution = std::max(resolution, i.bins);
    // Only inputs of one number have bins; several numbers would need a figure each.
    if (in.slots > 1) continue;
    bins = {{"value", study::shown_values(study.rules().slot[slot])},
            {"feasible", study::shown_bins(t, counts.held, counts)},
            {"decided", study::shown_bins(t, counts.decided, counts)}};
  }
  return {{"name", in.name},
          {"unit", in.unit},
          {"distribution", in.distribution},
          {"numbers", in.slots},
          {"influence", std::max(0.0, sum)},
          {"noise", std::sqrt(noise)},
          {"unresolved", unresolved},
          {"resolution", resolution},
          {"bins", bins}};
}

/// Smallest and largest force of each leg over the samples, by instant.
Json envelope(const StudyLayout& l, const Total& t, const std::vector<double>& time) {
  Json low = Json::array(), high = Json::array();
  for (int k = 0; k < static_cast<int>(time.size()); ++k) {
    Json a = Json::array(), b = Json::array();
    for (int leg = 0; leg < kLegs; ++leg) {
      a.push_back(number(t.least[static_cast<std::size_t>(l.force_low + k * kLegs + leg)]));
      b.push_back(number(-t.least[static_cast<std::size_t>(l.force_high + k * kLegs + leg)]));
    }
    low.push_back(a);
    high.push_back(b);
  }
  return {{"time", time}, {"low", low}, {"high", high}};
}

Json nodes_json(const MapValues& v) {
  std::int64_t always = 0, never = 0;
  double sigma = INFINITY, force = 0;
  for (std::size_t k = 0; k < v.feasible_share.size(); ++k) {
    always += v.feasible_share[k] == 1;
    never += v.feasible_share[k] == 0;
    // Extremes of the part of the workspace that can be relied upon.
    if (v.feasible_share[k] != 1) continue;
    sigma = std::min(sigma, v.sigma_min[k]);
    force = std::max(force, v.worst_force[k]);
  }
  return {{"always", always},
          {"never", never},
          {"sigma_min_where_always", number(sigma)},
          {"worst_force_where_always", always > 0 ? number(force) : Json(nullptr)}};
}

Json travel_json(const Travel& t) {
  Json axes = Json::array();
  static constexpr const char* name[] = {"x", "y", "z", "about x", "about y", "about z"};
  for (int k = 0; k < 6; ++k)
    axes.push_back({{"axis", name[k]}, {"backward", number(t.backward[k])}, {"forward", number(t.forward[k])}});
  return {{"position", three(t.from.r)},
          {"quaternion", {t.from.p[0], t.from.p[1], t.from.p[2], t.from.p[3]}},
          {"axes", axes}};
}

/// Volume of the nodes' cells, and the reach along each axis, for positions that are feasible in every orientation and
/// in at least one. Along an axis with one node a cell has no extent: the volume is an area or a length.
Json reach_json(const MapValues& v) {
  double cell = 1;
  for (const auto& axis : v.axis)
    if (axis.size() > 1) cell *= (axis.back() - axis.front()) / static_cast<double>(axis.size() - 1);
  const auto reach = [&](double least) {
    std::int64_t nodes = 0;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const std::size_t nx = v.axis[0].size(), ny = v.axis[1].size();
    for (std::size_t k = 0; k < v.feasible_share.size(); ++k) {
      if (!(v.feasible_share[k] >= least)) continue;
      ++nodes;
      const std::size_t i[3] = {k % nx, k / nx % ny, k / (nx * ny)};
      for (std::size_t c = 0; c < 3; ++c) {
        low[c] = std::min(low[c], v.axis[c][i[c]]);
        high[c] = std::max(high[c], v.axis[c][i[c]]);
      }
    }
    Json ends = Json::array();
    for (int c = 0; c < 3; ++c) ends.push_back({number(low[c]), number(high[c])});
    return Json{{"nodes", nodes}, {"volume", static_cast<double>(nodes) * cell}, {"reach", ends}};
  };
  return {{"every_orientation", reach(1)}, {"some_orientation", reach(1e-300)}};
}

Json ranking_to_json(const study::Ranking& r, const char* key) {
  Json list = Json::array();
  for (const auto& e : r.list())
    list.push_back(
        {{"sample", e.sample}, {"outcome", to_string(static_cast<Outcome>(e.outcome))}, {key, number(e.value)}});
  return list;
}

}  // namespace

std::string PlatformStudy::summary(const Total& t, const std::string& stopped_by) const {
  const Scenario& s = scenario_;
  const StudyLayout& l = layout_;
  Json j = study::summary_head("platform", s.title, s.plan, t, stopped_by, {{"kind", is_map() ? "map" : "path"}});
  j["platform"] = {{"name", s.platform.name}, {"gravity", three(s.platform.gravity)}};
  j[is_map() ? "map" : "path"] = subject(s, nodes());
  if (norm(s.tool) > 0) j["tool"] = three(s.tool);
  j["kinematic"] = rules_.kinematic;
  j["allowed"] = {{"force", s.allowed.force > 0 ? Json(s.allowed.force) : Json(nullptr)},
                  {"near_singular", s.allowed.near_singular},
                  {"characteristic_length", rules_.characteristic_length}};
  if (s.simulation.on) {
    const Controller& c = s.simulation.control;
    j["simulation"] = {{"control", name_of(c.law)},
                       {"stiffness", c.stiffness},
                       {"damping", c.damping},
                       {"integral", c.integral},
                       {"force_limit", c.limit > 0 ? Json(c.limit) : Json(nullptr)},
                       {"period", c.period},
                       {"delay", c.delay * c.period}};
  }
  if (is_map()) j["map"]["exact"] = every_node_is_known(t);
  j["p_feasible"] = study::to_json(estimate(t));
  j["p_feasible"]["confidence"] = 0.95;
  study::put_outcomes(j, kOutcomeWords, t, l.outcome);
  j["first_failure"] = failures(l, t, time_);
  j["peak_force_at"] = {{"legs", counts_to_json(t, l.peak_leg, kLegs)},
                        {"time", time_},
                        {"count", counts_to_json(t, l.peak_at, rules_.instants)}};
  study::for_each_row(kStudyColumns, [&](const auto& row, int k) {
    if (!row.is_in(s)) return;
    j["metrics"][row.words.name] =
        study::distribution(t, l.metric[k], row.words_in(s), 2 * static_cast<std::size_t>(k));
  });
  j["inputs"] = Json::array();
  for (const StudyUncertain& in : inputs_) j["inputs"].push_back(input_json(*this, t, in));
  if (is_map()) {
    j["nodes"] = nodes_json(map(t));
    j["reachable"] = reach_json(map(t));
    j["travel"] = {{"home", travel_json(travel_at_home())}, {"centered", travel_json(travel_centered())}};
  } else {
    j["force_envelope"] = envelope(l, t, time_);
  }
  j["convergence"] = study::convergence(t);
  j["highest_force"] = ranking_to_json(t.worst, "force");
  j["earliest"] = Json::object();
  for (int k = 1; k < kOutcomes; ++k)
    j["earliest"][to_string(static_cast<Outcome>(k))] =
        ranking_to_json(t.groups[static_cast<std::size_t>(k)], "instant");
  j["failures_kept"] = s.plan.keep == "none" ? 0 : t.count - at(t, l.outcome);
  return j.dump(1) + "\n";
}

}  // namespace garra::platform
