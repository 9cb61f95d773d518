// Runs the samples of a grasp study: solved in sub-blocks that fit the L2 cache, counted in their order.
#include "grasp/study/grasp_study.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "contact/batch/lanes.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/on_device.hpp"
#include "garra/core/error.hpp"
#include "garra/grasp_set.hpp"
#include "grasp/group/process.hpp"
#include "grasp/sample/balance.hpp"
#include "grasp/sample/check.hpp"
#include "grasp/sample/finger_command.hpp"
#include "grasp/sample/grasp_cuda.hpp"
#include "grasp/sample/proof.hpp"
#include "grasp/set/run_hand.hpp"
#include "grasp/study/study_solver.hpp"
#include "grasp/time/time_loop.hpp"
#include "study/column_counts.hpp"
#include "study/count_blocks.hpp"

namespace garra::grasp {

namespace {

constexpr std::int64_t kSub = 256;  // samples in flight per thread: everything about them stays in the L2 cache

Layout make_layout(const Scenario& s, int draws) {
  Layout l;
  l.contacts = static_cast<int>(s.contacts.size());
  l.draws = draws;
  study::Places places;
  const auto take = [&](int size) { return places.take(size); };
  l.outcome = take(kOutcomes);
  l.sticks = take(2);
  l.resisted = take(2);
  l.several = take(1);
  l.left_out = take(2);
  l.state = take(3 * l.contacts);
  l.first = take(l.contacts);
  l.cone = take(l.contacts * kConeBins * kConeBins);
  l.iterations = take(kIterationBins);
  l.held_bin = take(draws * study::kInputBins);
  l.decided_bin = take(draws * study::kInputBins);
  // Lower bound of the force range: 1 mN.
  const double push = std::max(largest_push(s), 1e-3);
  for (int j = 0; j < l.contacts; ++j) l.force[j] = places.histogram({0, 4 * push});
  study::for_each_row(kColumns, [&](const auto& row, int k) {
    const double unit = row.in_pushes ? push : 1;
    l.metric[k] = places.histogram({unit * row.axis.low, unit * row.axis.high, row.axis.bins});
  });
  l.residual = places.bins({-18, -6, 48});
  l.objects = is_group(s) && !any_slides(s) ? static_cast<int>(s.others.size()) + 1 : 0;
  l.objects_held = l.objects > 0 ? take(2 * l.objects) : 0;
  l.counts = places.count();
  l.buckets = places.buckets();
  l.beyond_newton = 2 * (l.contacts + kMetrics);
  l.held_sum = l.beyond_newton + 1;
  l.sums = l.held_sum + 2;
  l.row = kRowHead + kMetrics + draws + 6 * l.contacts;
  return l;
}

/// Tiles of samples with soft contacts, in place of those of points.
struct SoftTiles {
  batch::Tiles<solvers::FrictionProblem<double, kAnyContacts, 4>> problems{kSub};
  batch::Tiles<solvers::Candidate<double, kAnyContacts, 4>> candidates{kSub}, second{kSub};
  batch::Tiles<SampleResult<double, kAnyContacts, 4>> sample_results{kSub};
};

/// Data of one sub-block between its steps; tiles of kSub samples.
struct Workspace : private ContactsInUse {
  batch::Tiles<solvers::FrictionProblem<double, kAnyContacts>> problems{kSub};
  batch::Tiles<Metrics<double, kAnyContacts>> metrics{kSub};
  batch::Tiles<solvers::Candidate<double, kAnyContacts>> candidates{kSub}, second{kSub};
  batch::Tiles<SampleResult<double, kAnyContacts>> sample_results{kSub};
  batch::Tiles<Inputs<double>> uniforms{kSub};  // capacity for the largest number of draws
  batch::Tiles<ObjectLoad<double>> loads{kSub};
  batch::Tiles<FingerTask<double>> tasks;
  batch::Tiles<FingerShare<double>> shares;
  batch::Tiles<FingerHold<double>> holds;
  batch::Tiles<FingerStance<double, chain::kMaxJoints>> stances;  // of a hand on an arm
  batch::Tiles<ArmShare<double>> arm;
  std::unique_ptr<SoftTiles> soft;  ///< of a group with soft contacts
  GroupParts<Shown> group;          ///< of a group, as the next ones (InstantMemory)
  std::vector<double> kept, room, held;
  contact::Problems sliding;  ///< the last ones of a group with contacts that slide
  batch::Tiles<double> proven{kSub};
  std::unique_ptr<Workspace> doubtful;  ///< samples that may have a second solution

