#include "platform/study/platform_study.hpp"

#include <algorithm>
#include <cmath>

#include "garra/systems/platform/conditioning.hpp"
#include "platform/study/platform_outcomes.hpp"
#include "study/count_blocks.hpp"
#include "study/summary.hpp"

namespace garra::platform {

namespace {

/// Number of a leg in results.h5, from 0; -1: none. In a sample legs count from 1, and 0 is none.
double number_of_leg(double leg) { return leg - 1; }

using study::at;
using study::kBlock;
using study::Total;

constexpr std::int64_t kOnGpu = 32 * kBlock;  ///< samples at once: their forces at all instants are some 100 MB

bool is_invalid(const StudyMeasured<double>& m) {
  return static_cast<int>(m.outcome) == static_cast<int>(Outcome::kInvalid);
}

void add_to(std::vector<std::int64_t>& counts, int i) { ++counts[static_cast<std::size_t>(i)]; }

void keep_smaller(std::vector<double>& least, int i, double x) {
  double& to = least[static_cast<std::size_t>(i)];
  if (x < to) to = x;
}

}  // namespace

Drawn<double> medians(const StudyRules& rules) {
  Drawn<double> x;
  for (int k = 0; k < kStudySlots; ++k) x[k] = rules.slot[k].nominal();
  // A disturbance of random direction has none at its median.
  for (const int slot : {kSlotForce, kSlotMoment, kSlotTilt}) {
    const bool drawn = !rules.slot[slot + 1].is_constant();
    // A size's median would still need a direction.
    if (drawn) x[slot] = 0;
  }
  return x;
}

study::Shape PlatformStudy::shape() const {
  std::size_t inputs = 0;
  for (const StudyUncertain& input : inputs_) inputs += static_cast<std::size_t>(input.slots);
  return {.sums = 2 * kStudyMetrics + 2,
          .tracked = 2,
          .row = kRowHead + kStudyMetrics + inputs,
          .counts = static_cast<std::size_t>(layout_.counts),
          .groups = kOutcomes,
          .least = static_cast<std::size_t>(layout_.least),
          .buckets = kStudyMetrics,
          .outcomes = {{static_cast<std::size_t>(layout_.outcome), kOutcomes}}};
}

std::span<const study::OutcomeWords> PlatformStudy::outcome_words() const { return kOutcomeWords; }

std::vector<study::RowColumn> PlatformStudy::columns() const {
  using study::Columns;
  using Type = Columns::Type;
  std::vector<std::string> names;
  for (const StudyUncertain& input : inputs_)
    for (int k = 0; k < input.slots; ++k)
      names.push_back(input.slots == 1 ? input.name : input.name + " " + std::to_string(k));
  Columns columns;
  columns.number("index", Type::kWhole).number("outcome", Type::kSmall, names_in(kOutcomeWords)).number("instant");
  columns.number("leg", Type::kIndex).number("peak_instant").number("peak_leg", Type::kIndex);
  columns.number("node", Type::kWhole);
  study::for_each_row(kStudyColumns, [&](const auto& row, int) {
    row.is_in(scenario_) ? columns.number(row.words.name) : columns.skip();
  });
  return columns.numbers("inputs", names.size(), names).list();
}

std::int64_t PlatformStudy::nodes() const {
  const auto& n = scenario_.map.points;
  return static_cast<std::int64_t>(n[0]) * n[1] * n[2];
}

Place<double> PlatformStudy::place_at(std::int64_t sample) const {
  const MapGrid& grid = scenario_.map;
  std::int64_t node = sample / grid.orientations;
  Vec3<double> r;
  for (int k = 0; k < 3; ++k) {
    const int points = grid.points[static_cast<std::size_t>(k)];
    const auto i = static_cast<int>(node % points);
    r[k] = points == 1 ? 0.5 * (grid.low[k] + grid.high[k])
                       : grid.low[k] + (grid.high[k] - grid.low[k]) * i / (points - 1);
    node /= points;
  }
  const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(sample));
  // The orientation is among the sample's own draws: replay finds the same pose.
  const Drawn<double> x = draw_inputs<double>(rules_, index);
  // Half angles, as Euler parameters have them.
  const double lean = x[kSlotLean] / 2, way = x[kSlotLean + 1], turn = x[kSlotLean + 2] / 2;
  const Quaternion<double> turned{{std::cos(turn), 0, 0, std::sin(turn)}},
      leaning{{std::cos(lean), std::sin(lean) * std::cos(way), std::sin(lean) * std::sin(way), 0}};
  // First the rotation about its own axis, then the tilt: the axis tilts by the drawn angle for any
  // rotation.
  const Quaternion<double> p = product(leaning, turned);
  return {r - rotation_matrix(p) * scenario_.tool, p};
}

