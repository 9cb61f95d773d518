// Samples of a group at one instant, side by side (docs/theory/grasp-groups.md): bodies, memory, and one loop for host
// and GPU. A sample runs these bodies: draw (objects and contacts), stand (fingers one after another), build (contact
// problem, metrics), after the solver check (certificate, outcome) and settle (rest, balance, objects).
#pragma once

#include "contact/batch/auto_solver.hpp"
#include "grasp/group/outcome.hpp"
#include "grasp/group/rest_search.hpp"
#include "grasp/group/rooms.hpp"
#include "grasp/group/stand.hpp"

namespace garra::grasp {

/// Whether an object of a sample is held.
enum class ObjectHeld : std::uint8_t { kNo, kYes, kUnknown };

/// Memory of a block of samples. `kept` has the numbers of samples side by side; the others are tiles.
struct InstantMemory {
  GroupRoom kept;
  GroupRoom room;                              ///< while a body runs; 0 numbers: all samples share one
  GroupRoom problems, candidates, second;      ///< second: candidates from another start; null: none
  GroupRoom metrics, results, held, uniforms;  ///< results: SampleResult; held: ObjectHeld of each object

  /// Calls f(room) for all of them.
  template <class F>
  void for_each(const F& f) {
    for (GroupRoom* one : {&kept, &room, &problems, &candidates, &second, &metrics, &results, &held, &uniforms})
      f(*one);
  }
};

/// A sample in its memory.
GARRA_HD GroupSampleView sample_at(const GroupParts<Shown>& m, const InstantMemory& memory, std::int64_t i) {
  Cutter<double> kept{memory.kept.first + i * memory.kept.fields};
  return cut_sample(m, kept);
}

/// First body: draws samples first + i and places their objects and contacts.
struct GroupDrawKernel {
  static constexpr bool kCalls = true;
  const GroupParts<Shown>* model;
  InstantMemory memory;
  std::int64_t first;
  bool nominal;  ///< the nominal grasp in place of each

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    GroupSampleView s = sample_at(*model, memory, i);
    if (nominal)
      nominal_sample(*model, s.inputs);
    else
      draw_sample(*model, first + i, TileOf<double>(memory.uniforms, i).first, batch::kTile, s.inputs);
    place_sample(*model, s);
  }
};

/// Second body, on a GPU: a finger at its task, in code for J joints.
template <chain::Joints K, int J>
struct GroupStandKernel {
  static constexpr bool kCalls = true;
  const GroupParts<Shown>* model;
  InstantMemory memory;
  std::size_t finger;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    GroupSampleView s = sample_at(*model, memory, i);
    stand_finger<K, J, J>(*model, finger, s);
  }
};

/// Third body: matrices, the contact problem with D numbers for each contact, and metrics.
template <int D>
struct GroupBuildKernel {
  static constexpr bool kCalls = true;
  const GroupParts<Shown>* model;
  InstantMemory memory;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const GroupParts<Shown>& m = *model;
    GroupSampleView s = sample_at(m, memory, i);
    finish_sample(m, s);
    const int rows = m.rows(), contacts = rows / D;
    const bool reached = s.reaches();
    // Along a contact without friction the object may slide: these rows are uncoupled, at rest.
    const auto counts = [&](int r) { return reached && m.bears(r); };
    const TileOf<double> problem(memory.problems, i);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < rows; ++c) problem.put(r * rows + c, counts(r) && counts(c) ? s.A(r, c) : r == c ? 1 : 0);
      problem.put(rows * rows + r, counts(r) ? s.b(r) : 0);
    }
    for (int j = 0; j < contacts; ++j) problem.put(rows * rows + rows + j, s.mu[static_cast<std::size_t>(j)]);
    put_numbers<kMost>(TileOf<double>(memory.metrics, i), contacts,
                       group_metrics<D>(m, s, memory.room.first + i * memory.room.fields));
  }
};

/// Fourth body, after the solver.
template <int N, int D>
struct GroupCheckKernel {
  static constexpr bool kCalls = true;
  SampleCheck<N, D> check;
  double* results;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    batch::store<double>(results, i, check.template sample_result<double>(i));
  }
};
template <int N, int D>
[[nodiscard]] GroupCheckKernel<N, D> make_check(double tolerance, const HeldRule& held, const InstantMemory& at) {
  return {{tolerance, held, at.problems.first, at.metrics.first, at.candidates.first, at.second.first},
          at.results.first};
}

