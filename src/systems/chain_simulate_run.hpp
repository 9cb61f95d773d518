// Runs the body over a batch on the host. One translation unit per number of joints instantiates it
// (chain_simulate_*.cpp).
#pragma once

#include <algorithm>

#include "garra/batch/refill.hpp"
#include "systems/chain_eval_buffer.hpp"
#include "systems/chain_simulate_setup.hpp"

namespace garra::chain {

/// Lane `lane` of a state of lanes.
template <class To, class From>
To lane_state(const From& from, int lane) {
  using S = Lanes<double>;
  static_assert(sizeof(From) == sizeof(To) * S::kSize);
  To to;
  const S* src = reinterpret_cast<const S*>(&from);
  double* dst = reinterpret_cast<double*>(&to);
  for (std::size_t f = 0; f < sizeof(To) / sizeof(double); ++f) dst[f] = src[f][lane];
  return to;
}

template <class Body>
__attribute__((flatten)) void run_lanes_fixed(const Body& body) {
  using S = Lanes<double>;
  for (std::int64_t i = 0; i < body.a.count; i += S::kSize) {
    auto s = body.template start<S>(i);
    body.run_fixed(s);
    for (int l = 0; l < S::kSize && i + l < body.a.count; ++l)
      body.finish(i + l, lane_state<typename Body::template State<double>>(s, l));
  }
}
template <class Body>
__attribute__((flatten)) void run_lanes_adaptive(const Body& body) {
  using S = Lanes<double>;
  using State = typename Body::template State<S>;
  batch::solve_refilling<double>(
      body.a.count, [&](std::int64_t i) { return body.template start<S>(i); }, [&](State& s) { body.step_adaptive(s); },
      [&](const State& s) { return body.running(s); },
      [&](std::int64_t i, const State& s, int lane) {
        body.finish(i, lane_state<typename Body::template State<double>>(s, lane));
      });
}
template <class Body>
__attribute__((flatten)) void run_scalar(const Body& body) {
  for (std::int64_t i = 0; i < body.a.count; ++i) body.template operator()<double>(i);
}

template <class Body>
void simulate_chunks(const SimulateJob& job) {
  constexpr std::int64_t kChunk = 128;  // samples at once: enough to refill lanes from, few enough to share out
  const std::int64_t chunks = (job.in.count + kChunk - 1) / kChunk;
  const auto setup = setup_of<Body::J>(job);
#pragma omp parallel num_threads(solve_threads(job.device))
  {
    SimulateRows rows(job, std::min(kChunk, job.in.count));
#pragma omp for schedule(dynamic)
    for (std::int64_t k = 0; k < chunks; ++k) {
      const std::int64_t first = k * kChunk;
      const Body body{setup, rows.take(first, std::min(kChunk, job.in.count - first))};
      if (job.device.executor == Executor::kScalar)
        run_scalar(body);
      else if (job.options.method == Integrator::kDopri5)
        run_lanes_adaptive(body);
      else
        run_lanes_fixed(body);
      rows.give_back();
    }
  }
}

/// Sizes with an instance of their own for chains that all samples share and whose joints all turn: 3 % faster, and
/// twice the time to compile.
template <int J>
inline constexpr bool kHasShared = J == 6 || J == 7;

template <int J>
void simulate_on_cpu(const SimulateJob& job) {
  if constexpr (kHasShared<J>)
    if (job.columns.empty() && all_revolute(setup_of<J>(job).nominal))
      return simulate_chunks<SimulateBody<J, Joints::kRevolute, false>>(job);
  simulate_chunks<SimulateBody<J, Joints::kMixed, true>>(job);
}

}  // namespace garra::chain