batch::Tiles<Place<double>> PlatformStudy::places(std::int64_t first, std::int64_t count) const {
  batch::Tiles<Place<double>> tiles(count);
  for (std::int64_t i = 0; i < count; ++i) tiles.set(i, place_at(first + i));
  tiles.pad();
  return tiles;
}

std::vector<PathPoint<double>> PlatformStudy::points_at(std::int64_t sample) const {
  if (!is_map()) return points_;
  const Vec3<double> zero = Vec3<double>::zero();
  return {{place_at(sample), {zero, zero}, {zero, zero}}};
}

void PlatformStudy::evaluate(std::int64_t first, std::int64_t count, const Device& device,
                             StudyResults& results) const {
  if (!is_map()) return run_samples({rules_, points_, nullptr, track_rules()}, first, count, device, results);
  const auto where = places(first, count);
  run_samples({rules_, points_, &where}, first, count, device, results);
}

void PlatformStudy::count_inputs(std::int64_t sample, bool feasible, study::Tally& tally) const {
  const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(sample));
  int pair = -1;
  double u[2] = {0, 0};
  for (std::size_t k = 0; k < slots_.size(); ++k) {
    const int slot = slots_[k];
    // Two neighboring slots share a block of random numbers, drawn once.
    if (slot / 2 != pair) {
      pair = slot / 2;
      uniform_pair<double>(rules_.seed, index, static_cast<std::uint32_t>(pair), u[0], u[1]);
    }
    // By the uniform number, not the value: bins are equally likely for any distribution.
    const int bin = static_cast<int>(k) * study::kInputBins + static_cast<int>(u[slot % 2] * study::kInputBins);
    add_to(tally.counts, layout_.decided_bin + bin);
    if (feasible) add_to(tally.counts, layout_.feasible_bin + bin);
  }
}

