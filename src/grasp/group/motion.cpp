#include "grasp/group/motion.hpp"

#include <algorithm>
#include <cmath>

#include "contact/batch/arrays.hpp"
#include "contact/batch/padded.hpp"
#include "garra/batch/on_device.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/core/error.hpp"
#include "grasp/group/run.hpp"
#include "grasp/group/series.hpp"
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

/// Whether contacts are redundant, so that their forces are not unique.
bool is_redundant(const GroupModel& m) {
  const auto soft = std::ranges::count(m.contacts, ContactLaw::kSoft, &GroupContact::law);
  const auto rows = 3 * std::ssize(m.contacts) + soft;
  return rows > 6 * std::ssize(m.objects) + m.joints();
}

GroupRun make_group_run(const Scenario& s, const GroupModel& m) {
  const InTime& time = *s.time;
  GroupRun run{m,
               {},
               make_kinds(m),
               LoadClock(time.loads, s.gravity, time.duration),
               std::llround(time.duration / time.step),
               is_redundant(m),
               contact_options(s),
               {}};
  for (std::size_t f = 0; f < s.fingers.size(); ++f) run.limits.push_back(find_limits(s, f));
  const bool shaken =
      std::ranges::any_of(time.loads, [](const TimeLoad& l) { return l.kind == TimeLoad::Kind::kShake; });
  run.rules = {show_parts(m),  {false, time.step, time.restitution, time.baumgarte},
               time.drive,     time.controller,
               time.slip,      time.drop,
               time.drop_turn, time.duration,
               run.limits,     run.kinds,
               shaken};
  return run;
}

/// The points of fingers that touch at their contacts, fixed in their links.
void mark_tips(const GroupRun& r, StartedSample& x) {
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

Drawn drawn_sample(const InTime& time, std::int64_t sample) {
  const std::vector<double>& levels = time.friction;
  if (levels.empty()) return {sample, NAN};
  return {sample / std::ssize(levels), levels[static_cast<std::size_t>(sample % std::ssize(levels))]};
}

StartedSample start_sample(const GroupRun& r, const Scenario& scenario, const Drawn& drawn, Column inputs) {
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
    o.running = x.now.reaches() ? 1 : 0;
    x.object.push_back(o);
  }
  mark_tips(r, x);
  for (const TimeLoad& load : scenario.time->loads)
    if (load.kind == TimeLoad::Kind::kShake)
      x.shake = draw_shake<double>(m.seed, SampleIndex<double>::consecutive(static_cast<std::uint64_t>(drawn.number)),
                                   load.rms);
  return x;
}

/// Numbers of each sample in memory, whose `first` are null; the thread has set the number of contacts.
template <int D>
GroupMemory measure_memory(const GroupRun& r) {
  double none = 0;
  Cutter<double> kept{&none};
  const auto x = cut_step(r.rules, kept, {&none});
  const auto room = [](std::ptrdiff_t fields) { return GroupRoom{nullptr, static_cast<int>(fields)}; };
  return {room(kept.at - &none),
          room(&*x.now.A_man.m.end() - &none),
          room(RestRoom<D>::fields(r.rules.contacts())),
          room(batch::fields<double, Problem<D>>()),
          room(r.model.rows()),
          room(batch::fields<double, solvers::Candidate<double, kAnyContacts, D>>()),
          room(batch::fields<double, Solution<D>>()),
          room(1),
          room(batch::fields<double, MotionMeasures<double, kAnyContacts>>()),
          room(std::ssize(r.model.objects))};
}

/// What is known of sample i after its last step, from tiles of measures and of lost objects.
Trajectory read_trajectory(const GroupRun& r, const double* measures, const GroupRoom& lost, std::int64_t i) {
  const auto m = batch::load<double, MotionMeasures<double, kAnyContacts>>(measures, i);
  Trajectory t = take_trajectory(m, r.rules.contacts(), m.end_time);
  if (std::ranges::none_of(r.limits, &FingerLimits::torque_limited))
    std::fill(std::begin(t.peak_torque), std::end(t.peak_torque), NAN);
  for (int k = 0; k < lost.fields; ++k)
    if (TileOf<double>(lost, i).at(k) > 0) t.objects_lost |= 1u << k;
  return t;
}

