// Counts the trajectories of a grasp study in pieces, by threads, and combines them in their order.
#include "grasp/time/time_study.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "garra/study/counting.hpp"
#include "grasp/group/motion.hpp"
#include "grasp/study/study_solver.hpp"
#include "grasp/time/motion_outcomes.hpp"
#include "study/columns.hpp"
#include "study/count_blocks.hpp"

namespace garra::grasp {

namespace {

using study::kBlock;
using study::kInputBins;

/// Samples that a thread takes at once: a block gives eight threads work.
constexpr std::int64_t kPiece = 128;
constexpr std::int64_t kMaxOnGpu = 64 * kBlock;  ///< samples at once, whole pieces, whose results the host copies
constexpr double kInstantSlack = 1e-9;  ///< of the distance between instants: a time that is one but for rounding

/// Classification of one trajectory by the study.
struct TrajectoryResult {
  int level;
  bool in_hand, lost, decided;
  std::array<double, kTimeMetrics> metric;
  double lost_at, slipped_at, unknown_from;  ///< [s]; infinite: never
};

TrajectoryResult evaluate_trajectory(const TimeLayout& l, std::int64_t sample, const Trajectory& t) {
  constexpr double never = std::numeric_limits<double>::infinity();
  TrajectoryResult j{
      static_cast<int>(sample % l.levels()), is_in_hand(t.end), false, !is_undecided(t.end), {}, 0, 0, 0};
  j.lost = j.decided && !j.in_hand;
  j.lost_at = j.lost ? t.end_time : never;
  j.slipped_at = std::min(t.slip_time, j.lost_at);
  // It never began, or its end is unknown: unknown from the start.
  j.unknown_from = j.decided ? never : t.end_time >= 0 ? t.end_time : 0;
  j.metric = study::row_values(kTimeColumns, t, l.contacts);
  return j;
}

/// Consecutive samples of a batch, within one piece.
struct IndexRange {
  const Motions& batch;
  std::int64_t offset, first, count;  ///< first in the batch; its number; how many
};

/// Where a piece is counted.
struct Books : study::HostCounts {
  using HostCounts::count;
  void most(int audit, double x) {
    double& least = tally.least[static_cast<std::size_t>(audit)];
    // The tally merges smallest values, so the negated largest is kept.
    if (-x < least) least = -x;
  }
};

class Counting {
 public:
  Counting(const Scenario& s, const TimeLayout& l, const std::vector<Input>& inputs)
      : scenario_(s), layout_(l), inputs_(inputs) {}

  void count(const IndexRange& s, Books books) const {
    for (std::int64_t i = 0; i < s.count; ++i) {
      const Trajectory& t = s.batch.trajectory[static_cast<std::size_t>(s.offset + i)];
      const double* u = s.batch.uniforms.data() + (s.offset + i) * s.batch.draws;
      const std::int64_t sample = s.first + i;
      const TrajectoryResult j = evaluate_trajectory(layout_, sample, t);
      count_ends(t, j, books);
      count_inputs(u, j, books);
      if (t.end != MotionEnd::kUnreachable) count_values(t, j, books);
      remember(sample, t, j, books);
      keep_row(sample, t, j, u, books.tally.kept);
    }
    if (s.batch.looks.empty()) return;  // counted on the GPU
    for (std::size_t k = 0; k < layout_.band_instant.size(); ++k) count_looks(s, static_cast<int>(k), books);
  }

 private:
  /// The first instant at or after `time`; the number of instants if there is none.
  [[nodiscard]] int find_instant(double time) const {
    const double x = std::ceil(time / scenario_.time->duration * (layout_.instants - 1) - kInstantSlack);
    return x <= layout_.instants - 1 ? static_cast<int>(std::max(x, 0.0)) : layout_.instants;
  }

  void count_ends(const Trajectory& t, const TrajectoryResult& j, Books& b) const {
    const TimeLevel& level = layout_.level[static_cast<std::size_t>(j.level)];
    b.count(level.outcome + static_cast<int>(t.end));
    // Without the object that was lost first nothing is known of the others from then on.
    const bool to_the_end = j.in_hand || t.end_time > (1 - kInstantSlack) * scenario_.time->duration;
    for (int k = 0; j.decided && t.end != MotionEnd::kUnreachable && k < layout_.objects; ++k)
      if ((t.objects_lost >> k & 1) == 0) b.count(level.objects_held + 2 * k + (to_the_end ? 0 : 1));
    const int unknown = find_instant(j.unknown_from), slipped = find_instant(j.slipped_at);
    b.count(level.lost + find_instant(j.lost_at));
    b.count(level.lost_unknown + unknown);
    b.count(level.slipped + slipped);
    // Slips before an undecided stop are known slips.
    b.count(level.slipped_unknown + (slipped < layout_.instants ? layout_.instants : unknown));
    b.sums[layout_.iterations()] += t.iterations;
    b.sums[layout_.steps()] += t.steps;
    b.sums[layout_.unstable()] += t.unstable_steps;
    b.sums[layout_.tracked() + 2 * j.level] += j.in_hand;
    b.sums[layout_.tracked() + 2 * j.level + 1] += !j.decided;
  }

