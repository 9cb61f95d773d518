// Samples of a chain study: simulated in groups of designs, counted in their order.
#include "chain/study/chain_study.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "chain/study/chain_outcomes.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"
#include "garra/study/counting.hpp"
#include "study/count_blocks.hpp"

namespace garra::chain {

namespace {

using study::Histogram;

constexpr int kSettlingBins = 200, kBins = 100;
constexpr std::int64_t kTask = 128;  ///< samples simulated at once: what simulate() gives one thread
constexpr std::int64_t kPilot = 16;  ///< samples of each design that the ranges of histograms are made from
constexpr double kRoom = 2;          ///< ranges reach this many times beyond what these have shown

StudyOutcome classify_outcome(SimulationStatus status, double settling, const Design& design) {
  switch (status) {
    case SimulationStatus::kCompleted:
      if (!design.settles()) return StudyOutcome::kCompleted;
      // A sample that comes to rest after `within` is a failure, not undecided.
      return settling <= design.within ? StudyOutcome::kSettled : StudyOutcome::kLate;
    case SimulationStatus::kJointLimit:
      return StudyOutcome::kJointLimit;
    case SimulationStatus::kNonFinite:
      return StudyOutcome::kNonFinite;
    case SimulationStatus::kStepLimit:
      return StudyOutcome::kStepLimit;
    case SimulationStatus::kInvalidInput:
      break;
  }
  return StudyOutcome::kInvalidInput;
}

/// Sample i of a batch. What an unsolved one has left behind is no measurement.
Measured measure_trajectory(const Trajectories& t, std::size_t i, const Design& design) {
  const auto joints = static_cast<std::size_t>(t.joints);
  const double *torque = t.peak_torque.data() + i * joints, *speed = t.peak_speed.data() + i * joints;
  Measured m{classify_outcome(t.status[i], t.settling_time[i], design),
             t.worst_balance[i],
             {t.settling_time[i], *std::max_element(torque, torque + joints), t.end_work[i], t.end_dissipated[i]}};
  m.value.insert(m.value.end(), torque, torque + joints);
  m.value.insert(m.value.end(), speed, speed + joints);
  if (!is_unsolved(m.outcome)) return m;
  // Numbers of a state that blew up would spoil means and ranges.
  m.balance = NAN;
  m.value.assign(m.value.size(), NAN);
  return m;
}

/// The next number above that has two digits.
double round_up(double x) {
  // By whole powers of ten, so that the digits are exact where they can be.
  const double exponent = std::floor(std::log10(x)) - 1, power = std::pow(10, std::abs(exponent));
  // 1e-12: a number that has two digits already stays as it is.
  const double digits = std::ceil((exponent < 0 ? x * power : x / power) * (1 - 1e-12));
  return exponent < 0 ? digits / power : digits * power;
}

/// What a few samples have shown of one quantity.
struct Seen {
  double low = 0, high = 0;
  void add(double x) {
    if (!std::isfinite(x)) return;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  [[nodiscard]] Histogram histogram(int offset, int buckets) const {
    // Below 1e-300 there is nothing to scale; a range of 0 to 1 stands for "all zero".
    const double above = high > 1e-300 ? round_up(kRoom * high) : 0, below = low < -1e-300 ? round_up(-kRoom * low) : 0;
    // 0 - below: no negative zero in the file.
    return {0 - below, above + below > 0 ? above : 1, kBins, offset, buckets};
  }
};

/// Samples of the run that one call simulates.
struct Task {
  const Group* group;
  std::vector<std::int64_t> samples;
};

/// Samples first ... first + count - 1, sorted by group and cut into pieces of `most`.
std::vector<Task> make_tasks(const std::vector<Group>& groups, std::int64_t designs, std::int64_t first,
                             std::int64_t count, std::int64_t most) {
  std::vector<const Group*> home(static_cast<std::size_t>(designs));
  for (const Group& g : groups)
    for (const int d : g.designs) home[static_cast<std::size_t>(d)] = &g;
  std::vector<Task> tasks;
  std::vector<std::size_t> open(groups.size(), std::numeric_limits<std::size_t>::max());
  for (std::int64_t i = first; i < first + count; ++i) {
    const Group* g = home[static_cast<std::size_t>(i % designs)];
    // A full task is left and another begun, in the order of the samples.
    std::size_t& at = open[static_cast<std::size_t>(g - groups.data())];
    if (at >= tasks.size() || std::ssize(tasks[at].samples) >= most) {
      at = tasks.size();
      tasks.push_back({g, {}});
    }
    tasks[at].samples.push_back(i);
  }
  return tasks;
}

}  // namespace

Study::Study(const Scenario& scenario)
    : scenario_(scenario), inputs_(uncertain_inputs(scenario)), groups_(group_designs(scenario)) {
  metrics_ = static_cast<int>(kOfJoints) + 2 * scenario.robot.joints;
  counts_ =
      kStudyOutcomes + Histogram{0, 1, kSettlingBins, 0}.size() + (metrics_ - 1) * Histogram{0, 1, kBins, 0}.size();
}

study::Shape Study::shape() const {
  const auto n = scenario_.designs.size();
  const auto row = 7 + inputs_.size() + 2 * static_cast<std::size_t>(scenario_.robot.joints);
  const auto counts = static_cast<std::size_t>(counts_), metrics = static_cast<std::size_t>(metrics_);
  study::Shape shape{.sums = 2 * n * metrics + 2 * n,
                     .tracked = 2 * n,
                     .row = row,
                     .counts = n * counts,
                     .groups = 2 * n,
                     .buckets = n * metrics};
  for (std::size_t d = 0; d < n; ++d) shape.outcomes.push_back({d * counts, kStudyOutcomes});
  return shape;
}

std::span<const study::OutcomeWords> Study::outcome_words() const { return kOutcomeWords; }

std::vector<study::RowColumn> Study::columns() const {
  using study::Columns;
  std::vector<std::string> names;
  for (const Input& input : inputs_) names.push_back(input.name);
  const auto joints = static_cast<std::size_t>(scenario_.robot.joints);
  Columns columns;
  columns.number("index", Columns::Type::kWhole).number("outcome", Columns::Type::kSmall, names_in(kOutcomeWords));
  columns.number("design", Columns::Type::kWhole).number("settling_time").number("balance").number("work");
  columns.number("dissipated").numbers("inputs", names.size(), names);
  return columns.numbers("peak_torque", joints).numbers("peak_speed", joints).list();
}

std::vector<double> Study::row(std::int64_t sample, const Measured& m) const {
  const Drawn x = list_inputs(sample);
  std::vector<double> row = {static_cast<double>(sample),
                             static_cast<double>(m.outcome),
                             static_cast<double>(sample % designs()),
                             m.settling(),
                             m.balance,
                             m.value[kWorkOfTorques],
                             m.value[kDissipatedEnergy]};
  for (const Input& input : inputs_) row.push_back(x[static_cast<std::size_t>(input.slot)]);
  row.insert(row.end(), m.of_joints().begin(), m.of_joints().end());
  return row;
}

std::vector<DesignLayout> Study::make_layouts() const {
  std::vector<std::vector<Seen>> seen(scenario_.designs.size(), std::vector<Seen>(static_cast<std::size_t>(metrics_)));
  for (const Group& group : groups_) {
    std::vector<Drawn> inputs;
    for (const int d : group.designs) {
      const Design& design = scenario_.designs[static_cast<std::size_t>(d)];
      inputs.push_back(nominal_inputs(design, scenario_.robot.joints));
      for (std::uint64_t k = 0; k < kPilot; ++k)
        inputs.push_back(draw_inputs(design, scenario_.robot.joints, scenario_.plan.seed, k));
    }
    // On the default device, whatever the run's: ranges must not depend on where it runs.
    const Trajectories t = simulate_group(group, inputs, {}, {});
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto d = static_cast<std::size_t>(group.designs[i / (kPilot + 1)]);
      auto next = seen[d].begin();
      for (const double x : measure_trajectory(t, i, scenario_.designs[d]).value) (next++)->add(x);
    }
  }
  std::vector<DesignLayout> layouts;
  int next = 0, buckets = 0;
  for (std::size_t d = 0; d < scenario_.designs.size(); ++d) {
    DesignLayout& l = layouts.emplace_back();
    l.outcome = next;
    next += kStudyOutcomes;
    for (const Seen& range : seen[d]) {
      // Settling times have a range of their own: until the end.
      const bool settling = l.metric.empty();
      l.metric.push_back(settling ? Histogram{0, scenario_.designs[d].options.duration, kSettlingBins, next, buckets}
                                  : range.histogram(next, buckets));
      next += l.metric.back().size();
      ++buckets;
    }
  }
  return layouts;
}

const std::vector<DesignLayout>& Study::layouts() const {
  std::call_once(once_, [&] { layouts_ = make_layouts(); });
  return layouts_;
}

void Study::count(std::int64_t sample, const Measured& m, study::Tally& t, double* sums) const {
  const int d = static_cast<int>(sample % designs());
  const DesignLayout& l = layouts_[static_cast<std::size_t>(d)];
  const auto outcome = static_cast<int>(m.outcome);
  study::HostCounts to{t, sums};
  to.count(l.outcome + outcome);
  for (int k = 0; k < metrics_; ++k)
    to.value(l.metric[static_cast<std::size_t>(k)], m.value[static_cast<std::size_t>(k)], 2 * (d * metrics_ + k));
  const int tracked = 2 * (designs() * metrics_ + d);
  to.sum(tracked, is_success(m.outcome));
  to.sum(tracked + 1, is_unsolved(m.outcome));
  if (is_unsolved(m.outcome)) return;
  // Rankings rise, so the slowest comes first with its sign turned.
  t.groups[static_cast<std::size_t>(d)].add({-m.settling(), sample, outcome, m.settling()});
  if (m.outcome == StudyOutcome::kJointLimit) return;
  const study::Extreme balance{-std::abs(m.balance), sample, outcome, m.balance};
  t.groups[static_cast<std::size_t>(designs() + d)].add(balance);
  t.worst.add(balance);
}

std::vector<Measured> Study::measure_samples(std::int64_t first, std::int64_t count, const Device& device) const {
  const bool gpu = device.executor == Executor::kCuda;
  // A GPU takes a group at once; threads of the host take pieces.
  const std::vector<Task> tasks = make_tasks(groups_, designs(), first, count, gpu ? count : kTask);
  std::vector<Measured> measured(static_cast<std::size_t>(count));
  const auto work = [&](const Task& task, const Device& on) {
    std::vector<Drawn> inputs;
    for (const std::int64_t i : task.samples) inputs.push_back(list_inputs(i));
    const Trajectories t = simulate_group(*task.group, inputs, {}, on);
    for (std::size_t k = 0; k < task.samples.size(); ++k) {
      const std::int64_t i = task.samples[k];
      measured[static_cast<std::size_t>(i - first)] = measure_trajectory(t, k, design_of(i));
    }
  };
  if (gpu) {
    for (const Task& task : tasks) work(task, device);
    return measured;
  }
  Device one = device;
  one.threads = 1;
  batch::parallel_for(study_threads(device), std::ssize(tasks),
                      [&](std::int64_t k) { work(tasks[static_cast<std::size_t>(k)], one); });
  return measured;
}

study::Tally Study::run(std::int64_t first, std::int64_t count, const Device& device) const {
  static_cast<void>(layouts());  // made here: the threads below only read them
  const std::vector<Measured> measured = measure_samples(first, count, device);
  const std::string& keep = scenario_.plan.keep;
  const auto counter = [&](std::int64_t begin, std::int64_t n, study::Tally& t, double* sums) {
    for (std::int64_t i = begin; i < begin + n; ++i) {
      const Measured& m = measured[static_cast<std::size_t>(i - first)];
      this->count(i, m, t, sums);
      if (keep == "none" || (keep == "failures" && is_success(m.outcome))) continue;
      const std::vector<double> kept = row(i, m);
      t.kept.insert(t.kept.end(), kept.begin(), kept.end());
    }
  };
  return study::count_blocks(shape(), {first, count, study_threads(device)}, [&] { return counter; });
}

const Design& Study::design_of(std::int64_t sample) const {
  return scenario_.designs[static_cast<std::size_t>(sample % designs())];
}

Drawn Study::list_inputs(std::int64_t sample) const {
  return draw_inputs(design_of(sample), scenario_.robot.joints, scenario_.plan.seed,
                     static_cast<std::uint64_t>(sample / designs()));
}

const Group& Study::sample_group(int design) const {
  for (const Group& g : groups_)
    if (std::find(g.designs.begin(), g.designs.end(), design) != g.designs.end()) return g;
  return groups_.front();  // not reached: every design has a group
}

Replay Study::replay(std::int64_t sample, bool outputs) const {
  const Design& design = design_of(sample);
  const Group& group = sample_group(static_cast<int>(sample % designs()));
  const Drawn x = list_inputs(sample);
  // A replay is bit for bit the run's sample (simulate_group).
  Replay r{sample % designs(),
           sample / designs(),
           {},
           measure_trajectory(simulate_group(group, {x}, {}, {}), 0, design),
           {}};
  for (const Input& input : inputs_) r.inputs.push_back(x[static_cast<std::size_t>(input.slot)]);
  if (outputs) r.trajectory = simulate_group(group, {x}, output_times(design, design.options.duration), {});
  return r;
}

std::unique_ptr<study::Study> make_study(const Scenario& scenario) {
  const auto joints = static_cast<std::size_t>(scenario.robot.joints);
  for (const Design& d : scenario.designs) {
    for (const JointInputs* in : {&d.q, &d.qd, &d.damping})
      if (in->value.empty() || in->value.size() > joints || (!in->common && in->value.size() != joints))
        throw Error(ExitCode::kUsage,
                    "q, qd or damping has " + std::to_string(in->value.size()) + " distributions for " +
                        std::to_string(joints) + " joints",
                    "Give one per joint, or one that is common.");
    if (!d.amplitude.is_constant() && d.torque.amplitude.empty())
      throw Error(ExitCode::kUsage, "the amplitude is uncertain, and the torque has none",
                  "Give torque.amplitude, one number per joint.");
  }
  return std::make_unique<Study>(scenario);
}

}  // namespace garra::chain
