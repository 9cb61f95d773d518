#include "grasp/group/motion.hpp"

#include <algorithm>
#include <cmath>

#include "contact/batch/arrays.hpp"
#include "garra/batch/interrupt.hpp"
#include "garra/core/error.hpp"
#include "grasp/group/process.hpp"
#include "grasp/group/series.hpp"
#include "grasp/group/step.hpp"
#include "grasp/sample/finger_command.hpp"
#include "grasp/set/run_hand.hpp"
#include "grasp/study/grasp_study.hpp"
#include "grasp/study/study_solver.hpp"
#include "grasp/time/host.hpp"

namespace garra::grasp {

namespace {

/// Of contacts with D numbers each (GroupModel::numbers).
template <int D>
using Problem = solvers::FrictionProblem<double, kAnyContacts, D>;
template <int D>
using Solution = solvers::FrictionSolution<double, kAnyContacts, D>;

void refuse(bool wrong, const std::string& key, const std::string& problem) {
  if (wrong) throw Error(ExitCode::kInvalidFile, key + ": " + problem, "leave it out for a group of objects");
}

void check_options(const InTime& t) {
  refuse(t.scheme == Scheme::kExplicit, "simulation.scheme", "a group takes \"moreau-jean\"");
  refuse(t.drive == Drive::kSampled, "simulation.drive", "a group takes no table of torques");
  const Controller& c = t.controller;
  refuse(c.stiffness != 0 || c.damping != 0 || c.turn_stiffness != 0 || c.turn_damping != 0, "simulation.drive",
         "gains of the object are not taken by a group, those of the joints are");
}

/// Forces that leave this share of the load are a start at rest: below the tolerance of the certificate.
constexpr double kStartsWithin = 2e-10;

void copy_limits(const std::vector<std::vector<double>>& given, std::size_t f, double* to) {
  if (f < given.size()) std::copy(given[f].begin(), given[f].end(), to);
}

GroupRules make_group_rules(const Scenario& s, const GroupModel& m) {
  const InTime& time = *s.time;
  GroupRules r{m,
               time,
               {false, time.step, time.restitution, time.baumgarte},
               LoadClock(time.loads, s.gravity, time.duration),
               {},
               make_kinds(m)};
  const auto torque = torque_limits(s);
  for (std::size_t f = 0; f < s.fingers.size(); ++f) {
    FingerLimits limits = FingerLimits::none();
    copy_limits(torque, f, limits.torque);
    copy_limits(time.lower, f, limits.lower);
    copy_limits(time.upper, f, limits.upper);
    limits.torque_limited = !torque.empty();
    r.limits.push_back(limits);
  }
  for (const TimeLoad& load : time.loads)
    if (load.kind == TimeLoad::Kind::kShake) {
      r.shaken = true;
      r.shake_rms = load.rms;
    }
  r.steps = std::llround(time.duration / time.step);
  return r;
}

/// The points of fingers that touch at their contacts, fixed in their links.
void mark_tips(const GroupRules& r, StartedSample& x) {
  constexpr int J = chain::kAnyJoints;
  for (std::size_t f = 0; f < r.model.fingers.size(); ++f) {
    const FingerChain<J>& finger = r.model.chains[f];
    const chain::JointsInUse all(finger.joints);
    Vec<double, J> q;
    std::copy_n(x.now.q.begin() + r.model.first_joint[f], finger.joints, q.m);
    const auto frames = chain::frames(finger.model, chain::angles(finger.model, q));
    for (const int j : r.model.of_finger[f]) {
      const auto at = static_cast<std::size_t>(j);
      const Pose<double>& frame = frames.frame[r.kinds[at].link];
      x.shape[at].tip = transpose_times(frame.R, x.now.place[at].p - frame.p);
    }
  }
}

/// A sample's number in the order of draws, and the friction of its level: NaN if there are no levels.
struct Drawn {
  std::int64_t number;
  double level;
};

Drawn drawn_sample(const GroupRules& r, std::int64_t sample) {
  const std::vector<double>& levels = r.time.friction;
  if (levels.empty()) return {sample, NAN};
  return {sample / std::ssize(levels), levels[static_cast<std::size_t>(sample % std::ssize(levels))]};
}

StartedSample start_sample(const GroupRules& r, const Scenario& scenario, const Drawn& drawn, Column inputs) {
  const GroupModel& m = r.model;
  StartedSample x{stand_group(m, std::move(inputs)), {}, {}, {}};
  if (!std::isnan(drawn.level))
    for (std::size_t j = 0; j < x.now.mu.size(); ++j)
      // The deviation drawn about the nominal friction stays.
      if (m.contacts[j].law != ContactLaw::kFrictionless)
        x.now.mu[j] = std::max(drawn.level + (x.now.mu[j] - nominal_friction(scenario, j)), 0.0);
  x.shape = make_shapes(m, x.now);
  for (std::size_t k = 0; k < m.objects.size(); ++k) {
    const Body<double>& body = x.now.body[k];
    const double* in = x.now.inputs.data() + m.objects[k].slot;
    ObjectMotion<double> o{};
    o.p = o.first = x.now.pose[k].p;
    const Mat3<double>& R = x.now.pose[k].R;
    o.turn = o.first_turn = to_quaternion(column(R, 0), column(R, 1), column(R, 2));
    o.v = body.v;
    o.w = body.omega;
    o.mass = body.mass;
    o.moments = (body.mass * in[kScale] * in[kScale]) * m.objects[k].gyration2;
    o.wrench = external_wrench(m, x.now, k);  // the rest belongs to a step
    o.running = x.now.reached ? 1 : 0;
    x.object.push_back(o);
  }
  mark_tips(r, x);
  if (r.shaken)
    x.shake = draw_shake<double>(m.seed, SampleIndex<double>::consecutive(static_cast<std::uint64_t>(drawn.number)),
                                 r.shake_rms);
  return x;
}

/// Whether contacts are redundant, so that their forces are not unique.
bool is_redundant(const GroupModel& m) {
  const auto soft = std::ranges::count(m.contacts, ContactLaw::kSoft, &GroupContact::law);
  const auto rows = 3 * std::ssize(m.contacts) + soft;
  return rows > 6 * std::ssize(m.objects) + m.joints();
}

/// Memory of a block of samples.
template <int D>
class GroupBlock : private ContactsInUse {
 public:
  GroupBlock(const GroupRules& r, const std::vector<StartedSample>& samples)
      : ContactsInUse(r.contacts()), memory_(std::ssize(samples)) {
    double none = 0;
    Cutter<double> kept{&none};
    const auto x = cut_step(r, kept, {&none});
    const auto fields = static_cast<int>(kept.at - &none);
    at = {fields,
          memory_.take(fields),
          scratch_.take(static_cast<int>(&*x.now.A_man.m.end() - &none)),
          memory_.take(batch::fields<double, Problem<D>>()),
          memory_.take(D * r.contacts()),
          memory_.take(batch::fields<double, solvers::Candidate<double, kAnyContacts, D>>()),
          memory_.take(batch::fields<double, Solution<D>>()),
          memory_.take(1),
          memory_.take(batch::fields<double, MotionMeasures<double, kAnyContacts>>()),
          memory_.take(static_cast<int>(r.model.objects.size()))};
    looks = memory_.take(grasp::looks(r.contacts()));
  }
  GroupMemory at;
  double* looks;

