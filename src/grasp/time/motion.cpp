// Computes trajectories of a grasp on the host: rules from the scenario, blocks of samples, one sample in full.
#include "grasp/time/motion.hpp"

#include <algorithm>
#include <cstring>

#include "contact/batch/arrays.hpp"
#include "contact/batch/lanes.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"
#include "grasp/sample/finger_command.hpp"
#include "grasp/sample/links.hpp"
#include "grasp/study/grasp_study.hpp"
#include "grasp/study/study_solver.hpp"
#include "grasp/time/host.hpp"
#include "grasp/time/motion_outcomes.hpp"

namespace garra::grasp {

namespace {

MotionRules make_rules(const Scenario& s, const GraspModel& grasp) {
  const InTime& time = *s.time;
  MotionRules r{};
  r.grasp = grasp;
  r.step = {time.scheme == Scheme::kExplicit, time.step, time.restitution, time.baumgarte};
  r.controller = time.controller;
  r.drive = time.drive;
  r.slip = time.slip;
  r.drop = time.drop;
  r.drop_turn = time.drop_turn;
  r.duration = time.duration;
  r.tolerance = s.tolerance;
  // If every force or torque is given, nothing is balanced: neither the weight nor, later, its tilt.
  r.controller_mass = !any_balances(s) ? 0 : s.nominal_mass > 0 ? s.nominal_mass : s.object.mass.nominal();
  r.levels = !time.friction.empty();
  for (const TimeLoad& load : time.loads) {
    r.carried = r.carried || load.kind == TimeLoad::Kind::kSampled;
    if (load.kind == TimeLoad::Kind::kShake) {
      r.shaken = true;
      r.shake_rms = load.rms;
    }
  }
  for (std::size_t j = 0; j < s.contacts.size(); ++j) {
    r.kind[j] = followed_surface(s.contacts[j], j, "which [simulation] cannot follow");
    r.nominal_friction[j] = nominal_friction(s, j);
    r.limits[j] = find_limits(s, j);
  }
  return r;
}

/// A block of samples in progress on the host.
class HostBlock : private ContactsInUse {
 public:
  HostBlock(const MotionModel& model, std::int64_t count, bool recorded)
      : ContactsInUse(model.rules.grasp.contacts),
        memory_(count),
        draw_(static_cast<std::size_t>(memory_.padded())),
        tiles_(cut_tiles<kAnyContacts>(model, draw_.data(), memory_.padded(), recorded,
                                       [&](int fields) { return memory_.take(fields); })) {}
  void assign(const MotionModel& model, std::int64_t first, std::int64_t count) {
    model.assign(first, count, draw_.data(), tiles_.levels);
  }
  [[nodiscard]] const MotionTiles& tiles() const { return tiles_; }

