// Runs the steps of a block of samples: single-source implementation for host and GPU. `Backend` runs bodies, solver
// and fingers.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "contact/batch/auto_solver.hpp"
#include "contact/batch/body.hpp"
#include "garra/batch/interrupt.hpp"
#include "garra/contact.hpp"
#include "grasp/time/bands.hpp"
#include "grasp/time/loads.hpp"
#include "grasp/time/steps.hpp"

namespace garra::grasp {

/// A scenario with [simulation], resolved: data that all samples share. Host only.
struct MotionModel {
  MotionRules rules;
  contact::Options solver;
  LoadClock clock;
  std::int64_t steps = 0;                                ///< until the end
  int instants = 0;                                      ///< looked at, time 0 and the end included
  std::vector<double> levels = {};                       ///< of friction
  std::vector<double> sample_times = {};                 ///< [s] of rows of given torques; empty: none
  std::vector<std::vector<double>> sample_torques = {};  ///< of each finger: [sample time][joint]

  /// Assigns draw and friction of the samples from number `first` on; the last sample pads the last tile.
  void assign(std::int64_t first, std::int64_t count, std::uint64_t* draw, double* friction) const;
  /// Data of a step, counted from 0, that all samples share; it points into `torques`.
  [[nodiscard]] StepNow at(std::int64_t step, std::vector<std::vector<double>>& torques) const;
  /// Step after which instant i is recorded.
  [[nodiscard]] std::int64_t step_of_instant(int i) const;
  /// Steps that are recorded, one slot each: element k is the step of slot k.
  [[nodiscard]] std::vector<std::int64_t> look_steps() const;
  /// Slot of each instant.
  [[nodiscard]] std::vector<std::size_t> slots_of_instants() const;
};

/// The surface along which a fingertip moves at contact j (from 0); throws, with `why`, if there is none.
[[nodiscard]] SurfaceKind followed_surface(const Contact& c, std::size_t j, const std::string& why);

/// Steps between the host's checks whether any sample still goes on.
inline constexpr std::int64_t kStepsBetweenChecks = 32;

/// Destination of recorded quantities: none.
struct NoLooks {
  [[nodiscard]] double* slot(std::size_t) const { return nullptr; }
  void taken(std::size_t) const {}
};
/// Destination of recorded quantities: one slot after another, each for one of look_steps().
struct AllLooks {
  double* data;
  std::int64_t size;  ///< doubles of a slot
  [[nodiscard]] double* slot(std::size_t k) const { return data + static_cast<std::int64_t>(k) * size; }
  void taken(std::size_t) const {}
};

/// Runs all steps of `count` samples and calls after(step) behind each. `looks` gives the memory of slot(k); taken(k)
/// reports that it is filled.
template <int N, class Backend, class Looks, class After>
void run_steps(const Backend& backend, const MotionModel& model, const MotionTiles& tiles, const Looks& looks,
               std::int64_t count, const After& after) {
  const MotionRules* rules = backend.rules();
  const std::vector<std::int64_t> look_steps = model.look_steps();
  std::vector<std::vector<double>> torques;
  const solvers::FrictionNewton solver = contact::make_auto_solver(model.solver);
  std::size_t next_look = 0;
  backend.for_each(count, MotionDrawKernel{rules, tiles});
  backend.start_fingers(model.rules, tiles, count);
  for (std::int64_t k = 0; k < model.steps; ++k) {
    check_interrupt();
    if (k % kStepsBetweenChecks == 0 && k > 0 && !backend.any_running(tiles, count)) return;
    StepNow step = model.at(k, torques);
    backend.for_each(count, OrderKernel{rules, tiles, step.now});
    backend.step_fingers(model.rules, tiles, step, count);
    backend.assemble(AssembleKernel<N>{rules, tiles, step.now}, count);
    backend.iterate(contact::IterateKernel<solvers::FrictionNewton, N>{solver, tiles.problems, tiles.sliding,
                                                                       // Before the first step there are no forces to
                                                                       // start from: Newton's own first guess.
                                                                       tiles.candidates,
                                                                       k > 0 ? tiles.guesses : nullptr, extent<N>()},
                    count);
    backend.certify(contact::CertifyKernel<N>{model.rules.tolerance, tiles.problems, tiles.sliding, tiles.candidates,
                                              tiles.solutions, extent<N>()},
                    count);
    const bool looked = next_look < look_steps.size() && look_steps[next_look] == k + 1;
    // A product, not a sum of steps, so that rounding does not add up.
    const double end = static_cast<double>(k + 1) * model.rules.step.step;
    backend.close(count, CloseKernel<N>{rules, tiles, step.now, end, k == 0, looked ? looks.slot(next_look) : nullptr});
    if (looked) looks.taken(next_look++);
    after(step);
  }
}

/// Doubles per sample in every tile set.
template <int N>
struct MotionSizes {
  static constexpr int problem() { return batch::fields<double, solvers::FrictionProblem<double, N>>(); }
  static constexpr int sliding() { return batch::fields<double, solvers::SlidingContacts<double, N>>(); }
  static constexpr int candidate() { return batch::fields<double, solvers::Candidate<double, N>>(); }
  static constexpr int measures() { return batch::fields<double, MotionMeasures<double, N>>(); }
  static constexpr int look() { return batch::fields<double, MotionLook<double, N>>(); }
  static constexpr int object() { return batch::kFields<double, ObjectMotion<double>>; }
  static constexpr int load() { return batch::kFields<double, ObjectLoad<double>>; }
  static constexpr int shake() { return batch::kFields<double, ShakePhases<double>>; }
};

/// Divides memory into the tile sets of a block. `take(doubles)` returns memory for one sample times `padded`.
template <int N, class Take>
MotionTiles cut_tiles(const MotionModel& model, const std::uint64_t* draw, std::int64_t padded, bool recorded,
                      Take take) {
  using Sizes = MotionSizes<N>;
  const auto contacts = [&](int fields) { return take(extent<N>() * fields); };
  MotionTiles t{};
  t.padded = padded;
  t.draw = draw;
  t.parts.tasks = contacts(batch::kFields<double, FingerTask<double>>);
  t.parts.shares = contacts(batch::kFields<double, FingerShare<double>>);
  t.parts.stances = contacts(batch::kFields<double, FingerStance<double, chain::kMaxJoints>>);
  t.parts.uniforms = take(model.rules.grasp.draws > 0 ? model.rules.grasp.draws : 1);
  t.parts.padded = padded;
  t.levels = take(1);
  t.shakes = model.rules.shaken ? take(Sizes::shake()) : nullptr;
  t.objects = take(Sizes::object());
  t.surfaces = contacts(batch::kFields<double, LocalSurface<double>>);
  t.orders = contacts(batch::kFields<double, FingerOrder<double>>);
  t.fingers = contacts(batch::kFields<double, FingerMotion<double, chain::kMaxJoints>>);
  t.steps = contacts(batch::kFields<double, FingerStep<double>>);
  t.impulses = contacts(3);
  t.problems = take(Sizes::problem());
  t.sliding = model.rules.step.explicit_step ? take(Sizes::sliding()) : nullptr;
  t.guesses = take(extent<3 * N>());
  t.candidates = take(Sizes::candidate());
  t.solutions = take(batch::fields<double, solvers::FrictionSolution<double, N>>());
  t.measures = take(Sizes::measures());
  t.records = recorded ? take(batch::fields<double, StepRecord<double, N>>()) : nullptr;
  return t;
}

/// Memory of a block for cut_tiles(), zero at first; owns it.
class HostMemory {
 public:
  explicit HostMemory(std::int64_t count) : padded_(batch::tiles_for(count) * batch::kTile) {}
  [[nodiscard]] std::int64_t padded() const { return padded_; }
  /// Memory for `fields` doubles of every sample; lives as long as this object.
  double* take(int fields) {
    pieces_.emplace_back(fields * padded_);
    return pieces_.back().data();
  }

 private:
  std::int64_t padded_;
  std::vector<batch::Tiles<double>> pieces_;
};

/// Copies measures and uniforms of a completed block to `count` samples of `out`, from number `first` on.
void take_measures(const MotionModel& model, const MotionTiles& host, std::int64_t first, std::int64_t count,
                   int threads, Motions& out);
/// Copies one slot of `looks`, as run_steps filled it, in host memory. `slots`: slots_of_instants().
void take_looks(const std::vector<std::size_t>& slots, std::size_t slot, const double* tiles, std::int64_t first,
                std::int64_t count, int threads, Motions& out);

/// Samples first ... first + count - 1 for kernels/grasp/motion.cu (garra/batch/on_device.hpp).
struct DeviceMotions {
  const MotionModel& model;
  std::int64_t first, count;
  Motions& out;
  BandCounts* bands;  ///< null: what is looked at goes to `out`
};

}  // namespace garra::grasp