/// Memory of a block of samples, started; runs bodies and solver on the host.
template <int D>
class GroupBlock : private ContactsInUse {
 public:
  GroupBlock(const GroupRun& r, Executor executor, const std::vector<StartedSample>& samples)
      : ContactsInUse(r.rules.contacts()),
        at(measure_memory<D>(r)),
        run_(r),
        backend_{executor, nullptr, r.solver},
        count_(std::ssize(samples)),
        memory_(count_) {
    for (GroupRoom* room : {&at.kept, &at.problems, &at.guesses, &at.candidates, &at.solutions, &at.moves, &at.measures,
                            &at.lost, &looks_})
      room->first = memory_.take(room->fields);
    for (GroupRoom* room : {&at.scratch, &at.rest}) *room = {one_.take(room->fields), 0};
    run(GroupStartKernel{shown_rules(), at, &samples});
  }
  GroupMemory at;

  [[nodiscard]] const GroupRules* shown_rules() const { return &run_.rules; }
  [[nodiscard]] const GroupRoom& looks() const { return looks_; }
  template <class Body>
  void run(const Body& body) const {
    run_step_body(backend_.executor, body, count_);
  }
  void run_finger(const GroupMemory&, bool first, int finger) const {
    run(GroupFingerKernel<chain::kAnyJoints>{shown_rules(), at, first, finger});
  }
  void find_rest(const GroupMemory&, bool first) const {
    const GroupRestKernel<D> body{shown_rules(), at, first, run_.redundant};
    for (std::int64_t i = 0; i < count_; ++i) body.template operator()<double>(i);
  }
  /// Solves the step's problems.
  void solve(const GroupMemory&) const {
    if constexpr (D == 3) {
      const solvers::FrictionNewton solver = contact::make_auto_solver(run_.solver);
      const double* problems = at.problems.first;
      double *candidates = at.candidates.first, *guesses = at.guesses.first, *solutions = at.solutions.first;
      const int contacts = run_.rules.contacts();
      backend_.iterate({solver, problems, nullptr, candidates, guesses, contacts}, count_);
      backend_.certify(
          contact::CertifyKernel<kAnyContacts>{solver.tolerance, problems, nullptr, candidates, solutions, contacts},
          count_);
    } else {
      solve_soft(run_.solver, backend_.executor, at, count_);
    }
  }
  [[nodiscard]] MotionMeasures<double, kAnyContacts> measures(std::int64_t i) const {
    return batch::load<double, MotionMeasures<double, kAnyContacts>>(at.measures.first, i);
  }
  [[nodiscard]] bool any_running() const {
    for (std::int64_t i = 0; i < count_; ++i)
      if (*batch::tile_at<double, MotionMeasures<double, kAnyContacts>>(at.measures.first, i) < 0)  // ::end
        return true;
    return false;
  }
  [[nodiscard]] Trajectory trajectory(std::int64_t i) const {
    return read_trajectory(run_, at.measures.first, at.lost, i);
  }

 private:
  const GroupRun& run_;
  HostBackend backend_;
  std::int64_t count_;
  GroupRoom looks_{nullptr, grasp::looks(run_.rules.contacts())};
  HostMemory memory_, one_{1};
};

/// Steps after which instants are recorded, as MotionModel counts them.
std::vector<std::size_t> steps_of_instants(const GroupRun& r, int instants) {
  std::vector<std::size_t> out;
  const std::int64_t gaps = instants - 1;
  for (std::int64_t i = 0; i <= gaps; ++i)
    out.push_back(static_cast<std::size_t>(std::max<std::int64_t>(1, (i * r.steps + gaps / 2) / gaps)));
  return out;
}

/// Samples at ... at + count - 1 of those from `first` on, before their first step; sets their uniform numbers.
std::vector<StartedSample> start_samples(const GroupRun& r, const Scenario& scenario, std::int64_t first,
                                         std::int64_t at, std::int64_t count, Motions& out) {
  const std::int64_t draws = std::ssize(r.model.draws);
  std::vector<StartedSample> samples;
  for (std::int64_t i = 0; i < count; ++i) {
    const Drawn drawn = drawn_sample(*scenario.time, first + at + i);
    samples.push_back(
        start_sample(r, scenario, drawn, draw_group(r.model, drawn.number, out.uniforms.data() + (at + i) * draws, 1)));
  }
  return samples;
}

