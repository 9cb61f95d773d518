#include "platform/experiment/experiment_study.hpp"

#include <algorithm>
#include <cmath>

namespace garra::platform {

namespace {

using Kind = Experiment::Kind;
using study::RowColumn;

/// A path, and a segment of it.
struct PathSegment {
  std::size_t path;
  int segment;
};

PathSegment find(const std::vector<PathExperiment>& paths, std::int64_t sample) {
  std::size_t path = 0;
  for (; sample >= paths[path].segments(); ++path) sample -= paths[path].segments();
  return {path, static_cast<int>(sample)};
}

std::int64_t count_samples(const Experiment& e) {
  if (e.kind == Kind::kFreeMotion) return e.instants;
  std::int64_t n = 0;
  for (const int segments : e.segments) n += segments;
  return e.kind == Kind::kMove && e.parts == Experiment::Parts::kBoth ? 2 * n : n;
}

std::vector<std::string> status_names() {
  std::vector<std::string> names;
  for (int k = 0; k < kPoseStatuses; ++k) names.emplace_back(to_string(static_cast<PoseStatus>(k)));
  return names;
}

/// The path with the most segments.
const PathExperiment& finest(const std::vector<PathExperiment>& paths) {
  return *std::max_element(paths.begin(), paths.end(),
                           [](const auto& a, const auto& b) { return a.segments() < b.segments(); });
}

void append_row(const std::vector<double>& from, std::size_t row, std::size_t width, std::vector<double>& to) {
  const double* first = from.data() + row * width;
  to.insert(to.end(), first, first + width);
}

}  // namespace

ExperimentStudy::ExperimentStudy(const ExperimentScenario& scenario)
    : scenario_(scenario), start_(make_start(scenario.platform, scenario.experiment)) {
  plan_.samples = count_samples(scenario_.experiment);
  // One chunk: all paths are computed at once anyway, each pose from the one before.
  plan_.chunk = (plan_.samples + study::kBlock - 1) / study::kBlock * study::kBlock;
  plan_.max_unsolved = scenario_.max_unsolved;
  plan_.keep = "all";
}

const ExperimentResults& ExperimentStudy::results() const {
  // Once for rows, files and summary.
  std::call_once(once_, [&] {
    if (is_motion())
      results_.motion = make_free_motion(scenario_.platform, scenario_.experiment);
    else
      results_.paths = make_path_experiments(scenario_.platform, scenario_.experiment, start_);
    if (!is_motion()) {
      std::vector<double> lengths =
          inverse_kinematics({scenario_.platform}, start_, {}, {}, {Executor::kScalar, 1}).lengths;
      append_row(finest(results_.paths).lengths, 0, finest(results_.paths).lengths.size(), lengths);
      results_.modes = find_modes(scenario_.platform, lengths);
    }
  });
  return results_;
}

std::vector<RowColumn> ExperimentStudy::columns() const {
  using Type = RowColumn::Type;
  if (is_motion())
    return {{"index", Type::kWhole, 0, 1, true},         {"time", Type::kReal, 1, 1, true},
            {"difference", Type::kReal, 2, 1, true},     {"drift_full", Type::kReal, 3, 1, true},
            {"drift_minimal", Type::kReal, 4, 1, true},  {"balance_full", Type::kReal, 5, 1, true},
            {"balance_minimal", Type::kReal, 6, 1, true}};
  return {{"index", Type::kWhole, 0, 1, true},
          {"path", Type::kWhole, 1, 1, true},
          {"segment", Type::kWhole, 2, 1, true},
          {"status_full", Type::kSmall, 3, 1, true, status_names()},
          {"status_minimal", Type::kSmall, 4, 1, true, status_names()},
          {"iterations_full", Type::kSmall, 5, 1, true},
          {"iterations_minimal", Type::kSmall, 6, 1, true},
          {"difference", Type::kReal, 7, 1, true},
          {"flops_dense", Type::kReal, 8, 1, true},
          {"flops_full", Type::kReal, 9, 1, true},
          {"flops_minimal", Type::kReal, 10, 1, true},
          {"lengths", Type::kReal, 11, 6},
          {"position", Type::kReal, 17, 3},
          {"quaternion", Type::kReal, 20, 4}};
}

study::Shape ExperimentStudy::shape() const {
  const RowColumn last = columns().back();
  return {.row = last.first + last.width, .counts = 1};
}

std::vector<double> ExperimentStudy::path_row(std::int64_t sample) const {
  const auto [path, segment] = find(results().paths, sample);
  const PathExperiment& e = results().paths[path];
  const auto k = static_cast<std::size_t>(segment);
  std::vector<double> row = {static_cast<double>(sample),
                             static_cast<double>(path + 1),
                             static_cast<double>(segment + 1),
                             static_cast<double>(e.full.status[k]),
                             static_cast<double>(e.minimal.status[k]),
                             static_cast<double>(e.full.iterations[k]),
                             static_cast<double>(e.minimal.iterations[k]),
                             e.difference[k],
                             e.flops[k].dense,
                             e.flops[k].full,
                             e.flops[k].minimal};
  append_row(e.lengths, k, 6, row);
  append_row(e.pose.position, k, 3, row);
  append_row(e.pose.quaternion, k, 4, row);
  return row;
}

std::vector<double> ExperimentStudy::motion_row(std::int64_t sample) const {
  const SteppedMotion& m = shown_motion();
  const auto k = static_cast<std::size_t>(sample);
  return {static_cast<double>(sample), m.full.times[k],   m.difference[k],     m.full.drift[k],
          m.minimal.drift[k],          m.full.balance[k], m.minimal.balance[k]};
}

std::vector<double> ExperimentStudy::row(std::int64_t sample) const {
  return is_motion() ? motion_row(sample) : path_row(sample);
}

bool ExperimentStudy::solved(std::int64_t sample) const {
  if (is_motion()) return std::isfinite(shown_motion().difference[static_cast<std::size_t>(sample)]);
  const auto [path, segment] = find(results().paths, sample);
  return results().paths[path].solved(segment);
}

study::Tally ExperimentStudy::run(std::int64_t first, std::int64_t count, const Device& /*device*/) const {
  study::Tally t;
  t.first = first;
  t.count = count;
  t.counts = {0};
  for (std::int64_t sample = first; sample < first + count; ++sample) {
    t.counts[0] += solved(sample);
    const std::vector<double> kept = row(sample);
    t.kept.insert(t.kept.end(), kept.begin(), kept.end());
  }
  return t;
}

std::vector<study::DecisionCounts> ExperimentStudy::decisions(const study::Total& t) const {
  const std::int64_t solved = t.count == 0 ? 0 : t.counts[0];
  return {{solved, solved, t.count - solved}};
}

study::Estimate ExperimentStudy::estimate(const study::Total& t) const {
  if (t.count == 0) return {NAN, {}};
  const double share = 1 - study::unsolved_share(decisions(t));
  // Nothing is random: an interval of no width.
  return {share, {share, share}};
}

ShownPath ExperimentStudy::shown_path() const {
  const PathExperiment& path = finest(results().paths);
  ShownPath shown{start_, {}};
  append_row(path.pose.position, 0, path.pose.position.size(), shown.pose.position);
  append_row(path.pose.quaternion, 0, path.pose.quaternion.size(), shown.pose.quaternion);
  InverseOptions options;
  options.limits = options.conditioning = true;
  shown.at = inverse_kinematics({scenario_.platform}, shown.pose, {}, options, {Executor::kScalar, 1});
  return shown;
}

std::unique_ptr<study::Study> make_study(const ExperimentScenario& scenario) {
  return std::make_unique<ExperimentStudy>(scenario);
}

}  // namespace garra::platform