void PlatformStudy::count_block(std::int64_t first, std::int64_t count, const StudyResults& results,
                                std::int64_t offset, study::Tally& t, double* sums) const {
  const StudyLayout& l = layout_;
  const std::string& keep = scenario_.plan.keep;
  for (std::int64_t i = 0; i < count; ++i) {
    const StudyMeasured<double> m = results.measured(offset + i);
    const std::int64_t sample = first + i;
    const int outcome = static_cast<int>(m.outcome), instant = static_cast<int>(m.instant);
    // Outcome::kFeasible is 0, as check() has it.
    const bool feasible = outcome == 0;
    const std::int64_t node = is_map() ? sample / scenario_.map.orientations : 0;
    add_to(t.counts, l.outcome + outcome);
    sums[2 * kStudyMetrics] += feasible;
    sums[2 * kStudyMetrics + 1] += is_invalid(m);
    const auto values = study::row_values(kStudyColumns, m);
    if (!is_invalid(m)) {
      for (int k = 0; k < kStudyMetrics; ++k)
        study::HostCounts{t, sums}.value(l.metric[k], values[static_cast<std::size_t>(k)], 2 * k);
      // Without masses no leg has a force.
      if (m.peak_leg > 0) {
        add_to(t.counts, l.peak_leg + static_cast<int>(m.peak_leg) - 1);
        add_to(t.counts, l.peak_at + static_cast<int>(m.peak_instant));
      }
      count_inputs(sample, feasible, t);
      // Rankings keep the smallest keys: minus the force ranks the highest first.
      t.worst.add({-m.peak_force, sample, outcome, m.peak_force});
      if (is_map()) {
        add_to(t.counts, l.node_decided + static_cast<int>(node));
        if (feasible) add_to(t.counts, l.node_feasible + static_cast<int>(node));
        keep_smaller(t.least, l.node_sigma + static_cast<int>(node), m.sigma);
        keep_smaller(t.least, l.node_force + static_cast<int>(node), -m.peak_force);
      }
    }
    if (!feasible) {
      add_to(t.counts, l.failed + outcome * (kLegs + 1) + static_cast<int>(m.leg));
      add_to(t.counts, l.failed_at + instant);
      t.groups[static_cast<std::size_t>(outcome)].add({m.instant, sample, outcome, m.instant});
    }
    if (keep == "none" || (keep == "failures" && feasible)) continue;
    t.kept.insert(t.kept.end(), {static_cast<double>(sample), m.outcome, m.instant, number_of_leg(m.leg),
                                 m.peak_instant, number_of_leg(m.peak_leg), static_cast<double>(node)});
    t.kept.insert(t.kept.end(), values.begin(), values.end());
    const Drawn<double> x =
        draw_inputs<double>(rules_, SampleIndex<double>::consecutive(static_cast<std::uint64_t>(sample)));
    for (const StudyUncertain& input : inputs_)
      for (int k = 0; k < input.slots; ++k) t.kept.push_back(x[input.slot + k]);
  }
  // A map has one instant, and its nodes have their own extremes.
  if (is_map()) return;
  for (std::int64_t i = 0; i < count; i += batch::kTile) {
    // Spare lanes of the last tile hold copies: they are not counted.
    const std::int64_t lanes = std::min(batch::kTile, count - i);
    for (int k = 0; k < rules_.instants; ++k) {
      for (int leg = 0; leg < kLegs; ++leg) {
        const double* f = results.forces((offset + i) / batch::kTile, k, leg);
        double low = INFINITY, high = INFINITY;
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
          low = f[lane] < low ? f[lane] : low;
          // Minus the force, so that largest values are kept as smallest ones (Tally::least).
          high = -f[lane] < high ? -f[lane] : high;
        }
        keep_smaller(t.least, l.force_low + k * kLegs + leg, low);
        keep_smaller(t.least, l.force_high + k * kLegs + leg, high);
      }
    }
  }
}

study::Tally PlatformStudy::run(std::int64_t first, std::int64_t count, const Device& device) const {
  const study::Shape sizes = shape();
  if (device.executor != Executor::kCuda)
    return study::count_blocks(sizes, {first, count, solve_threads(device)}, [&] {
      return [&, results = StudyResults(std::min(kBlock, count), rules_.instants, !is_map())](
                 std::int64_t at, std::int64_t n, study::Tally& tally, double* sums) mutable {
        evaluate(at, n, device, results);
        count_block(at, n, results, 0, tally, sums);
      };
    });
  study::Tally total = study::empty_tally(sizes, first, count);
  // Whole blocks: sums are per block, on the GPU as on the host.
  StudyResults results(std::min(kOnGpu, (count + kBlock - 1) / kBlock * kBlock), rules_.instants, !is_map());
  for (std::int64_t begin = first; begin < first + count; begin += kOnGpu) {
    const std::int64_t some = std::min(kOnGpu, first + count - begin);
    evaluate(begin, some, device, results);
    study::append(total, study::count_blocks(sizes, {begin, some, study_threads(device)}, [&] {
                    return [&](std::int64_t at, std::int64_t n, study::Tally& tally, double* sums) {
                      count_block(at, n, results, at - begin, tally, sums);
                    };
                  }));
  }
  return total;
}

bool PlatformStudy::every_node_is_known(const Total& t) const {
  const bool drawn = !inputs_.empty() || scenario_.map.tilt > 0 || scenario_.map.turn > 0;
  return is_map() && !drawn && t.count == scenario_.plan.samples && !t.counts.empty() &&
         at(t, layout_.outcome + static_cast<int>(Outcome::kInvalid)) == 0;
}