  [[nodiscard]] MotionMeasures<double, kAnyContacts> measures(std::int64_t i) const {
    return batch::load<double, MotionMeasures<double, kAnyContacts>>(at.measures, i);
  }
  [[nodiscard]] bool runs(std::int64_t i) const {
    return *batch::tile_at<double, MotionMeasures<double, kAnyContacts>>(at.measures, i) < 0;  // MotionMeasures::end
  }
  /// What is known of sample i after its last step.
  [[nodiscard]] Trajectory trajectory(const GroupRules& r, std::int64_t i) const {
    const int objects = static_cast<int>(r.model.objects.size());
    const auto m = measures(i);
    Trajectory t = take_trajectory(m, r.contacts(), m.end_time);
    if (!r.limits[0].torque_limited) std::fill(std::begin(t.peak_torque), std::end(t.peak_torque), NAN);
    for (int k = 0; k < objects; ++k)
      if (TileOf<double>(at.lost, objects, i).at(k) > 0) t.objects_lost |= 1u << k;
    return t;
  }

 private:
  HostMemory memory_, scratch_{1};
};

/// Moves forces by the least that leaves all contacts at rest, to rounding. Whether it does, within the cones.
template <int D>
bool settle_forces(const Problem<D>& p, Vec<double, D * kAnyContacts>& c) {
  constexpr double kSoftens = 1e-4;  ///< A may be singular: this share of its largest entry on the diagonal
  const int rows = extent<D * kAnyContacts>();
  GroupInstant<double, Owned> s;
  s.M_man = s.factor = Dense(rows, rows);
  double largest = 0, load = 0;
  for (int r = 0; r < rows; ++r) largest = std::max(largest, p.A(r, r));
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < rows; ++k) s.M_man(r, k) = p.A(r, k) + (r == k ? kSoftens * largest : 0);
  factor_finger(0, rows, s);
  const auto motion = [&](int r) {
    double a = p.b[r];
    for (int k = 0; k < rows; ++k) a += p.A(r, k) * c[k];
    return a;
  };
  Column change(static_cast<std::size_t>(rows));
  const auto at = [&](int r) -> double& { return change[static_cast<std::size_t>(r)]; };
  for (int round = 0; round < 3; ++round) {
    for (int r = 0; r < rows; ++r) at(r) = -motion(r);
    solve_finger(0, rows, s, at);
    for (int r = 0; r < rows; ++r) c[r] += at(r);
  }
  bool rests = true;
  for (int r = 0; r < rows; ++r) load = std::max(load, std::abs(p.b[r]));
  for (int r = 0; r < rows; ++r) rests = rests && std::abs(motion(r)) <= kStartsWithin * load;
  for (int j = 0; j < rows / D; ++j) rests = rests && tangential(&c[D * j], D) <= p.mu[j] * c[D * j];
  return rests;
}

/// Where redundant contacts at rest may have other solutions, which move, the solver might change to one of them:
/// there, and in the first step, the start is at rest if any forces leave all contacts at rest.
template <int D>
void start_at_rest(const GroupRules& r, bool first, const GroupMemory& at, std::int64_t i) {
  if (!first && batch::load<double, Vec<double, 1>>(at.moves, i)[0] > kSlipSpeed) return;
  const int rows = r.model.rows();
  const auto p = batch::load<double, Problem<D>>(at.problems, i);
  using Forces = Vec<double, D * kAnyContacts>;
  auto guess = batch::load<double, Forces>(at.guesses, i);
  double load = 0, left = 0;
  for (int k = 0; k < rows; ++k) {
    double a = p.b[k];
    for (int c = 0; c < rows; ++c) a += p.A(k, c) * guess[c];
    load = std::max(load, std::abs(p.b[k]));
    left = std::max(left, std::abs(a));
  }
  if (left <= kStartsWithin * load) return;
  // Of redundant contacts the first forces are those of the search, which are farther within the cones.
  Forces start = guess;
  if ((first && is_redundant(r.model)) || !settle_forces<D>(p, start)) {
    const Column rest = find_rest_forces(p, Column(guess.m, guess.m + rows));
    if (rest.empty() && !first) return;
    start = Forces::zero();
    std::copy(rest.begin(), rest.end(), start.m);
    Forces settled = start;
    if (!rest.empty() && settle_forces<D>(p, settled)) start = settled;
  }
  batch::store<double>(at.guesses, i, start);
}

/// Solves the steps' problems.
template <int D>
void solve_steps(const GroupRules& r, const HostBackend& backend, const GroupMemory& t, std::int64_t count) {
  const solvers::FrictionNewton solver = contact::make_auto_solver(backend.solver);
  if constexpr (D == 3) {
    backend.iterate(
        contact::IterateKernel<solvers::FrictionNewton, kAnyContacts>{solver, t.problems, nullptr, t.candidates,
                                                                      t.guesses, r.contacts()},
        count);
    backend.certify(contact::CertifyKernel<kAnyContacts>{solver.tolerance, t.problems, nullptr, t.candidates,
                                                         t.solutions, r.contacts()},
                    count);
  } else {
    iterate_soft(backend.executor, {solver, t.problems, t.candidates, t.guesses}, count);
    for (std::int64_t i = 0; i < count; ++i)
      batch::store<double>(
          t.solutions, i,
          certify_soft(batch::load<double, Problem<D>>(t.problems, i),
                       batch::load<double, solvers::Candidate<double, kAnyContacts, D>>(t.candidates, i),
                       solver.tolerance));
  }
}

/// Runs the steps of samples side by side. after(step k, its loads) follows each, looked(k): it takes what is looked
/// at.
template <int D, class Looked, class After>
void run_group_steps(const GroupRules& r, const HostBackend& backend, const std::vector<StartedSample>& samples,
                     const GroupBlock<D>& block, const Looked& looked, const After& after) {
  const std::int64_t count = std::ssize(samples);
  const GroupMemory& at = block.at;
  const bool redundant = is_redundant(r.model);
  run_step_body(backend.executor, GroupStartKernel{&r, at, &samples}, count);
  for (std::int64_t k = 0; k < r.steps; ++k) {
    check_interrupt();
    std::int64_t running = 0;
    while (running < count && !block.runs(running)) ++running;
    if (running == count) break;
    StepNow step;
    step.now = r.clock.at(static_cast<double>(k) * r.step.step, static_cast<double>(k + 1) * r.step.step);
    step.first = k == 0;
    run_step_body(backend.executor, GroupPlaceKernel{&r, at, step}, count);
    run_step_body(backend.executor, GroupProblemKernel{&r, at, step.first}, count);
    for (std::int64_t i = 0; (step.first || redundant) && i < count; ++i)
      if (block.runs(i)) start_at_rest<D>(r, step.first, at, i);
    solve_steps<D>(r, backend, at, count);
    const double end = static_cast<double>(k + 1) * r.step.step;
    run_step_body(backend.executor, GroupTakeKernel<D>{&r, at}, count);
    run_step_body(backend.executor, GroupCloseKernel{&r, at, end, step.first, looked(k) ? block.looks : nullptr},
                  count);
    after(k, step);
  }
}

/// Steps after which instants are recorded, as MotionModel counts them.
std::vector<std::size_t> steps_of_instants(const GroupRules& r) {
  std::vector<std::size_t> out;
  const std::int64_t gaps = r.time.instants - 1;
  for (std::int64_t i = 0; i <= gaps; ++i)
    out.push_back(static_cast<std::size_t>(std::max<std::int64_t>(1, (i * r.steps + gaps / 2) / gaps)));
  return out;
}

template <int D>
void run_group_block(const GroupRules& r, const Scenario& scenario, Executor executor, std::int64_t first,
                     std::int64_t at, std::int64_t count, Motions& out) {
  const std::int64_t draws = std::ssize(r.model.draws);
  std::vector<StartedSample> samples;
  for (std::int64_t i = 0; i < count; ++i) {
    const Drawn drawn = drawn_sample(r, first + at + i);
    samples.push_back(
        start_sample(r, scenario, drawn, draw_group(r.model, drawn.number, out.uniforms.data() + (at + i) * draws, 1)));
  }
  const GroupBlock<D> block(r, samples);
  const std::vector<std::size_t> recorded = steps_of_instants(r);
  const auto looked = [&](std::int64_t k) {
    return std::ranges::binary_search(recorded, static_cast<std::size_t>(k) + 1);
  };
  const contact::Options options = contact_options(scenario);
  run_group_steps<D>(r, {executor, nullptr, options}, samples, block, looked, [&](std::int64_t k, const StepNow&) {
    if (looked(k)) take_looks(recorded, static_cast<std::size_t>(k) + 1, block.looks, at, count, 1, out);
  });
  for (std::int64_t i = 0; i < count; ++i) out.trajectory[static_cast<std::size_t>(at + i)] = block.trajectory(r, i);
}

/// The row of a step that has been closed.
void append_step(const GroupRules& r, const StepNow& step, double time, const GroupStep<double>& x, MotionSeries& out) {
  const auto add = [](std::vector<double>& to, const Vec3<double>& v) { to.insert(to.end(), v.m, v.m + 3); };
  const ObjectMotion<double>& first = x.object[0];
  out.time.push_back(time);
  set_first(first, out);
  for (std::size_t k = 0; k < x.object.size(); ++k) append_object(k, x.object[k].p, x.object[k].turn, out);
  add(out.velocity, first.v);
  add(out.spin, first.w);
  const Vec<double, 6> load = first.wrench + step.now.wrench;
  out.load.insert(out.load.end(), load.m, load.m + 6);
  add(out.gravity, x.gravity[0]);
  const auto numbers = static_cast<std::size_t>(r.model.numbers);
  append_contacts(x.now.place, x.forces, numbers, out);
  append_fingers(r.model, x.q, x.qd, out);
  for (std::size_t f = 0; f < r.model.fingers.size(); ++f)
    for_finger_joints(r.model, f,
                      [&](std::size_t at) { out.tau[f].push_back(x.now.tau[at] + spring_torque(r, x, at, x.qd[at])); });
  out.gap.insert(out.gap.end(), x.gap.begin(), x.gap.end());
  for (std::size_t j = 0; j < x.gap.size(); ++j) {
    const bool closed = x.forces[numbers * j] > 0;
    const double speed = closed ? tangential(&x.after[numbers * j], r.model.numbers) : 0;
    out.slip_speed.push_back(speed);
    const ContactState state = !closed              ? ContactState::kBreak
                               : speed > kSlipSpeed ? ContactState::kSlip
                                                    : ContactState::kStick;
    out.state.push_back(static_cast<int>(state));
  }
}

template <int D>
MotionSeries group_series(const GroupRules& r, const Scenario& scenario, const Drawn& drawn, const Column& inputs,
                          int instants) {
  const std::vector<StartedSample> samples = {start_sample(r, scenario, drawn, inputs)};
  const contact::Options options = contact_options(scenario);
  MotionSeries out = begin_series(r.model, samples[0].now);
  // The first run finds the trajectory's duration, the second records it.
  std::int64_t last = 0;
  for (const bool recorded : {false, true}) {
    const GroupBlock<D> block(r, samples);
    run_group_steps<D>(
        r, {Executor::kScalar, nullptr, options}, samples, block, [](std::int64_t) { return false; },
        [&](std::int64_t k, const StepNow& step) {
          if (!recorded || k >= last || !is_shown(k + 1, last, instants)) return;
          append_step(r, step, static_cast<double>(k + 1) * r.step.step, step_at<double>(r, block.at, 0), out);
          out.kinetic.push_back(block.measures(0).kinetic);
          out.balance.push_back(block.measures(0).balance);
        });
    last = std::max<std::int64_t>(1, std::llround(block.measures(0).steps));
    out.trajectory = block.trajectory(r, 0);
  }
  const auto moves = [](const TimeLoad& load) {
    return load.kind == TimeLoad::Kind::kShake || load.kind == TimeLoad::Kind::kSampled;
  };
  if (std::ranges::any_of(r.time.loads, moves)) append_palm(r.clock, samples[0].shake, {r.step.step, r.steps}, out);
  for (const Draw& draw : r.model.draws) out.inputs.push_back(inputs[static_cast<std::size_t>(draw.slot)]);
  return out;
}

}  // namespace