  explicit Workspace(const GraspModel& m, const GroupModel* of)
      : ContactsInUse(m.contacts),
        tasks(m.contacts * kSub),
        shares(m.contacts * kSub),
        holds(m.torque_limited ? m.contacts * kSub : 0),
        stances(m.arm.joints > 0 ? m.contacts * kSub : 0),
        arm(m.arm.joints > 0 ? m.contacts * kSub : 0) {
    if (of == nullptr) return;
    group = show_parts(*of);
    if (of->numbers > 3) soft = std::make_unique<SoftTiles>();
  }
  SampleParts parts() {
    SampleParts parts{loads.data(), tasks.data(), shares.data(), uniforms.data(), kSub};
    if (holds.count() > 0) parts.holds = holds.data();
    if (arm.count() > 0) {
      parts.stances = stances.data();
      parts.arm = arm.data();
    }
    return parts;
  }
};

solvers::FrictionNewton make_solver(const Scenario& s, bool cold) {
  solvers::FrictionNewton solver = contact::make_auto_solver(contact_options(s));
  solver.cold = cold;
  return solver;
}

/// Settles the pending samples.
void settle_samples(const GraspModel& m, std::int64_t count, Workspace& w) {
  using Of = SampleResult<double, kAnyContacts>;
  double* sample_results = w.sample_results.data();
  const auto pending = [&] {
    for (std::int64_t i = 0; i < count; ++i)
      if (*batch::tile_at<double, Of>(sample_results, i) == kPending) return true;
    return false;
  };
  const RestKernel<kAnyContacts> rest{&m, w.problems.data(), sample_results};
  for (std::int64_t i = 0; i < count; ++i) rest.template operator()<double>(i);
  if (!pending()) return;
  with_balance(m, &m, w.parts(), w.metrics.data(), [&](auto body) {
    body.sample_results = sample_results;
    balance(Executor::kScalar, body, count);
  });
  const SettleKernel<kAnyContacts> settle{m.held, sample_results};
  for (std::int64_t i = 0; i < count; ++i) settle.template operator()<double>(i);
}

/// Newton's method from zero, after any method.
void solve_again(const Scenario& s, const GraspModel& m, Executor executor, std::int64_t count, Workspace& w) {
  contact::iterate(executor,
                   contact::IterateKernel<solvers::FrictionNewton, kAnyContacts>{
                       make_solver(s, true), w.problems.data(), nullptr, w.second.data(), nullptr, m.contacts},
                   count);
}

/// Solves the problems in the workspace.
void solve_samples(const Scenario& s, const GraspModel& m, Executor executor, std::int64_t count, Workspace& w) {
  using Iterate = contact::IterateKernel<solvers::FrictionNewton, kAnyContacts>;
  if (s.method == "auto")
    contact::iterate(
        executor, Iterate{make_solver(s, false), w.problems.data(), nullptr, w.candidates.data(), nullptr, m.contacts},
        count);
  else
    contact::iterate_tiles(contact_options(s),
                           {{executor}, w.problems.data(), nullptr, w.candidates.data(), nullptr, count});
}

/// Outcomes of the samples; `second` as in SampleCheck.
void check_samples(const Scenario& s, const GraspModel& m, Executor executor, std::int64_t count, const double* second,
                   Workspace& w) {
  contact::with_contacts(executor, [&](auto n) {
    contact::for_each_problem<n>(
        executor, count,
        SampleCheckKernel<n>{&m,
                             w.parts(),
                             {s.tolerance, m.held, w.problems.data(), w.metrics.data(), w.candidates.data(), second},
                             w.sample_results.data()});
  });
}

/// Repeats the check with a second solution of the samples whose first one is not proven to be the only one.
void check_again(const Scenario& s, const GraspModel& m, Executor executor, std::int64_t count, Workspace& w) {
  contact::with_contacts(executor, [&](auto n) {
    contact::for_each_problem<n>(executor, count,
                                 ProofKernel<n>{w.problems.data(), w.sample_results.data(), w.proven.data()});
  });
  if (!w.doubtful) w.doubtful = std::make_unique<Workspace>(m, nullptr);
  Workspace& to = *w.doubtful;
  std::array<std::int64_t, kSub> number;
  std::int64_t some = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (w.proven.get(i) > 0) continue;
    to.problems.set(some, w.problems.get(i));
    to.metrics.set(some, w.metrics.get(i));
    to.candidates.set(some, w.candidates.get(i));
    to.loads.set(some, w.loads.get(i));
    for (int j = 0; j < m.contacts; ++j) to.tasks.set(j * kSub + some, w.tasks.get(j * kSub + i));
    number[static_cast<std::size_t>(some++)] = i;
  }
  solve_again(s, m, executor, some, to);
  check_samples(s, m, executor, some, to.second.data(), to);
  for (std::int64_t k = 0; k < some; ++k)
    w.sample_results.set(number[static_cast<std::size_t>(k)], to.sample_results.get(k));
}

/// Runs all steps (draw, fingers, build, balance, solve, outcome) of samples first .. first + count - 1 in the
/// workspace.
void process(const Scenario& s, const GraspModel& m, Executor executor, std::int64_t first, std::int64_t count,
             Workspace& w) {
  draw_samples(executor, DrawKernel{&m, first, w.parts()}, count);
  contact::with_contacts(executor, [&](auto n) {
    contact::for_each_problem<n>(executor, count, BuildKernel<n>{&m, w.parts(), w.problems.data(), w.metrics.data()});
  });
  with_balance(m, &m, w.parts(), w.metrics.data(), [&](const auto& body) { balance(executor, body, count); });
  solve_samples(s, m, executor, count, w);
  check_samples(s, m, executor, count, nullptr, w);
  if (s.check_uniqueness) check_again(s, m, executor, count, w);
  settle_samples(m, count, w);
}

/// The part of a result that counts and rows have: forces and accelerations of points.
SampleResult<double, kAnyContacts> without_moments(const SampleResult<double, kAnyContacts, 4>& v) {
  SampleResult<double, kAnyContacts> out{v.outcome,      v.otherwise, v.residual, v.iterations, v.sticks,
                                         v.acceleration, v.several,   v.opens,    v.resisted,   v.imbalance,
                                         v.state,        {},          {}};
  for (int k = 0; k < extent<3 * kAnyContacts>(); ++k) {
    out.c[k] = v.c[4 * (k / 3) + k % 3];
    out.a[k] = v.a[4 * (k / 3) + k % 3];
  }
  return out;
}

/// Memory of the samples of a group in a workspace, for contacts with D numbers each.
template <int D, class Tiles>
InstantMemory memory_of_group(const Study& study, Tiles& t, Workspace& w) {
  InstantMemory at = measure_instant<D>(w.group);
  w.kept.resize(static_cast<std::size_t>(kSub * at.kept.fields));
  w.room.resize(static_cast<std::size_t>(at.room.fields));
  w.held.resize(static_cast<std::size_t>(kSub * at.held.fields));
  at.kept.first = w.kept.data();
  at.room = {w.room.data(), 0};
  at.held.first = w.held.data();
  at.problems.first = t.problems.data();
  at.candidates.first = t.candidates.data();
  at.second.first = study.scenario().check_uniqueness ? t.second.data() : nullptr;
  at.metrics.first = w.metrics.data();
  at.results.first = t.sample_results.data();
  at.uniforms.first = w.uniforms.data();
  return at;
}

/// The task of a group's samples; `shown`: its model.
GroupTask make_group_task(const Study& study, const GroupParts<Shown>& shown, std::int64_t first, std::int64_t count) {
  const Scenario& s = study.scenario();
  return {shown, contact_options(s), study.model().held, s.check_uniqueness, first, count, false};
}

/// The same steps of a group of objects. `nominal`: the nominal grasp in place of each sample.
InstantMemory process_group(const Study& study, Executor executor, std::int64_t first, std::int64_t count, bool nominal,
                            Workspace& w) {
  GroupTask task = make_group_task(study, w.group, first, count);
  task.nominal = nominal;
  const InstantMemory at = w.soft ? memory_of_group<4>(study, *w.soft, w) : memory_of_group<3>(study, w, w);
  w.soft ? run_on_host<4>(task, executor, at) : run_on_host<3>(task, executor, at);
  if (w.group.slides) {
    std::vector<GroupSampleView> samples;
    for (std::int64_t i = 0; i < count; ++i) samples.push_back(sample_at(w.group, at, i));
    w.sliding = point_problems(*study.group(), samples);
    solve_sliding(study.scenario(), samples, w.sliding, at);
  }
  return at;
}

void count_objects(const Layout& l, const InstantMemory& at, std::int64_t count, study::Tally& tally) {
  for (std::int64_t i = 0; i < count; ++i)
    for (int k = 0; k < l.objects; ++k) {
      const auto so = static_cast<ObjectHeld>(static_cast<int>(TileOf<double>(at.held, i).at(k)));
      const auto to = static_cast<std::size_t>(l.objects_held + 2 * k);
      tally.counts[to] += so == ObjectHeld::kYes;
      tally.counts[to + 1] += so == ObjectHeld::kUnknown;
    }
}

/// Samples of a group that have been run, from sample `first` on.
struct KnownSamples {
  const InstantMemory* at = nullptr;
  std::int64_t first = 0;
};

/// The samples of a block for Counting; those of a group are in `known`, or run if it is null.
Counting<kAnyContacts> run_samples(const Study& study, const Device& device, const KnownSamples& known,
                                   std::int64_t first, std::int64_t count, Workspace& w, study::Tally& tally) {
  Counting<kAnyContacts> out{
      &study.model(),    study.layout(),         study::parse_keep(study.scenario().plan.keep), first, w.metrics.data(),
      w.uniforms.data(), w.sample_results.data()};
  if (study.group() == nullptr) {
    process(study.scenario(), study.model(), device.executor, first, count, w);
    return out;
  }
  InstantMemory at = known.at != nullptr ? *known.at : process_group(study, device.executor, first, count, false, w);
  if (known.at != nullptr)
    for (GroupRoom* room : {&at.metrics, &at.results, &at.held, &at.uniforms})
      room->first += (first - known.first) * room->fields;
  count_objects(study.layout(), at, count, tally);
  if (w.soft)
    for (std::int64_t i = 0; i < count; ++i)
      w.sample_results.set(
          i, without_moments(batch::load<double, SampleResult<double, kAnyContacts, 4>>(at.results.first, i)));
  else
    out.sample_results = at.results.first;
  out.metrics = at.metrics.first;
  out.uniforms = at.uniforms.first;
  return out;
}

study::Tally run_on_cpu(const Study& study, std::int64_t first, std::int64_t count, const Device& device,
                        const KnownSamples& known = {}) {
  const study::CountingSizes sizes = make_counting_sizes(study.layout(), study::parse_keep(study.scenario().plan.keep));
  return study::count_blocks(study.shape(), {first, count, study_threads(device)}, [&] {
    return
        [&, w = std::make_unique<Workspace>(study.model(), study.group()), columns = study::CountColumns(sizes, kSub)](
            std::int64_t at, std::int64_t n, study::Tally& tally, double* sums) mutable {
          for (const std::int64_t end = at + n; at < end; at += kSub) {
            const std::int64_t some = std::min(kSub, end - at);
            const study::ColumnCounting<Counting<kAnyContacts>> counting{
                run_samples(study, device, known, at, some, *w, tally), columns};
            study::count_samples(counting, some, sizes, tally, sums);
            columns.move_to(tally);
          }
        };
  });
}

/// A group: samples run on the GPU, threads of the host count them.
template <int D>
study::Tally run_group_on_gpu(const Study& study, std::int64_t first, std::int64_t count, const Device& device) {
  const GroupParts<Shown> shown = show_parts(*study.group());
  const ContactsInUse many(study.model().contacts);
  InstantMemory there = measure_instant<D>(shown);
  if constexpr (D == 3)  // kernels of solvers are compiled for some numbers of contacts
    contact::for_contacts(study.model().contacts, [&](auto n) {
      there.problems.fields = batch::kFields<double, solvers::FrictionProblem<double, n>>;
      there.candidates.fields = there.second.fields = batch::kFields<double, solvers::Candidate<double, n>>;
    });
  std::uint64_t numbers = 0;
  there.for_each([&](const GroupRoom& room) { numbers += static_cast<std::uint64_t>(room.fields); });
  const std::int64_t most = std::min(std::int64_t{1} << 15, how_many_fit(device, sizeof(double) * numbers));
  study::Tally total = study::empty_tally(study.shape(), first, count);
  for (std::int64_t begin = first; begin < first + count; begin += most) {
    const std::int64_t some = std::min(most, first + count - begin);
    HostMemory host(some);
    InstantMemory at = there;
    for (GroupRoom* room : {&at.metrics, &at.results, &at.held, &at.uniforms}) room->first = host.take(room->fields);
    batch::on_device(device, DeviceGroupSamples<D>{make_group_task(study, shown, begin, some), at});
    study::append(total, run_on_cpu(study, begin, some, {Executor::kLanes, device.threads}, {&at, begin}));
  }
  return total;
}

study::Tally run_on_gpu(const Study& study, std::int64_t first, std::int64_t count, const Device& device) {
  const Scenario& s = study.scenario();
  study::Tally total{first, count, {}, {}, {}, {}, {}};
  solvers::FrictionNewton solver = make_solver(s, false);
  batch::on_device(device, DeviceSamples{study.model(), solver, contact_options(s), s.check_uniqueness, study.layout(),
                                         study::parse_keep(s.plan.keep), total});
  return total;
}

Replay replay_sample(const Study& study, const GraspModel& model, std::int64_t sample) {
  Workspace w(model, study.group());
  // Alone in its tile; it has the same bits as among others.
  if (study.group() == nullptr)
    process(study.scenario(), model, Executor::kScalar, sample, 1, w);
  else
    static_cast<void>(process_group(study, Executor::kScalar, sample, 1, model.draws == 0, w));
  if (w.soft) w.sample_results.set(0, without_moments(w.soft->sample_results.get(0)));
  const auto m = w.metrics.get(0);
  const auto v = w.sample_results.get(0);
  Replay out;
  for (int k = 0; k < model.draws; ++k)
    out.inputs.push_back(study::quantile(model.draw[k].distribution, w.uniforms.data()[k * batch::kTile]));
  const int n = model.contacts;
  const auto take = [&](const auto& p, int rows) {
    out.A.assign(p.A.m, p.A.m + rows * rows);
    out.b.assign(p.b.m, p.b.m + rows);
    out.mu.assign(p.mu.m, p.mu.m + n);
  };
  if (w.soft) {
    take(w.soft->problems.get(0), 4 * n);
    const auto found = w.soft->sample_results.get(0);
    for (int j = 0; j < n; ++j)
      out.moment.push_back(study.scenario().contacts[static_cast<std::size_t>(j)].torsion_radius * found.c[4 * j + 3]);
  } else {
    take(w.problems.get(0), 3 * n);
    out.mode = w.sliding.mode;
    out.slip_velocity = w.sliding.slip_velocity;
  }
  out.c.assign(v.c.m, v.c.m + 3 * n);
  out.a.assign(v.a.m, v.a.m + 3 * n);
  for (int j = 0; j < n; ++j) out.states.push_back(static_cast<int>(v.state[j]));
  out.outcome = static_cast<Outcome>(static_cast<int>(v.outcome));
  out.residual = v.residual;
  out.resisted = m.resisted;
  out.several = v.several > 0;
  out.opens = static_cast<int>(v.opens);
  out.iterations = v.iterations;
  std::ranges::copy(study::row_values(kColumns, m, v), out.metric);
  return out;
}

}  // namespace