template <int D>
void run_group_block(const GroupRun& r, const Scenario& scenario, const Device& device, std::int64_t first,
                     std::int64_t at, std::int64_t count, Motions& out) {
  const std::vector<StartedSample> samples = start_samples(r, scenario, first, at, count, out);
  const GroupBlock<D> block(r, device.executor, samples);
  const std::vector<std::size_t> recorded = steps_of_instants(r, out.instants);
  const auto looked = [&](std::int64_t k) {
    return std::ranges::binary_search(recorded, static_cast<std::size_t>(k) + 1);
  };
  run_group_steps(r, block, block.at, looked, [&](std::int64_t k, const StepNow&) {
    if (looked(k)) take_looks(recorded, static_cast<std::size_t>(k) + 1, block.looks().first, at, count, 1, out);
  });
  for (std::int64_t i = 0; i < count; ++i) out.trajectory[static_cast<std::size_t>(at + i)] = block.trajectory(i);
}

/// Memory of samples on a GPU, which has kernels for some numbers of contacts.
GroupMemory measure_device_memory(const GroupRun& r) {
  if (r.model.numbers > 3) return measure_memory<4>(r);  // solved on the host
  GroupMemory at = measure_memory<3>(r);
  contact::for_contacts(r.rules.contacts(), [&](auto n) {
    at.problems.fields = batch::kFields<double, solvers::FrictionProblem<double, n>>;
    at.guesses.fields = 3 * n;
    at.candidates.fields = batch::kFields<double, solvers::Candidate<double, n>>;
    at.solutions.fields = batch::kFields<double, solvers::FrictionSolution<double, n>>;
  });
  return at;
}

/// A block of samples on the GPU: host threads start them.
void run_block_on_device(const GroupRun& r, const Scenario& scenario, const Device& device, std::int64_t first,
                         std::int64_t at, std::int64_t count, Motions& out) {
  const ContactsInUse many(r.rules.contacts());
  GroupMemory memory = measure_device_memory(r);
  HostMemory host(count);
  for (GroupRoom* room : {&memory.kept, &memory.measures, &memory.lost}) room->first = host.take(room->fields);
  batch::for_blocks(study_threads(device), {count, kInFlight}, [&](std::int64_t from, std::int64_t some) {
    const ContactsInUse in_thread(r.rules.contacts());
    const auto samples = start_samples(r, scenario, first, at + from, some, out);
    GroupMemory part = memory;
    for (GroupRoom* room : {&part.kept, &part.measures}) room->first += from * room->fields;
    run_step_body(Executor::kScalar, GroupStartKernel{&r.rules, part, &samples}, some);
  });
  const std::vector<std::size_t> recorded = steps_of_instants(r, out.instants);
  batch::on_device(
      device,
      DeviceGroup{r, memory, count,
                  [&](std::int64_t k) { return std::ranges::binary_search(recorded, static_cast<std::size_t>(k) + 1); },
                  [&](std::int64_t k, const double* looks) {
                    take_looks(recorded, static_cast<std::size_t>(k) + 1, looks, at, count, study_threads(device), out);
                  }});
  for (std::int64_t i = 0; i < count; ++i)
    out.trajectory[static_cast<std::size_t>(at + i)] = read_trajectory(r, memory.measures.first, memory.lost, i);
}

/// Samples in a block on the GPU.
std::int64_t block_on_device(const GroupRun& r, const Device& device) {
  constexpr std::int64_t kMost = 1 << 15;
  const ContactsInUse many(r.rules.contacts());
  const GroupMemory m = measure_device_memory(r);
  std::uint64_t fields = static_cast<std::uint64_t>(looks(r.rules.contacts()));
  for (const GroupRoom* room : {&m.kept, &m.scratch, &m.rest, &m.problems, &m.guesses, &m.candidates, &m.solutions,
                                &m.moves, &m.measures, &m.lost})
    fields += static_cast<std::uint64_t>(room->fields);
  return std::min(kMost, how_many_fit(device, sizeof(double) * fields));
}

