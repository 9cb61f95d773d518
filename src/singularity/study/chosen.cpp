// What a map shows of single configurations: samples again, those worth a page, and the slices.
#include <algorithm>
#include <cmath>

#include "chain/eval/evaluate_kernel.hpp"
#include "garra/systems/singularity/scaled_screws.hpp"
#include "singularity/map/arm.hpp"
#include "singularity/study/map_study.hpp"
#include "study/summary.hpp"

namespace garra::singularity {

namespace {

using study::Total;

constexpr std::size_t kMaxSets = 8;   ///< responsible sets that get a page
constexpr std::size_t kMaxWorst = 3;  ///< samples that do

/// The center of the scaled screws at q in world axes [m]; none where the natural one is meant.
std::optional<Vec3<double>> center_at(const chain::Robot& robot, const MapScaling& scaling,
                                      const std::vector<double>& q) {
  // analyze() finds the natural one itself, from the screws.
  if (scaling.center == MapScaling::Center::kNatural) return std::nullopt;
  using chain::Joints;
  const auto model = chain::make_source<chain::SharedModel<kMaxJoints, Joints::kMixed>>(robot).model;
  auto at = Vec<double, kMaxJoints>::zero();
  std::copy(q.begin(), q.end(), at.m);
  auto angles = chain::angles<Joints::kMixed>(model, at);
  for (const chain::Coupling& c : robot.coupled) angles.slide[c.joint] = c.ratio * at[c.joint];  // merge_helical()
  const auto lines = joint_lines<Joints::kMixed>(model, angles);
  const bool tool = scaling.center == MapScaling::Center::kTool;
  return robot.base.p + (tool ? lines.tool : lines.point[scaling.joint]);
}

MapOutcome classify_outcome(const Measures& m, const MeasureOptions& options) {
  const double ratio = m.inverse_condition[0];
  if (!std::isfinite(ratio)) return MapOutcome::kInvalid;
  if (ratio <= options.tolerance) return MapOutcome::kSingular;
  return ratio <= options.near ? MapOutcome::kNear : MapOutcome::kRegular;
}

}  // namespace

AnalyzeOptions MapStudy::options_at(const std::vector<double>& q) const {
  AnalyzeOptions options;
  // As in the kernels' second pass: both must check the same configuration alike.
  options.tolerance = arrival_tolerances(scenario_.measure).rank;
  options.generic_rank = layout().generic_rank;
  options.origin = center_at(scenario_.robot, scenario_.measure.scaling, q);
  options.length = scenario_.measure.scaling.length;
  return options;
}

MapSample MapStudy::sample(std::int64_t number) const {
  MapSample s;
  s.sample = number;
  s.q = engine_.configuration(number);
  if (s.q.empty()) {
    s.outcome = MapOutcome::kUnreached;
    if (scenario_.task) s.search = engine_.search(scenario_.robot, number);
    return s;
  }
  // On one sample, by the kernels that counted it: replay says what the map has counted.
  s.measures = measure(scenario_.robot, s.q, scenario_.measure, {});
  s.outcome = classify_outcome(s.measures, scenario_.measure);
  s.nearest = nearest_singularities(scenario_.robot, s.q, scenario_.measure, {});
  if (s.nearest.search_status[0] != SearchStatus::kConverged) return s;
  s.screws = make_screws(scenario_.robot, s.nearest.singular_q);
  s.options = options_at(s.nearest.singular_q);
  s.analysis = analyze(s.screws, s.options);
  return s;
}

std::vector<ChosenConfiguration> MapStudy::configurations(const Total& t) const {
  std::vector<ChosenConfiguration> list;
  const std::vector<CountedSet> sets = dependent_joints(t);
  std::int64_t converged = 0;
  for (const CountedSet& set : sets) converged += set.count;
  for (std::size_t k = 0; k < std::min(kMaxSets, sets.size()); ++k)
    if (sets[k].example >= 0)
      list.push_back({"most frequent", static_cast<double>(sets[k].count) / static_cast<double>(converged),
                      sample(sets[k].example)});
  const auto& worst = t.worst.list();
  for (std::size_t k = 0; k < std::min(kMaxWorst, worst.size()); ++k)
    list.push_back({"worst", std::nullopt, sample(worst[k].sample)});
  return list;
}

std::vector<Slice> MapStudy::slices(const Total& t) const {
  if (!scenario_.slices.empty()) return scenario_.slices;
  const int last = scenario_.robot.joints - 1;
  struct Candidate {
    int joint;
    std::int64_t leads_out;
    bool inner;  ///< the first and the last joint change no rank by moving
  };
  std::vector<Candidate> joints;
  for (int j = 0; j <= last; ++j)
    if (scenario_.joint[static_cast<std::size_t>(j)].kind != JointSource::Kind::kFixed)
      joints.push_back(
          {j, study::at(t, layout().escape + 2 * j) + study::at(t, layout().escape + 2 * j + 1), j > 0 && j < last});
  // A picture needs two joints that move.
  if (joints.size() < 2) return {};
  std::stable_sort(joints.begin(), joints.end(), [](const Candidate& a, const Candidate& b) {
    return a.leads_out != b.leads_out ? a.leads_out > b.leads_out : a.inner > b.inner;
  });
  // The lower joint across, whatever leads out more often.
  const int x = std::min(joints[0].joint, joints[1].joint), y = std::max(joints[0].joint, joints[1].joint);
  const JointSource &across = scenario_.joint[static_cast<std::size_t>(x)],
                    &up = scenario_.joint[static_cast<std::size_t>(y)];
  Slice slice{x, y, {}, across.low, across.high, up.low, up.high};
  const std::vector<CountedSet> sets = dependent_joints(t);
  const MapSample through = sample(sets.empty() || sets[0].example < 0 ? 0 : sets[0].example);
  // Through a singular configuration where there is one, so that the picture shows a locus.
  slice.q = through.analysis ? through.nearest.singular_q : through.q;
  slice.q.resize(static_cast<std::size_t>(last + 1), 0);
  return {slice};
}

}  // namespace garra::singularity