study::Estimate PlatformStudy::estimate(const Total& t) const {
  const study::Estimate e = Study::estimate(t);
  return every_node_is_known(t) ? study::Estimate{e.probability, {e.probability, e.probability}} : e;
}

StudySeries PlatformStudy::make_series(const StudyMachine<double>& machine,
                                       const std::vector<PathPoint<double>>& points) const {
  StudySeries s;
  s.time = time_;
  const auto append = [](std::vector<double>& to, const auto& row) { to.insert(to.end(), row.m, row.m + row.kRows); };
  const auto add = [&](const Place<double>& own, const StudyInstant<double>& now) {
    // The Jacobian is of the common center of mass, as in study_instant().
    const Place<double> center{own.r + rotation_matrix(own.p) * machine.shift, own.p};
    const auto J = length_jacobian(legs_at(machine.model, center));
    const Conditioning<double> c = conditioning(J, rules_.characteristic_length);
    append(s.pose.position, own.r);
    append(s.pose.quaternion, own.p);
    append(s.lengths, now.length);
    append(s.rates, now.rate);
    append(s.force, now.force);
    append(s.stroke, now.margins.stroke);
    append(s.universal, now.margins.universal);
    append(s.spherical, now.margins.spherical);
    s.clearance.push_back(now.margins.clearance);
    s.sigma_min.push_back(now.sigma);
    s.condition.push_back(c.sigma_max / c.sigma_min);
  };
  if (track_rules() == nullptr) {
    for (const PathPoint<double>& p : points) add(p.place, study_instant(rules_, machine, p));
    return s;
  }
  (void)track(rules_, track_, machine, points.data(),
              [&](int k, const PathPoint<double>& own, const StudyInstant<double>& now, const auto&) {
                const Place<double>& wanted = points[static_cast<std::size_t>(k * track_.periods)].place;
                add(own.place, now);
                s.position_error.push_back(norm(wanted.r - own.place.r));
                s.angle_error.push_back(2 * std::asin(std::min(1.0, 0.5 * norm(turn_error(wanted.p, own.place.p)))));
              });
  return s;
}

StudySeries PlatformStudy::nominal() const { return make_series(study_machine(rules_, medians(rules_)), points_at(0)); }

StudyReplay PlatformStudy::replay(std::int64_t sample) const {
  StudyResults one(1, rules_.instants, false);
  evaluate(sample, 1, {Executor::kScalar, 1}, one);
  const Drawn<double> x =
      draw_inputs<double>(rules_, SampleIndex<double>::consecutive(static_cast<std::uint64_t>(sample)));
  StudyReplay r{one.measured(0), {}, make_series(study_machine(rules_, x), points_at(sample))};
  for (const StudyUncertain& input : inputs_)
    for (int k = 0; k < input.slots; ++k) r.inputs.push_back(x[input.slot + k]);
  return r;
}

MapValues PlatformStudy::map(const Total& t) const {
  MapValues v;
  const MapGrid& grid = scenario_.map;
  for (int k = 0; k < 3; ++k)
    for (int i = 0, n = grid.points[static_cast<std::size_t>(k)]; i < n; ++i)
      v.axis[k].push_back(n == 1 ? 0.5 * (grid.low[k] + grid.high[k])
                                 : grid.low[k] + (grid.high[k] - grid.low[k]) * i / (n - 1));
  for (int k = 0; k < static_cast<int>(nodes()); ++k) {
    const std::int64_t decided = at(t, layout_.node_decided + k);
    const bool any = decided > 0;
    v.feasible_share.push_back(
        any ? static_cast<double>(at(t, layout_.node_feasible + k)) / static_cast<double>(decided) : NAN);
    v.sigma_min.push_back(any ? t.least[static_cast<std::size_t>(layout_.node_sigma + k)] : NAN);
    v.worst_force.push_back(any ? -t.least[static_cast<std::size_t>(layout_.node_force + k)] : NAN);
  }
  return v;
}

std::unique_ptr<study::Study> make_study(const Scenario& scenario) { return std::make_unique<PlatformStudy>(scenario); }

}  // namespace garra::platform
