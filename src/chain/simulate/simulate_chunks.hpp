// Runs the body over a batch on the host. Translation units of chain/instances instantiate it.
#pragma once

#include "chain/eval/buffer.hpp"
#include "chain/simulate/simulate_setup.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/interrupt.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/batch/refill.hpp"

namespace garra::chain {

/// Lane `lane` of a state of lanes.
template <class To, class From>
To lane_state(const From& from, int lane) {
  using S = Lanes<double>;
  static_assert(sizeof(From) == sizeof(To) * S::kSize);
  // A state of lanes is the state of doubles with every double a register (all members S).
  To to;
  const S* src = reinterpret_cast<const S*>(&from);
  double* dst = reinterpret_cast<double*>(&to);
  for (std::size_t f = 0; f < sizeof(To) / sizeof(double); ++f) dst[f] = src[f][lane];
  return to;
}

template <class Body>
struct FixedLanes {
  const Body& body;
  EverySoOften between{};

  void operator()() const {
    using S = Lanes<double>;
    for (std::int64_t i = 0; i < body.a.count; i += S::kSize) {
      auto s = body.template start<S>(i);
      body.run_fixed(s, between);
      for (int l = 0; l < S::kSize && i + l < body.a.count; ++l)
        body.finish(i + l, lane_state<typename Body::template State<double>>(s, l));
    }
  }
};
template <class Body>
struct AdaptiveLanes {
  const Body& body;
  EverySoOften between{};

  void operator()() const {
    using S = Lanes<double>;
    using State = typename Body::template State<S>;
    batch::solve_refilling<double>(
        body.a.count, [&](std::int64_t i) { return body.template start<S>(i); },
        [&](State& s) {
          body.step_adaptive(s);
          between();
        },
        [&](const State& s) { return body.running(s); },
        [&](std::int64_t i, const State& s, int lane) {
          body.finish(i, lane_state<typename Body::template State<double>>(s, lane));
        });
  }
};

/// All samples of a job by one body on one executor of the host: a batch in chunks, each by one thread.
template <Executor E, class Body>
void simulate_chunks(const SimulateJob& job) {
  // Samples at once: enough to refill lanes from, few enough to share out.
  const batch::Blocks chunks{job.in.count, 128};
  const auto setup = make_setup<Body::J>(job);
  batch::for_blocks(
      solve_threads(job.device), chunks, [&] { return SimulateRows(job, chunks.largest()); },
      [&](SimulateRows& rows, std::int64_t first, std::int64_t count) {
        const JointsInUse all(job.robot.joints);
        const Body body{setup, rows.take(first, count)};
        if constexpr (E == Executor::kScalar)
          batch::for_each_scalar(count, Interruptible<Body>{body});
        else if (job.options.method == Integrator::kDopri5)
          batch::lanes_loop(AdaptiveLanes<Body>{body});
        else
          batch::lanes_loop(FixedLanes<Body>{body});
        rows.give_back();
      });
}

/// Sizes with an instance of their own for chains that all samples share and whose joints all turn: 3 % faster, and
/// twice the time to compile.
template <int J>
inline constexpr bool kHasShared = J == 6 || J == 7;

template <int J>
void simulate_on_lanes(const SimulateJob& job) {
  if constexpr (!kLanesPay) return simulate_on_scalar(job);
  const JointsInUse all(job.robot.joints);
  if constexpr (kHasShared<J>)
    if (job.columns.empty() && fits_revolute(make_setup<J>(job).nominal))
      return simulate_chunks<Executor::kLanes, SimulateKernel<J, Joints::kRevolute, false>>(job);
  simulate_chunks<Executor::kLanes, SimulateKernel<J, Joints::kMixed, true>>(job);
}

}  // namespace garra::chain