 private:
  HostMemory memory_;
  std::vector<std::uint64_t> draw_;
  MotionTiles tiles_;
};

/// Copies the measures of sample i of a block in host memory to sample `at` of `out`.
void take_sample(const MotionModel& model, const MotionTiles& host, std::int64_t i, std::int64_t at, Motions& out) {
  const auto m = batch::load<double, MotionMeasures<double, kAnyContacts>>(host.measures, i);
  const int contacts = model.rules.grasp.contacts;
  Trajectory& t = out.trajectory[static_cast<std::size_t>(at)];
  t = take_trajectory(m, contacts, static_cast<double>(model.steps) * model.rules.step.step);
  for (int j = 0; j < contacts; ++j)
    if (!model.rules.limits[j].torque_limited) t.peak_torque[j] = NAN;
  const int draws = model.rules.grasp.draws;
  const double* u = host.parts.uniforms + (i / batch::kTile) * draws * batch::kTile + i % batch::kTile;
  for (int k = 0; k < draws; ++k) out.uniforms[static_cast<std::size_t>(at * draws + k)] = u[k * batch::kTile];
}

/// Samples that a thread copies at once: whole tiles.
constexpr std::int64_t kTakenAtOnce = 1024;

void run_block(const MotionModel& model, Executor executor, std::int64_t first, std::int64_t at, std::int64_t count,
               Motions& out) {
  HostBlock block(model, count, false);
  block.assign(model, first + at, count);
  const std::int64_t look_size = block.tiles().padded * MotionSizes<kAnyContacts>::look();
  batch::Tiles<double> looks(std::ssize(model.look_steps()) * look_size);
  std::fill_n(looks.data(), looks.doubles(), NAN);  // if all samples have ended before
  run_steps<kAnyContacts>(HostBackend{executor, &model.rules, model.solver}, model, block.tiles(),
                          AllLooks{looks.data(), look_size}, count, [](const StepNow&) {});
  take_measures(model, block.tiles(), at, count, 1, out);
  const std::vector<std::size_t> slots = model.slots_of_instants();
  for (std::size_t slot = 0; slot <= slots.back(); ++slot)
    take_looks(slots, slot, looks.data() + static_cast<std::int64_t>(slot) * look_size, at, count, 1, out);
}

/// State of one finger at the end of a step, at which its next step would begin.
template <chain::Joints K, int J>
[[gnu::noinline]] void append_finger(const MotionRules& rules, const MotionTiles& tiles, const StepNow& step, int j,
                                     MotionSeries& out) {
  const FingerChain<J>& finger = finger_chain<J>(rules.grasp.finger[j]);
  const FingerDrive<J> drive = make_finger_drive<J>(rules, j, step);
  auto x = batch::load<double, FingerMotion<double, J>>(tiles.finger_tile(j), 0);
  const auto order = batch::load<double, FingerOrder<double>>(tiles.order_tile(j), 0);
  const Vec<double, J> q = axpy(drive.at_start ? 0.0 : 0.5 * drive.step, x.qd, x.q);
  const auto gravity = chain::gravity_torque<K>(finger.model, chain::angles<K>(finger.model, q), order.gravity);
  // `driven` is the torque minus gravity, at the configuration at which the step used it.
  Vec<double, J> tau = x.driven + gravity;
  end_step(drive, batch::load<double, Vec3<double>>(tiles.impulse_tile(j), 0), order.running, x);
  const auto at = static_cast<std::size_t>(j);
  for (int i = 0; i < finger.joints; ++i) {
    out.q[at].push_back(x.q[i]);
    out.qd[at].push_back(x.qd[i]);
    out.tau[at].push_back(tau[i] + spring_and_damper(drive, x, i, x.qd[i]));
  }
  append_links<K>(finger, x.q, out.links[at]);
}

void append_record(const MotionTiles& tiles, const StepNow& step, double time, MotionSeries& out) {
  const auto r = batch::load<double, StepRecord<double, kAnyContacts>>(tiles.records, 0);
  const auto add = [](std::vector<double>& to, const double* from, int n) { to.insert(to.end(), from, from + n); };
  const int n = extent<kAnyContacts>();
  out.time.push_back(time);
  set_first(r.object, out);
  add(out.position, r.object.p.m, 3);
  add(out.quaternion, r.object.turn.m, 4);
  add(out.velocity, r.object.v.m, 3);
  add(out.spin, r.object.w.m, 3);
  const Vec<double, 6> load = r.object.wrench + step.now.wrench;
  add(out.load, load.m, 6);
  add(out.gravity, r.gravity.m, 3);
  add(out.gap, r.gap.m, n);
  add(out.normal, r.normal.m, 3 * n);
  add(out.force, r.force.m, 3 * n);
  add(out.force_palm, r.palm_force.m, 3 * n);
  add(out.slip_speed, r.slip_speed.m, n);
  for (int j = 0; j < n; ++j) out.state.push_back(static_cast<int>(r.state[j]));
  out.kinetic.push_back(r.kinetic);
  out.balance.push_back(r.balance);
}

MotionSeries make_series(const MotionModel& model, std::int64_t sample, int instants) {
  const int contacts = model.rules.grasp.contacts;
  Motions one{contacts, model.instants, model.rules.grasp.draws, std::vector<Trajectory>(1), {}, {}};
  one.uniforms.resize(static_cast<std::size_t>(one.draws));
  MotionSeries out;
  for (auto* list : {&out.q, &out.qd, &out.tau, &out.links}) list->resize(static_cast<std::size_t>(contacts));
  HostBlock block(model, 1, true);
  block.assign(model, sample, 1);
  const MotionTiles& tiles = block.tiles();
  const HostBackend backend{Executor::kScalar, &model.rules, model.solver};
  // The first run finds the trajectory's duration, the second records it.
  run_steps<kAnyContacts>(backend, model, tiles, NoLooks{}, 1, [](const StepNow&) {});
  take_measures(model, tiles, 0, 1, 1, one);
  // A sample that never begins still has the row of its first step.
  const std::int64_t last = std::max<std::int64_t>(1, std::llround(one.trajectory[0].steps));
  std::int64_t done = 0;
  run_steps<kAnyContacts>(backend, model, tiles, NoLooks{}, 1, [&](const StepNow& step) {
    if (++done > last || !is_shown(done, last, instants)) return;
    append_record(tiles, step, static_cast<double>(done) * model.rules.step.step, out);
    for (int j = 0; j < contacts; ++j)
      with_finger_size(model.rules.grasp.finger[j].size,
                       [&](auto joints, auto size) { append_finger<joints, size>(model.rules, tiles, step, j, out); });
  });
  for (int j = 0; j < contacts; ++j)
    out.friction.push_back(batch::load<double, FingerTask<double>>(tiles.parts.task_tile(j), 0).friction);
  if (model.rules.shaken || model.rules.carried) {
    ShakePhases<double> shake{};
    if (model.rules.shaken) shake = batch::load<double, ShakePhases<double>>(tiles.shakes, 0);
    append_palm(model.clock, shake, {model.rules.step.step, model.steps}, out);
  }
  out.trajectory = one.trajectory[0];
  for (int k = 0; k < one.draws; ++k)
    out.inputs.push_back(
        study::quantile(model.rules.grasp.draw[k].distribution, one.uniforms[static_cast<std::size_t>(k)]));
  out.scale = model.rules.grasp.constant[kScale];
  for (int k = 0; k < one.draws; ++k)
    if (model.rules.grasp.draw[k].slot == kScale) out.scale = out.inputs[static_cast<std::size_t>(k)];
  return out;
}

}  // namespace

bool is_shown(std::int64_t step, std::int64_t steps, int instants) {
  const std::int64_t gaps = instants - 1, k = (step * gaps + steps / 2) / steps;
  return step == 1 || (k * steps + gaps / 2) / gaps == step;
}

void append_palm(const LoadClock& clock, const ShakePhases<double>& shake, const Steps& steps, MotionSeries& out) {
  out.tones = clock.tones(shake);
  const auto add = [&](double t, std::vector<double>& to) {
    const Vec3<double> a = clock.palm(t, shake);
    to.insert(to.end(), a.m, a.m + 3);
  };
  for (const double t : out.time) add(t, out.palm);
  out.palm_step_time.push_back(0);
  for (std::int64_t k = 0; k < steps.count; ++k)
    // The middle of a step as LoadClock::at() computes it, to the bit.
    out.palm_step_time.push_back(0.5 *
                                 (static_cast<double>(k) * steps.length + static_cast<double>(k + 1) * steps.length));
  out.palm_step_time.push_back(static_cast<double>(steps.count) * steps.length);
  for (const double t : out.palm_step_time) add(t, out.palm_step);
}

void check_times(const InTime& time) {
  // A whole number except for the rounding of decimal fractions such as 2 / 0.001.
  const double steps = time.duration / time.step;
  if (!(time.step > 0) || !(steps >= 1) || std::abs(steps - std::round(steps)) > 1e-6 * steps)
    throw Error(ExitCode::kInvalidFile, "simulation.duration is not a whole number of steps",
                "choose simulation.step as until / n");
  if (time.instants < 2 || static_cast<double>(time.instants) > std::round(steps) + 1)
    throw Error(ExitCode::kInvalidFile,
                "simulation.instants = " + std::to_string(time.instants) + " does not fit the steps",
                "give 2 to the number of steps + 1");
}

SurfaceKind followed_surface(const Contact& c, std::size_t j, const std::string& why) {
  const SurfaceKind kind = surface_kind(c.curvature_t, c.curvature_o);
  if (kind != SurfaceKind::kNone) return kind;
  throw Error(ExitCode::kInvalidFile, "contact " + std::to_string(j) + " has two different curvatures, " + why,
              "give both directions the same curvature, or one of them 0");
}

void MotionModel::assign(std::int64_t first, std::int64_t count, std::uint64_t* draw, double* friction) const {
  const std::int64_t padded = batch::tiles_for(count) * batch::kTile;
  const std::int64_t n = std::max<std::int64_t>(1, std::ssize(levels));
  for (std::int64_t i = 0; i < padded; ++i) {
    // Sample i is draw i / n at level i mod n: all levels meet the same draws.
    const std::int64_t sample = first + std::min(i, count - 1);
    draw[i] = static_cast<std::uint64_t>(sample / n);
    friction[i] = levels.empty() ? 0 : levels[static_cast<std::size_t>(sample % n)];  // SampleLevel is one number
  }
}

FingerLimits find_limits(const Scenario& s, std::size_t finger) {
  FingerLimits limits = FingerLimits::none();
  const auto copy = [&](const std::vector<std::vector<double>>& given, double* to) {
    if (finger < given.size()) std::copy(given[finger].begin(), given[finger].end(), to);
  };
  const auto torque = torque_limits(s);
  copy(torque, limits.torque);
  copy(s.time->lower, limits.lower);
  copy(s.time->upper, limits.upper);
  limits.torque_limited = finger < torque.size() && !torque[finger].empty();
  return limits;
}

Trajectory take_trajectory(const MotionMeasures<double, kAnyContacts>& m, int contacts, double duration) {
  Trajectory t;
  // Trajectories that go on to the end have reached `duration`.
  t.end_time = m.end < 0 ? duration : m.end_time;
  t.slip_time = m.slip_time;
  t.slipped_first = static_cast<int>(m.slipped_first);
  t.open_time = m.open_time;
  t.end = m.end >= 0                ? static_cast<MotionEnd>(static_cast<int>(m.end))
          : m.slip_time < kInfinity ? MotionEnd::kSlipped
                                    : MotionEnd::kHeld;
  std::copy_n(m.slip.m, contacts, t.slip);
  std::copy_n(m.peak_force.m, contacts, t.peak_force);
  std::copy_n(m.peak_torque.m, contacts, t.peak_torque);
  t.peak_drift = m.peak_drift;
  t.peak_turn = m.peak_turn;
  t.least_margin = m.least_margin;
  t.energy_balance = m.energy_balance;
  t.momentum_balance = m.momentum_balance;
  t.worst_gap = m.worst_gap;
  t.worst_cone = m.worst_cone;
  t.worst_residual = m.worst_residual;
  t.iterations = m.iterations;
  t.steps = m.steps;
  t.unstable_steps = m.unstable_steps;
  t.worst_ratio = m.worst_ratio;
  return t;
}

void take_measures(const MotionModel& model, const MotionTiles& host, std::int64_t first, std::int64_t count,
                   int threads, Motions& out) {
  batch::for_blocks(threads, {count, kTakenAtOnce}, [&](std::int64_t from, std::int64_t n) {
    const ContactsInUse many(model.rules.grasp.contacts);
    for (std::int64_t i = from; i < from + n; ++i) take_sample(model, host, i, first + i, out);
  });
}

// Samples are adjacent in both: whole tiles are copied.
void take_looks(const std::vector<std::size_t>& slots, std::size_t slot, const double* tiles, std::int64_t first,
                std::int64_t count, int threads, Motions& out) {
  const int fields = looks(out.contacts);
  const auto all = static_cast<std::int64_t>(out.trajectory.size());
  batch::for_blocks(threads, {count, kTakenAtOnce}, [&](std::int64_t from, std::int64_t n) {
    for (std::size_t instant = 0; instant < slots.size(); ++instant) {
      if (slots[instant] != slot) continue;
      double* to = out.looks.data() + static_cast<std::int64_t>(instant) * fields * all + first;
      for (std::int64_t i = from; i < from + n; i += batch::kTile)
        for (int f = 0; f < fields; ++f)
          std::copy_n(tiles + (i * fields + f * batch::kTile), std::min(batch::kTile, from + n - i), to + f * all + i);
    }
  });
}

StepNow MotionModel::at(std::int64_t step, std::vector<std::vector<double>>& torques) const {
  const double from = static_cast<double>(step) * rules.step.step, to = static_cast<double>(step + 1) * rules.step.step;
  StepNow out;
  out.now = clock.at(from, to);
  out.first = step == 0;
  if (sample_times.empty()) return out;
  // Torques are constant before the first row and after the last.
  const double t = std::clamp(0.5 * (from + to), sample_times.front(), sample_times.back());
  const auto next = std::upper_bound(sample_times.begin(), sample_times.end(), t);
  const auto k = static_cast<std::size_t>(std::max<std::ptrdiff_t>(next - sample_times.begin() - 1, 0));
  const std::size_t k1 = std::min(k + 1, sample_times.size() - 1);
  const double share = k1 > k ? (t - sample_times[k]) / (sample_times[k1] - sample_times[k]) : 0;
  // StepNow points into `torques`, which the caller keeps for all steps: no allocation from the second step on.
  torques.resize(sample_torques.size());
  for (std::size_t j = 0; j < sample_torques.size(); ++j) {
    const std::size_t joints = sample_torques[j].size() / sample_times.size();
    torques[j].resize(joints);
    for (std::size_t i = 0; i < joints; ++i)
      torques[j][i] = std::lerp(sample_torques[j][k * joints + i], sample_torques[j][k1 * joints + i], share);
    out.torques[j] = torques[j].data();
  }
  return out;
}

std::int64_t MotionModel::step_of_instant(int i) const {
  // Before the first step nothing is measured, so instant 0 is recorded after it.
  return std::max<std::int64_t>(1, (i * steps + (instants - 1) / 2) / (instants - 1));
}

std::vector<std::int64_t> MotionModel::look_steps() const {
  std::vector<std::int64_t> list;
  for (int i = 0; i < instants; ++i)
    if (list.empty() || list.back() != step_of_instant(i)) list.push_back(step_of_instant(i));
  return list;
}

std::vector<std::size_t> MotionModel::slots_of_instants() const {
  const std::vector<std::int64_t> list = look_steps();
  std::vector<std::size_t> slots;
  std::size_t slot = 0;
  for (int i = 0; i < instants; ++i) {
    while (list[slot] != step_of_instant(i)) ++slot;
    slots.push_back(slot);
  }
  return slots;
}

const char* to_string(MotionEnd end) { return study::name_at(kMotionEndWords, static_cast<int>(end)); }

Motion::Motion(const Scenario& scenario) : scenario_(scenario) {
  if (!scenario.time)
    throw Error(ExitCode::kInvalidFile, "this scenario has no [simulation]", "write a [simulation] table");
  const InTime& time = *scenario.time;
  check_times(time);
  const auto grasp = make_model(scenario);
  model_ = std::make_unique<MotionModel>(MotionModel{.rules = make_rules(scenario, *grasp),
                                                     .solver = contact_options(scenario),
                                                     .clock = LoadClock(time.loads, scenario.gravity, time.duration)});
  model_->steps = std::llround(time.duration / time.step);
  model_->instants = time.instants;
  model_->levels = time.friction;
  if (time.drive == Drive::kSampled) {
    model_->sample_times = time.sample_times;
    model_->sample_torques = time.sample_torques;
  }
}

Motion::~Motion() = default;

int Motion::contacts() const { return model_->rules.grasp.contacts; }
int Motion::draws() const { return model_->rules.grasp.draws; }
int Motion::levels() const { return std::max(1, static_cast<int>(model_->levels.size())); }

namespace {

/// Allocates the results of samples, without the recorded quantities.
Motions room_for(const Motion& motion, std::int64_t count) {
  const auto n = static_cast<std::size_t>(count);
  Motions out{motion.contacts(), motion.model().instants, motion.draws(), std::vector<Trajectory>(n), {}, {}};
  out.uniforms.resize(n * static_cast<std::size_t>(motion.draws()));
  return out;
}

}  // namespace

Motions Motion::run(std::int64_t first, std::int64_t count, const Device& device) const {
  Motions out = room_for(*this, count);
  out.looks.resize(static_cast<std::size_t>(count * model_->instants * looks(contacts())));
  if (device.executor == Executor::kCuda) {
    batch::on_device(device, DeviceMotions{*model_, first, count, out, nullptr});
    return out;
  }
  // One thread, because the caller has a team (TimeStudy::run).
  for (std::int64_t at = 0; at < count; at += kInFlight)
    run_block(*model_, device.executor, first, at, std::min(kInFlight, count - at), out);
  return out;
}

Motions Motion::run_counted(std::int64_t first, std::int64_t count, const Device& device, BandCounts& bands) const {
  Motions out = room_for(*this, count);
  batch::on_device(device, DeviceMotions{*model_, first, count, out, &bands});
  return out;
}

void set_first(const ObjectMotion<double>& object, MotionSeries& out) {
  out.first.assign(object.first.m, object.first.m + 3);
  out.first.insert(out.first.end(), object.first_turn.m, object.first_turn.m + 4);
}

MotionSeries Motion::series(std::int64_t sample, int instants) const { return make_series(*model_, sample, instants); }

MotionSeries Motion::nominal(int instants) const {
  MotionModel model = *model_;
  make_nominal(model.rules.grasp);
  // The nominal friction, not the first level.
  model.rules.levels = false;
  model.levels.clear();
  return make_series(model, 0, instants);
}

}  // namespace garra::grasp