GroupMotion::GroupMotion(const Scenario& scenario) : scenario_(scenario) {
  check_options(*scenario.time);
  check_times(*scenario.time);
  model_ = make_group(scenario);
  static_cast<void>(make_kinds(*model_));
}

Motions GroupMotion::run(std::int64_t first, std::int64_t count, const Device& device) const {
  if (device.executor == Executor::kCuda)
    throw Error(ExitCode::kNoDevice, gpu_refusal(scenario_) + " run on the CPU only", "Leave out --device.");
  const GroupRules rules = make_group_rules(scenario_, *model_);
  const auto n = static_cast<std::size_t>(count);
  Motions out{rules.contacts(),
              scenario_.time->instants,
              static_cast<int>(model_->draws.size()),
              std::vector<Trajectory>(n),
              {},
              {}};
  out.uniforms.resize(n * model_->draws.size());
  out.looks.resize(static_cast<std::size_t>(count * out.instants * looks(out.contacts)));
  std::fill_n(out.looks.data(), count * out.instants * looks(out.contacts), NAN);
  const auto run_block = model_->numbers > 3 ? run_group_block<4> : run_group_block<3>;
  for (std::int64_t at = 0; at < count; at += kInFlight)
    run_block(rules, scenario_, device.executor, first, at, std::min(kInFlight, count - at), out);
  return out;
}

MotionSeries GroupMotion::series(std::int64_t sample, int instants) const {
  const GroupRules rules = make_group_rules(scenario_, *model_);
  const Drawn drawn = drawn_sample(rules, sample);
  const auto run = model_->numbers > 3 ? group_series<4> : group_series<3>;
  return run(rules, scenario_, drawn, draw_group(*model_, drawn.number, nullptr, 0), instants);
}

MotionSeries GroupMotion::nominal(int instants) const {
  const auto run = model_->numbers > 3 ? group_series<4> : group_series<3>;
  return run(make_group_rules(scenario_, *model_), scenario_, {0, NAN}, nominal_group(*model_), instants);
}

}  // namespace garra::grasp