/// Replaces forces under which redundant contacts slip or open by forces that leave all of them at rest, if there are
/// any. The solver may find either, and no answer is to depend on it.
template <int D>
GARRA_HD void let_rest(const RestRoom<D>& at, SampleResult<double, kMost, D>& v) {
  const ProblemInMemory& p = at.problem;
  for (int r = 0; r < p.rows; ++r) at.guess[r] = r % D == 0 ? v.c[r] : 0;
  const solvers::RestProblem<D> rest{p.contacts, 0, at.room};
  if (!find_rest_forces<D>(p, at.guess, rest)) return;
  for (int r = 0; r < p.rows; ++r) at.start[r] = rest.c()[r];
  if (!settle_forces<D>(p, at.start, at.change, at.room)) return;
  for (int r = 0; r < p.rows; ++r) {
    v.c[r] = at.start[r];
    v.a[r] = left_over(p, at.start, r);
  }
  for (int j = 0; j < p.contacts; ++j) v.state[j] = static_cast<int>(ContactState::kStick);
  const LeftOver left = left_over(p, at.start);
  v.residual = left.load > 0 ? left.most / left.load : 0;
  v.sticks = 1;
}

/// Field of the margin among the numbers of metrics.
inline constexpr int kMargin = 1;
static_assert(std::get<kMargin>(Metrics<double, kMost>::parts()) == &Metrics<double, kMost>::margin);

/// Last body: the outcome of pending samples, and which objects are held.
template <int D>
struct GroupSettleKernel {
  static constexpr bool kCalls = true;
  const GroupParts<Shown>* model;
  InstantMemory memory;
  HeldRule held;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const GroupParts<Shown>& m = *model;
    const GroupSampleView s = sample_at(m, memory, i);
    const int contacts = m.rows() / D;
    const TileOf<double> result(memory.results, i), objects(memory.held, i);
    SampleResult<double, kMost, D> v;
    v.a = Vec<double, D * kMost>::zero();  // contacts that are not there do not open
    take_numbers<kMost>(result, contacts, v);
    const TileOf<double> problem(memory.problems, i), metrics(memory.metrics, i);
    double* const room = memory.room.first + i * memory.room.fields;
    settle_group<D>(m, held, s, problem.first, room, v);
    const double margin = metrics.at(kMargin);  // NaN: the contacts are redundant
    if (margin != margin && v.sticks == 0 && s.reaches()) let_rest<D>(RestRoom<D>(room, problem, contacts), v);
    v.acceleration = largest_acceleration(s, v.c.m);
    for (std::size_t k = 0; k < s.body.size(); ++k) {
      const double moves = acceleration(s, v.c.m, k);
      ObjectHeld so = moves <= held.acceleration ? ObjectHeld::kYes : ObjectHeld::kNo;
      if (!(moves == moves)) so = ObjectHeld::kUnknown;
      if (v.outcome == static_cast<int>(Outcome::kHeld)) so = ObjectHeld::kYes;
      objects.put(static_cast<int>(k), static_cast<int>(so));
    }
    put_numbers<kMost>(result, contacts, v);
  }
};

/// Samples of a study, for host and GPU (kernels/grasp/group_samples.cu).
struct GroupTask {
  const GroupParts<Shown>& model;
  contact::Options solver;
  HeldRule held;
  bool check_uniqueness;
  std::int64_t first, count;
  bool nominal;  ///< as of GroupDrawKernel
};

/// Runs the samples. Of contacts that slide, up to metrics.
template <int D, class Backend>
void run_group_samples(const GroupTask& task, const Backend& on, const InstantMemory& at) {
  const GroupParts<Shown>* model = on.shown_model();
  on.run(GroupDrawKernel{model, at, task.first, task.nominal});
  on.stand();
  on.run(GroupBuildKernel<D>{model, at});
  if (task.model.slides) return;
  on.solve();
  on.run(GroupSettleKernel<D>{model, at, task.held});
}

/// Samples for kernels/grasp/group_samples.cu (garra/batch/on_device.hpp), whose contacts have D numbers.
template <int D>
struct DeviceGroupSamples {
  GroupTask task;
  InstantMemory at;  ///< numbers of each sample; metrics, results, held and uniforms are memory of the host
};

}  // namespace garra::grasp