Study::Study(const Scenario& scenario)
    : scenario_(scenario),
      inputs_(uncertain_inputs(scenario)),
      model_(is_group(scenario) ? make_group_counts(scenario) : make_model(scenario)),
      group_(is_group(scenario) ? make_group(scenario) : nullptr),
      layout_(make_layout(scenario, model_->draws)) {}

Study::Study(const Study& resolved, const study::Plan& plan)
    : scenario_(resolved.scenario_),
      inputs_(resolved.inputs_),
      model_(resolved.model_),
      group_(resolved.group_),
      layout_(resolved.layout_) {
  scenario_.plan = plan;
}

std::string Study::gpu_refusal() const { return grasp::gpu_refusal(scenario_); }

study::Shape Study::shape() const {
  const auto sums = static_cast<std::size_t>(layout_.sums);
  return {.sums = sums,
          .tracked = sums - static_cast<std::size_t>(layout_.held_sum),
          .row = static_cast<std::size_t>(layout_.row),
          .counts = static_cast<std::size_t>(layout_.counts),
          .buckets = static_cast<std::size_t>(layout_.buckets),
          .outcomes = {{static_cast<std::size_t>(layout_.outcome), kOutcomes}}};
}

std::span<const study::OutcomeWords> Study::outcome_words() const {
  if (any_slides(scenario_)) return kSlidingWords;
  return kOutcomeWords;
}

