// Makes the rules of all samples, the uncertain inputs and the counts from a scenario.
#include <algorithm>
#include <cmath>

#include "garra/math/pose.hpp"
#include "garra/platform_kinematics.hpp"
#include "platform/batch/poses.hpp"
#include "platform/study/platform_study.hpp"
#include "study/summary.hpp"

namespace garra::platform {

namespace {

using study::Distribution;
using study::Histogram;

constexpr double kCoulombSpeed = 1e-3;  ///< smooths friction, as in simulations [m/s]
constexpr int kMetricBins = 100;
constexpr std::int64_t kPilot = 64;  ///< samples that the ranges of histograms are made from

bool is_nothing(const Distribution& d) { return d.is_constant() && d.a == 0; }

/// Slots of a random direction, drawn only for a magnitude that is not zero.
void put_direction(const Distribution& size, int slot, StudyRules& rules) {
  rules.slot[slot] = size;
  // Without a magnitude nothing is drawn: the slots stay constant.
  if (is_nothing(size)) return;
  // The cosine of the polar angle: uniform on the sphere together with the azimuth.
  rules.slot[slot + 1] = Distribution::uniform(-1, 1);
  rules.slot[slot + 2] = Distribution::uniform(0, 2 * M_PI);
}

void put_inputs(const Scenario& s, StudyRules& rules) {
  for (Distribution& d : rules.slot) d = Distribution::constant(0);
  const Uncertainty& u = s.uncertain;
  rules.slot[kSlotPayloadMass] = u.payload_mass;
  for (int k = 0; k < 3; ++k) rules.slot[kSlotPayloadCom + k] = u.payload_com[static_cast<std::size_t>(k)];
  rules.slot[kSlotMassFactor] = u.mass_factor;
  rules.slot[kSlotCoulomb] = u.coulomb;
  rules.slot[kSlotViscous] = u.viscous;
  put_direction(u.force_radius, kSlotForce, rules);
  put_direction(u.moment_radius, kSlotMoment, rules);
  rules.slot[kSlotTilt] = u.tilt;
  if (!is_nothing(u.tilt)) rules.slot[kSlotTilt + 1] = Distribution::uniform(0, 2 * M_PI);
  for (int k = 0; k < 3 * kLegs; ++k) {
    rules.slot[kSlotBase + k] = u.base_error;
    rules.slot[kSlotAnchor + k] = u.anchor_error;
  }
  // A path's poses are given.
  if (s.kind != Study::kMap) return;
  if (s.map.tilt > 0) {
    rules.slot[kSlotLean] = {Distribution::Kind::kConeAngle, s.map.tilt, 1 - std::cos(s.map.tilt), 0, 1};
    rules.slot[kSlotLean + 1] = Distribution::uniform(0, 2 * M_PI);
  }
  if (s.map.turn > 0) rules.slot[kSlotLean + 2] = Distribution::uniform(-s.map.turn, s.map.turn);
}

StudyRules make_rules(const Scenario& s) {
  StudyRules rules{};
  put_inputs(s, rules);
  rules.seed = s.plan.seed;
  rules.kinematic = !(s.platform.mass > 0);
  const Uncertainty& u = s.uncertain;
  // Masses are needed where forces are asked for.
  if (s.simulation.on || s.allowed.force > 0 || !is_nothing(u.payload_mass) || !is_nothing(u.force_radius) ||
      !is_nothing(u.moment_radius))
    require_masses(s.platform);
  rules.model = make_model(s.platform);
  rules.limits = make_limits(s.platform);
  rules.home = home_place(s.platform);
  rules.home.p = normalized(rules.home.p);
  const Vec3<double> g = s.platform.gravity;
  const double size = norm(g);
  for (Vec3<double>& across : rules.gravity_across) across = Vec3<double>::zero();
  if (size > 0) {
    Vec3<double> t, o;
    // Any frame about gravity is valid: the direction of the tilt is uniform.
    complete_frame<double>((1 / size) * g, t, o);
    rules.gravity_across[0] = size * t;
    rules.gravity_across[1] = size * o;
  }
  rules.payload_radius = s.uncertain.payload_radius;
  rules.coulomb_speed = kCoulombSpeed;
  rules.force = s.allowed.force;
  rules.near_singular = s.allowed.near_singular;
  rules.characteristic_length = characteristic_length({s.platform}, s.allowed.characteristic_length);
  rules.position_error = s.allowed.position_error;
  rules.angle_error = s.allowed.angle_error;
  rules.instants = s.kind == Study::kMap ? 1 : s.path.instants;
  return rules;
}

std::vector<StudyUncertain> list_inputs(const Scenario& s) {
  std::vector<StudyUncertain> list;
  const auto add = [&](const std::string& name, const std::string& unit, const Distribution& d, int slot, int slots) {
    if (!d.is_constant()) list.push_back({name, unit, study::describe(d), slot, slots});
  };
  const auto add_direction = [&](const std::string& of, const Distribution& d, int slot, int slots) {
    if (!is_nothing(d)) list.push_back({of + " direction", "", "any", slot, slots});
  };
  const Uncertainty& u = s.uncertain;
  add("payload.mass", "kg", u.payload_mass, kSlotPayloadMass, 1);
  for (int k = 0; k < 3; ++k)
    add(std::string("payload.com ") + "xyz"[k], "m", u.payload_com[static_cast<std::size_t>(k)], kSlotPayloadCom + k,
        1);
  add("geometry.base_error", "m", u.base_error, kSlotBase, 3 * kLegs);
  add("geometry.anchor_error", "m", u.anchor_error, kSlotAnchor, 3 * kLegs);
  add("geometry.leg_mass_factor", "", u.mass_factor, kSlotMassFactor, 1);
  add("friction.coulomb", "N", u.coulomb, kSlotCoulomb, 1);
  add("friction.viscous", "N*s/m", u.viscous, kSlotViscous, 1);
  add("disturbance.force", "N", u.force_radius, kSlotForce, 1);
  add_direction("disturbance.force", u.force_radius, kSlotForce + 1, 2);
  add("disturbance.moment", "N*m", u.moment_radius, kSlotMoment, 1);
  add_direction("disturbance.moment", u.moment_radius, kSlotMoment + 1, 2);
  add("disturbance.tilt", "rad", u.tilt, kSlotTilt, 1);
  add_direction("disturbance.tilt", u.tilt, kSlotTilt + 1, 1);
  if (s.kind == Study::kMap && (s.map.tilt > 0 || s.map.turn > 0))
    list.push_back({"map.orientation", "rad", "any within tilt and turn", kSlotLean, 3});
  return list;
}

/// Equal bins that reach as far again beyond what the pilot samples have shown, to two digits.
Histogram choose_range(const std::vector<double>& seen, int offset) {
  double low = INFINITY, high = -INFINITY;
  for (const double x : seen)
    if (std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
  // No finite value: any axis is valid, all values lie outside.
  if (!(low <= high)) return {0, 1, kMetricBins, offset};
  const double spread = std::max({high - low, 0.05 * std::max(std::abs(low), std::abs(high)), 1e-6});
  // Ends on round numbers, in a hundredth to a tenth of the spread.
  const double step = std::pow(10, std::floor(std::log10(spread)) - 1);
  return {std::floor((low - spread) / step) * step, std::ceil((high + spread) / step) * step, kMetricBins, offset};
}

/// Sampling periods from one instant to the next.
int periods_between(double interval, const Controller& c) {
  const double periods = std::round(interval / c.period);
  if (!(periods >= 1 && std::abs(periods * c.period - interval) <= 1e-9 * interval))
    throw Error(ExitCode::kInvalidFile,
                "simulation.period: an instant every " + std::to_string(interval) +
                    " s is no whole number of periods of " + std::to_string(c.period) + " s",
                "Choose path.instants and path.duration, or the period, so that it is.");
  return static_cast<int>(periods);
}

/// Points of the platform's own frame for a path of the point `tool`.
std::vector<PathPoint<double>> path_points(const PathPoints& p, const Vec3<double>& tool) {
  std::vector<PathPoint<double>> list;
  for (std::size_t k = 0; k < p.time.size(); ++k) {
    const auto three = [&](const std::vector<double>& v, std::size_t at) {
      return Vec3<double>{{v[at], v[at + 1], v[at + 2]}};
    };
    const double* q = p.pose.quaternion.data() + 4 * k;
    const PathPoint<double> at{{three(p.pose.position, 3 * k), {{q[0], q[1], q[2], q[3]}}},
                               {three(p.velocity, 6 * k), three(p.velocity, 6 * k + 3)},
                               {three(p.acceleration, 6 * k), three(p.acceleration, 6 * k + 3)}};
    list.push_back(moved_to_center(at, -(rotation_matrix(at.place.p) * tool)));
  }
  return list;
}

}  // namespace

PlatformStudy::PlatformStudy(const Scenario& scenario)
    : scenario_(scenario), rules_(make_rules(scenario)), inputs_(list_inputs(scenario)) {
  if (is_map()) {
    scenario_.plan.samples = nodes() * scenario_.map.orientations;
    time_ = {0};
  } else {
    const PathPoints p = sample_path(scenario_.path);
    time_ = p.time;
    points_ = path_points(p, scenario_.tool);
    if (scenario_.simulation.on) make_simulation();
  }
  for (int k = 0; k < kStudySlots; ++k)
    if (!rules_.slot[k].is_constant()) slots_.push_back(k);
  make_layout();
}

void PlatformStudy::make_simulation() {
  const Simulation& s = scenario_.simulation;
  const StudyMachine<double> nominal = study_machine(rules_, medians(rules_));
  track_.control = s.control;
  track_.nominal = {nominal.model, nominal.shift};
  track_.method = runge_kutta4();
  track_.periods = periods_between(time_[1] - time_[0], s.control);
  PathPoint<double> start = points_.front();
  const Twist6<double> rest{Vec3<double>::zero(), Vec3<double>::zero()};
  start.velocity = start.acceleration = rest;
  Vec<double, kLegs> force;
  nominal_forces_into(track_.nominal, start, force);
  for (int i = 0; i < kLegs; ++i)
    track_.start_force[i] = s.control.law != ControlLaw::kForces ? force[i]
                            : s.forces.empty()                   ? s.force_factor * force[i]
                                                                 : s.forces[static_cast<std::size_t>(i)];
  Path path = scenario_.path;
  path.instants = (path.instants - 1) * track_.periods + 1;
  points_ = path_points(sample_path(path), scenario_.tool);
}

void PlatformStudy::make_layout() {
  StudyLayout& l = layout_;
  const int instants = rules_.instants, bins = static_cast<int>(slots_.size()) * study::kInputBins;
  const int nodes_kept = is_map() ? static_cast<int>(nodes()) : 0;
  const auto take = [](int& next, int n) {
    const int first = next;
    next += n;
    return first;
  };
  l.outcome = take(l.counts, kOutcomes);
  l.failed = take(l.counts, kOutcomes * (kLegs + 1));
  l.failed_at = take(l.counts, instants);
  l.peak_leg = take(l.counts, kLegs);
  l.peak_at = take(l.counts, instants);
  l.feasible_bin = take(l.counts, bins);
  l.decided_bin = take(l.counts, bins);
  l.node_feasible = take(l.counts, nodes_kept);
  l.node_decided = take(l.counts, nodes_kept);
  // A map has no envelope over time.
  l.force_low = take(l.least, is_map() ? 0 : instants * kLegs);
  l.force_high = take(l.least, is_map() ? 0 : instants * kLegs);
  l.node_sigma = take(l.least, nodes_kept);
  l.node_force = take(l.least, nodes_kept);
  // Ranges from a few samples spread over the run.
  const std::int64_t all = scenario_.plan.samples, pilot = std::min(kPilot, all);
  std::vector<double> seen[kStudyMetrics];
  for (std::int64_t i = 0; i < pilot; ++i) {
    StudyResults one(1, instants, false);
    // Scalar on one thread, whatever the device: the axes must not depend on it.
    evaluate(all / pilot * i, 1, {Executor::kScalar, 1}, one);
    const auto values = study::row_values(kStudyColumns, one.measured(0));
    for (std::size_t k = 0; k < kStudyMetrics; ++k) seen[k].push_back(values[k]);
  }
  for (int k = 0; k < kStudyMetrics; ++k) {
    l.metric[k] = choose_range(seen[k], l.counts);
    l.metric[k].buckets = k;
    l.counts += l.metric[k].size();
  }
}

}  // namespace garra::platform