  void count_inputs(const double* u, const TrajectoryResult& j, Books& b) const {
    if (!j.decided) return;
    const TimeLevel& level = layout_.level[static_cast<std::size_t>(j.level)];
    for (int k = 0; k < layout_.inputs; ++k) {
      // u < 1, so the last bin gets the largest.
      const int bin = k * kInputBins + static_cast<int>(u[k] * kInputBins);
      b.count(level.decided_bin + bin);
      if (j.in_hand) b.count(level.held_bin + bin);
    }
  }

  /// The values of an undecided trajectory until its stop are no measurement of the whole.
  void count_values(const Trajectory& t, const TrajectoryResult& j, Books& b) const {
    const TimeLevel& level = layout_.level[static_cast<std::size_t>(j.level)];
    for (int k = 0; k < kTimeMetrics; ++k) {
      const double x = j.decided ? j.metric[static_cast<std::size_t>(k)] : NAN;
      b.value(level.shown[k], x, layout_.metric_sum(j.level, k));
    }
    for (int c = 0; c < layout_.contacts; ++c) {
      b.value(layout_.slip[c], j.decided ? t.slip[c] : NAN, layout_.slip_sum(c));
      b.value(layout_.force[c], j.decided ? t.peak_force[c] : NAN, layout_.force_sum(c));
    }
    if (t.slipped_first >= 0) b.count(layout_.slipped_first + t.slipped_first);
    if (!j.decided) return;
    const double audit[kAudits] = {t.energy_balance, t.momentum_balance, t.worst_gap,
                                   t.worst_cone,     t.worst_residual,   t.worst_ratio};
    for (int k = 0; k < kAudits; ++k) b.most(k, audit[k]);
  }

  /// Samples that never began are lost at once and uninformative: they are not in the ranking of losses.
  void remember(std::int64_t sample, const Trajectory& t, const TrajectoryResult& j, Books& b) const {
    if (!j.decided || t.end == MotionEnd::kUnreachable) return;
    const double value[kRemembered] = {t.end_time, t.peak_drift, j.metric[time_metric("slip_path")]};
    // Rankings ascend: the first losses, and of those in hand the ones that came nearest to being dropped.
    const double key = j.in_hand ? -t.peak_drift : t.end_time;
    for (int k = 0; k < kRemembered; ++k)
      b.tally.groups[static_cast<std::size_t>((j.in_hand ? kInHand : kLosses) * kRemembered + k)].add(
          {key, sample, static_cast<int>(t.end), value[k]});
    if (j.lost)
      b.tally.groups[static_cast<std::size_t>(kLevelLosses + j.level)].add({key, sample, static_cast<int>(t.end), key});
  }

  void keep_row(std::int64_t sample, const Trajectory& t, const TrajectoryResult& j, const double* u,
                std::vector<double>& kept) const {
    const std::string& keep = scenario_.plan.keep;
    if (keep == "none" || (keep == "failures" && j.in_hand)) return;
    kept.insert(kept.end(),
                {static_cast<double>(sample), static_cast<double>(j.level), static_cast<double>(t.end), t.end_time,
                 t.slip_time, t.peak_drift, t.peak_turn, t.least_margin, j.metric[time_metric("peak_force")],
                 j.metric[time_metric("peak_torque")], t.energy_balance, t.worst_residual});
    for (int k = 0; k < layout_.inputs; ++k)
      kept.push_back(study::quantile(inputs_[static_cast<std::size_t>(k)].distribution, u[k]));
  }

  void count_looks(const IndexRange& s, int k, Books& b) const {
    const auto n = static_cast<std::int64_t>(s.batch.trajectory.size());
    const int instant = layout_.band_instant[static_cast<std::size_t>(k)];
    const double* at = s.batch.looks.data() + instant * looks(layout_.contacts) * n + s.offset;
    for (std::int64_t i = 0; i < s.count; ++i) {
      const TimeLevel& level = layout_.level[static_cast<std::size_t>((s.first + i) % layout_.levels())];
      double look[kLooks], force[kMaxGroupContacts];
      for (int x = 0; x < kLooks; ++x) look[x] = at[x * n + i];
      for (int c = 0; c < layout_.contacts; ++c) force[c] = at[(kLooks + c) * n + i];
      level.bands.count_look(k, look, force, layout_.contacts, [&](int place) { b.count(place); });
    }
  }