std::vector<study::RowColumn> Study::columns() const {
  using study::Columns;
  const auto forces = static_cast<std::size_t>(3 * layout_.contacts);
  std::vector<std::string> inputs;
  for (const Input& input : inputs_) inputs.push_back(input.name);
  Columns columns;
  columns.number("index", Columns::Type::kWhole).number("outcome", Columns::Type::kSmall, names_in(kOutcomeWords));
  columns.number("residual");
  // "margin", as it has always been called there
  study::for_each_row(kColumns, [&](const auto& row, int k) {
    columns.number(k == metric("friction_margin") ? "margin" : row.words.name);
  });
  std::vector<study::RowColumn> list =
      columns.numbers("inputs", inputs.size(), inputs).numbers("c", forces).numbers("a", forces).list();
  // In files the other metrics come last.
  std::stable_partition(list.begin() + kRowHead, list.end(),
                        [](const study::RowColumn& c) { return !c.list || c.name == "margin"; });
  return list;
}

study::Tally Study::run(std::int64_t first, std::int64_t count, const Device& device) const {
  if (device.executor == Executor::kCuda) {
    if (!group_) return run_on_gpu(*this, first, count, device);
    if (!group_->slides)
      return (group_->numbers > 3 ? run_group_on_gpu<4> : run_group_on_gpu<3>)(*this, first, count, device);
    return run_on_cpu(*this, first, count, {Executor::kLanes, device.threads});
  }
  return run_on_cpu(*this, first, count, device);
}

Replay Study::replay(const GraspModel& model, std::int64_t sample) const { return replay_sample(*this, model, sample); }

}  // namespace garra::grasp