/// The row of a step that has been closed.
void append_step(const GroupRun& r, const StepNow& step, double time, const GroupStep<double>& x, MotionSeries& out) {
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
    for_finger_joints(r.model, f, [&](std::size_t at) {
      out.tau[f].push_back(x.now.tau[at] + spring_torque(r.rules, x, at, x.qd[at]));
    });
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
MotionSeries group_series(const GroupRun& r, const Scenario& scenario, const Drawn& drawn, const Column& inputs,
                          int instants) {
  std::vector<StartedSample> samples;
  samples.push_back(start_sample(r, scenario, drawn, inputs));
  MotionSeries out = begin_series(r.model, samples[0].now);
  // The first run finds the trajectory's duration, the second records it.
  std::int64_t last = 0;
  for (const bool recorded : {false, true}) {
    const GroupBlock<D> block(r, Executor::kScalar, samples);
    const double dt = r.rules.step.step;
    run_group_steps(
        r, block, block.at, [](std::int64_t) { return false; },
        [&](std::int64_t k, const StepNow& step) {
          if (!recorded || k >= last || !is_shown(k + 1, last, instants)) return;
          append_step(r, step, static_cast<double>(k + 1) * dt, step_at<double>(r.rules, block.at, 0), out);
          out.kinetic.push_back(block.measures(0).kinetic);
          out.balance.push_back(block.measures(0).balance);
        });
    last = std::max<std::int64_t>(1, std::llround(block.measures(0).steps));
    out.trajectory = block.trajectory(0);
  }
  const auto moves = [](const TimeLoad& load) {
    return load.kind == TimeLoad::Kind::kShake || load.kind == TimeLoad::Kind::kSampled;
  };
  if (std::ranges::any_of(scenario.time->loads, moves))
    append_palm(r.clock, samples[0].shake, {r.rules.step.step, r.steps}, out);
  for (const Draw& draw : r.model.draws) out.inputs.push_back(inputs[static_cast<std::size_t>(draw.slot)]);
  return out;
}

}  // namespace

void solve_soft(const contact::Options& options, Executor executor, const GroupMemory& at, std::int64_t count) {
  const solvers::FrictionNewton solver = contact::make_auto_solver(options);
  iterate_soft(executor, {solver, at.problems.first, at.candidates.first, at.guesses.first}, count);
  for (std::int64_t i = 0; i < count; ++i)
    batch::store<double>(
        at.solutions.first, i,
        certify_soft(batch::load<double, Problem<4>>(at.problems.first, i),
                     batch::load<double, solvers::Candidate<double, kAnyContacts, 4>>(at.candidates.first, i),
                     solver.tolerance));
}

GroupMotion::GroupMotion(const Scenario& scenario) : scenario_(scenario) {
  check_options(*scenario.time);
  check_times(*scenario.time);
  model_ = make_group(scenario);
  static_cast<void>(make_kinds(*model_));
}

Motions GroupMotion::run(std::int64_t first, std::int64_t count, const Device& device) const {
  const bool cuda = device.executor == Executor::kCuda, soft = model_->numbers > 3;
  const GroupRun group = make_group_run(scenario_, *model_);
  const auto n = static_cast<std::size_t>(count);
  Motions out{group.rules.contacts(),
              scenario_.time->instants,
              static_cast<int>(model_->draws.size()),
              std::vector<Trajectory>(n),
              {},
              {}};
  out.uniforms.resize(n * model_->draws.size());
  out.looks.resize(static_cast<std::size_t>(count * out.instants * looks(out.contacts)));
  std::fill_n(out.looks.data(), count * out.instants * looks(out.contacts), NAN);
  const auto run_block = cuda ? run_block_on_device : soft ? run_group_block<4> : run_group_block<3>;
  const std::int64_t most = cuda ? block_on_device(group, device) : kInFlight;
  for (std::int64_t at = 0; at < count; at += most)
    run_block(group, scenario_, device, first, at, std::min(most, count - at), out);
  return out;
}

MotionSeries GroupMotion::series(std::int64_t sample, int instants) const {
  const GroupRun group = make_group_run(scenario_, *model_);
  const Drawn drawn = drawn_sample(*scenario_.time, sample);
  const auto run = model_->numbers > 3 ? group_series<4> : group_series<3>;
  return run(group, scenario_, drawn, draw_group(*model_, drawn.number, nullptr, 0), instants);
}

MotionSeries GroupMotion::nominal(int instants) const {
  const auto run = model_->numbers > 3 ? group_series<4> : group_series<3>;
  return run(make_group_run(scenario_, *model_), scenario_, {0, NAN}, nominal_group(*model_), instants);
}

}  // namespace garra::grasp