  const Scenario& scenario_;
  const TimeLayout& layout_;
  const std::vector<Input>& inputs_;
};

}  // namespace

TimeStudy::TimeStudy(const Scenario& scenario) : TimeStudy(scenario, {}) {
  if (is_group(scenario)) {
    group_ = std::make_shared<GroupMotion>(scenario);
    run_ = [this](std::int64_t first, std::int64_t count, const Device& device) {
      return group_->run(first, count, device);
    };
    return;
  }
  motion_ = std::make_unique<Motion>(scenario);
  run_ = [this](std::int64_t first, std::int64_t count, const Device& device) {
    return motion_->run(first, count, device);
  };
}

TimeStudy::TimeStudy(const Scenario& scenario, Run run)
    : scenario_(scenario),
      inputs_(uncertain_inputs(scenario)),
      layout_(make_time_layout(scenario)),
      run_(std::move(run)) {}

MotionSeries TimeStudy::series(std::int64_t sample, int instants) const {
  return group_ ? group_->series(sample, instants) : motion_->series(sample, instants);
}

MotionSeries TimeStudy::nominal(int instants) const {
  return group_ ? group_->nominal(instants) : motion_->nominal(instants);
}

std::string TimeStudy::gpu_refusal() const { return grasp::gpu_refusal(scenario_); }

study::Shape TimeStudy::shape() const {
  study::Shape shape{.sums = static_cast<std::size_t>(layout_.sums()),
                     .tracked = 2 * layout_.level.size(),
                     .row = 12 + inputs_.size(),
                     .counts = static_cast<std::size_t>(layout_.counts),
                     .groups = kLevelLosses + layout_.level.size(),
                     .least = kAudits,
                     .buckets = static_cast<std::size_t>(layout_.buckets)};
  for (const TimeLevel& level : layout_.level)
    shape.outcomes.push_back({static_cast<std::size_t>(level.outcome), kMotionEnds});
  return shape;
}

std::span<const study::OutcomeWords> TimeStudy::outcome_words() const { return kMotionEndWords; }

std::vector<study::RowColumn> TimeStudy::columns() const {
  using study::Columns;
  using Type = Columns::Type;
  std::vector<std::string> names;
  for (const Input& input : inputs_) names.push_back(input.name);
  Columns columns;
  columns.number("index", Type::kWhole).number("level", Type::kWhole);
  columns.number("outcome", Type::kSmall, names_in(kMotionEndWords));
  for (const char* name : {"end_time", "slip_time", "peak_drift", "peak_turn", "least_margin", "peak_force",
                           "peak_torque", "energy_balance", "residual"})
    columns.number(name);
  return columns.numbers("inputs", names.size(), names).list();
}

study::Tally TimeStudy::run(std::int64_t first, std::int64_t count, const Device& device) const {
  const Counting counting(scenario_, layout_, inputs_);
  const study::Shape sizes = shape();
  if (device.executor != Executor::kCuda) {
    // A piece runs on one thread, without a nested team.
    const Device one{device.executor, 1, device.index};
    return study::count_blocks(sizes, {first, count, study_threads(device), kPiece}, [&] {
      return [&](std::int64_t at, std::int64_t n, study::Tally& tally, double* sums) {
        counting.count({run_(at, n, one), 0, at, n}, {{tally, sums}});
      };
    });
  }
  study::Tally total = study::empty_tally(sizes, first, count);
  BandCounts bands{{}, layout_.band_instant, total.counts};
  for (const TimeLevel& level : layout_.level) bands.level.push_back(level.bands);
  for (std::int64_t begin = first; begin < first + count; begin += kMaxOnGpu) {
    const std::int64_t some = std::min(kMaxOnGpu, first + count - begin);
    const Motions batch = group_ ? run_(begin, some, device) : motion_->run_counted(begin, some, device, bands);
    study::append(total, study::count_blocks(sizes, {begin, some, study_threads(device), kPiece}, [&] {
                    return [&](std::int64_t at, std::int64_t n, study::Tally& tally, double* sums) {
                      counting.count({batch, at - begin, at, n}, {{tally, sums}});
                    };
                  }));
  }
  for (std::size_t k = 0; k < total.counts.size(); ++k) total.counts[k] += bands.counts[k];
  return total;
}

}  // namespace garra::grasp
