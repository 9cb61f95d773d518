// Samples of grasps whose hand is known, on the host: what instances/set_hand.cpp and set_hand_large.cpp compile.
#pragma once

#include "contact/batch/lanes.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/on_device.hpp"
#include "grasp/set/run_hand.hpp"
#include "grasp/set/stretches.hpp"

namespace garra::grasp {

namespace set_hand {

constexpr std::int64_t kSamples = 128;  // at once, a whole number of words: their tiles stay in the L2 cache
static_assert(kSamples % 64 == 0);

/// Tiles of one thread.
template <int N>
struct Workspace {
  batch::Tiles<solvers::FrictionProblem<double, N>> problems{kSamples};
  batch::Tiles<typename contact::BalanceOp<N>::template In<double>> wrenches{kSamples};
  batch::Tiles<HandCommand<double, N>> commands{kSamples};
  batch::Tiles<Metrics<double, N>> metrics{kSamples};
  batch::Tiles<solvers::Candidate<double, N>> candidates{kSamples}, second{kSamples};
  batch::Tiles<HandResult<double>> results{kSamples};

  HandTiles tiles(bool check_uniqueness) {
    return {problems.data(), wrenches.data(),   commands.data(),
            metrics.data(),  candidates.data(), check_uniqueness ? second.data() : nullptr,
            results.data()};
  }
};

template <int N>
Judge<N> judge_of(const HandJob<N>& job, const HandTiles& t) {
  return {job.solver.tol, job.held_imbalance, t.problems, t.metrics, t.candidates, t.second};
}

/// Contact problems, and what they are asked besides.
template <int N>
void prepare(const HandJob<N>& job, const SampleStretch& of, Executor executor, const HandTiles& t) {
  const auto grasp = static_cast<std::size_t>(of.grasp);
  const CandidateBody<N> draw{job.model, &job.grasps[grasp], kSamples, job.first + of.first, t.wrenches};
  const LimitedJoints<N> joints{job.joints.of(of.grasp), job.joints.each, job.joints.limit};
  batch::for_each(executor, of.count, HandBuildBody<N>{draw, &job.hands[grasp], joints, squeeze_errors(job.model), t});
  with_balance(HandBalanceBody<N>{&job.grasps[grasp], &job.hands[grasp], kSamples, t}, joints,
               [&](const auto& body) { balance(executor, body, of.count); });
}

template <int N>
void solve(const HandJob<N>& job, std::int64_t count, Executor executor, const HandTiles& t) {
  contact::IterateBody<solvers::FrictionNewton, N> iterate{job.solver, t.problems, nullptr, t.candidates};
  contact::iterate(executor, iterate, count);
  if (t.second == nullptr) return;
  // From zero instead of the stick test, so that a second solution has a chance to be found.
  iterate.solver.cold = true;
  iterate.candidates = t.second;
  contact::iterate(executor, iterate, count);
}

/// Judges and counts.
template <int N>
void conclude(const HandJob<N>& job, const SampleStretch& of, Executor executor, Workspace<N>& w, HandCounts& counts) {
  batch::for_each(executor, of.count, HandJudgeBody<N>{judge_of(job, w.tiles(job.check_uniqueness)), w.results.data()});
  for (std::int64_t i = 0; i < of.count; ++i) {
    const HandResult<double> r = w.results.get(i);
    counts.add(r);
    note(job, of.grasp, of.first + i, r);
  }
}

/// All on the host.
template <int N>
void run_here(const HandJob<N>& job, const SampleCut& cut, const Device& device, std::vector<HandCounts>& parts) {
  for_stretches(
      cut, device, [] { return Workspace<N>(); },
      [&](Workspace<N>& w, const SampleStretch& of) {
        const HandTiles t = w.tiles(job.check_uniqueness);
        prepare(job, of, device.executor, t);
        solve(job, of.count, device.executor, t);
        conclude(job, of, device.executor, w, parts[static_cast<std::size_t>(of.number)]);
      });
}

/// Newton on the GPU, the rest here: many stretches at a time.
template <int N>
void run_newton_there(const HandJob<N>& job, const SampleCut& cut, const Device& device,
                      std::vector<HandCounts>& parts) {
  constexpr std::int64_t kTogether = 32;
  std::vector<Workspace<N>> all(static_cast<std::size_t>(std::min(kTogether, cut.stretches())));
  for (std::int64_t first = 0; first < cut.stretches(); first += kTogether) {
    const std::int64_t here = std::min(kTogether, cut.stretches() - first);
    const auto in_parallel = [&](const auto& work) {
      batch::for_blocks(
          solve_threads(device), {here, 1}, [] { return 0; },
          [&](int, std::int64_t k, std::int64_t) { work(all[static_cast<std::size_t>(k)], cut.stretch(first + k)); });
    };
    in_parallel([&](Workspace<N>& w, const SampleStretch& of) {
      prepare(job, of, Executor::kLanes, w.tiles(job.check_uniqueness));
    });
    NewtonTiles<N> newton{job.solver, kSamples, {}};
    const auto solve_into = [&](batch::Tiles<solvers::Candidate<double, N>> Workspace<N>::*to) {
      newton.parts.clear();
      for (std::int64_t k = 0; k < here; ++k) {
        auto& w = all[static_cast<std::size_t>(k)];
        newton.parts.push_back({w.problems.data(), (w.*to).data()});
      }
      batch::on_device(device, newton);
    };
    solve_into(&Workspace<N>::candidates);
    newton.solver.cold = true;
    if (job.check_uniqueness) solve_into(&Workspace<N>::second);
    in_parallel([&](Workspace<N>& w, const SampleStretch& of) {
      conclude(job, of, Executor::kLanes, w, parts[static_cast<std::size_t>(of.number)]);
    });
  }
}

}  // namespace set_hand

template <int N>
void run_hand(const HandJob<N>& job, const Device& device) {
  using namespace set_hand;
  if (job.grasps.empty() || job.samples == 0) return;
  const bool on_gpu = device.executor == Executor::kCuda;
  if (on_gpu && N <= kMostHandOnDevice) return batch::on_device(device, job);
  const SampleCut cut{std::ssize(job.grasps), job.samples, kSamples};
  std::vector<HandCounts> parts(static_cast<std::size_t>(cut.stretches()));
  if constexpr (N > kMostHandOnDevice) {
    on_gpu ? run_newton_there(job, cut, device, parts) : run_here(job, cut, device, parts);
  } else {
    run_here(job, cut, device, parts);
  }
  for (std::int64_t k = 0; k < cut.stretches(); ++k) job.counts[k / cut.each()].add(parts[static_cast<std::size_t>(k)]);
}

template <int N>
HandReplay replay_hand(const HandJob<N>& job, std::int64_t sample) {
  using namespace set_hand;
  Workspace<N> w;
  const HandTiles t = w.tiles(job.check_uniqueness);
  // Alone in its tile; its bits are those that it has among others.
  prepare(job, {0, sample - job.first, 1, 0}, Executor::kScalar, t);
  solve(job, 1, Executor::kScalar, t);
  const auto v = judge_of(job, t).template verdict<double>(0);
  const auto p = w.problems.get(0);
  const auto m = w.metrics.get(0);
  const auto f = w.commands.get(0);
  HandReplay out;
  const auto take = [](std::vector<double>& to, const auto& from, int count) { to.assign(from.m, from.m + count); };
  take(out.A, p.A, 9 * N * N);
  take(out.b, p.b, 3 * N);
  take(out.mu, p.mu, N);
  take(out.c, v.c, 3 * N);
  take(out.a, v.a, 3 * N);
  take(out.command, f.force, 3 * N);
  for (int j = 0; j < N; ++j) out.state.push_back(static_cast<int>(v.state[j]));
  out.outcome = static_cast<Outcome>(static_cast<int>(v.outcome));
  out.residual = v.residual;
  out.imbalance = m.imbalance;
  out.resisted = m.resisted;
  out.critical = m.critical;
  out.margin = m.margin;
  out.radius = m.wrench_radius;
  return out;
}

}  // namespace garra::grasp
