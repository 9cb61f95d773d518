// Analyzes one instant of many grasps: the bodies of an explicit step up to its certified forces. The step has 1 s, so
// that its change of a velocity equals the acceleration, to the last digit. SI units. Host and device;
// docs/theory/grasp-time.md, "One instant".
#pragma once

#include "garra/batch/parallel.hpp"
#include "garra/grasp_analysis.hpp"
#include "grasp/time/time_loop.hpp"

namespace garra::grasp {

static_assert(kSlideSpeed == kSlipSpeed);

/// Calls use(i) for instants 0 ... count - 1 of a block, by a team of threads if they are many: those of a GPU.
template <class Use>
void for_instants(std::int64_t count, const Use& use) {
  constexpr std::int64_t kMany = 4096, kAtOnce = 512;
  batch::for_blocks(count > kMany ? study_threads({}) : 1, {count, kAtOnce}, [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t i = first; i < first + n; ++i) use(i);
  });
}

/// MotionTiles with the additional tiles of an analysis.
struct AnalysisTiles {
  MotionTiles motion;
  double* gaps;  ///< of contact 0, then of contact 1, ...
};

/// Determines the open contacts and stores their gaps. Afterwards a step's gap is 1 m for an open contact and 0 for a
/// closed one, so that a problem has exactly the closed contacts.
struct OpenKernel {
  const MotionRules* rules;
  AnalysisTiles tiles;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const auto x = batch::load<S, ObjectMotion<S>>(tiles.motion.objects, i);
    const Body<S> body = body_at(x, x.p, x.turn);
    for (int j = 0; j < rules->grasp.contacts; ++j) {
      auto f = batch::load<S, FingerStep<S>>(tiles.motion.step_tile(j), i);
      batch::store<S>(tiles.gaps + j * tiles.motion.padded, i, f.gap);
      // NaN counts as closed, so that it reaches the certificate.
      const auto open = f.gap > S(kOpenGap) || relative_velocity(body, f)[0] > S(kOpenSpeed);
      f.gap = select(open, S(1), S(0));
      batch::store<S>(tiles.motion.step_tile(j), i, f);
    }
  }
};

/// One call of analyze(): data that all instants share, with their inputs and outputs. Host only.
struct AnalysisJob {
  MotionModel model;
  StepNow step;
  const GraspStates& states;
  Analysis& out;
  ObjectMotion<double> object = {};  ///< nominal, as are the following; at rest in its frame
  FingerTask<double> task[kMaxContacts] = {};
  LocalSurface<double> surface[kMaxContacts] = {};

  /// Fills objects, tasks and surfaces of instants `first` ...; the last instant pads the last tile.
  void fill(const MotionTiles& host, std::int64_t first, std::int64_t count) const;
  /// Fills q, qd and tau if they are given.
  void fill_fingers(const MotionTiles& host, std::int64_t first, std::int64_t count) const;
  /// Computes all other outputs from objects, steps, fingers and gaps, once status and forces are in `out`.
  void finish(const AnalysisTiles& host, std::int64_t first, std::int64_t count) const;
  [[nodiscard]] bool by_inverse_kinematics() const { return states.q.empty(); }
  [[nodiscard]] bool fingers_given() const { return !(states.q.empty() && states.qd.empty() && states.tau.empty()); }
};

/// Analyzes the instants in the tiles, up to the certificate. `give_fingers` calls fill_fingers().
template <int N, class Backend, class Give>
void run_analysis(const Backend& backend, const AnalysisJob& job, const AnalysisTiles& tiles, std::int64_t count,
                  const Give& give_fingers) {
  const MotionRules* rules = backend.rules();
  const MotionTiles& t = tiles.motion;
  const solvers::FrictionNewton solver = contact::make_auto_solver(job.model.solver);
  // Afterwards the file's values replace those of inverse kinematics.
  if (job.by_inverse_kinematics()) backend.start_fingers(job.model.rules, t, count);
  if (job.fingers_given()) give_fingers();
  backend.for_each(count, OrderKernel{rules, t, job.step.now});
  backend.step_fingers(job.model.rules, t, job.step, count);
  backend.for_each(count, OpenKernel{rules, tiles});
  backend.assemble(AssembleKernel<N>{rules, t, job.step.now}, count);
  backend.iterate(contact::IterateKernel<solvers::FrictionNewton, N>{solver, t.problems, t.sliding, t.candidates,
                                                                     nullptr, extent<N>()},
                  count);
  backend.certify(
      contact::CertifyKernel<N>{solver.tolerance, t.problems, t.sliding, t.candidates, t.solutions, extent<N>()},
      count);
}

/// Allocates memory for a block of instants, as cut_tiles() does.
template <int N, class Take>
AnalysisTiles cut_analysis_tiles(const MotionModel& model, std::int64_t padded, Take take) {
  AnalysisTiles t{cut_tiles<N>(model, nullptr, padded, false, take), nullptr};
  t.gaps = take(extent<N>());
  return t;
}

/// Stores status and forces of a block, then all other outputs.
inline void take_over(const AnalysisJob& job, const AnalysisTiles& host, std::int64_t first, std::int64_t count) {
  Analysis& out = job.out;
  const ContactsInUse many(out.contacts);
  for_instants(count, [&](std::int64_t i) {
    const auto s = batch::load<double, solvers::FrictionSolution<double, kAnyContacts>>(host.motion.solutions, i);
    const auto at = static_cast<std::size_t>(first + i);
    out.status[at] = static_cast<Status>(static_cast<int>(s.status));
    out.residual[at] = s.residual;
    out.iterations[at] = s.effort.outer;
    std::copy_n(s.c.m, 3 * out.contacts, out.force.begin() + (first + i) * 3 * out.contacts);
  });
  job.finish(host, first, count);
}

}  // namespace garra::grasp
