// Samples of candidate grasps on the host: what the files with instances have in common.
#pragma once

#include <memory>
#include <type_traits>

#include "contact/balance/run.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/interrupt.hpp"
#include "garra/batch/on_device.hpp"
#include "garra/core/lanes.hpp"
#include "grasp/set/radius.hpp"
#include "grasp/set/run.hpp"
#include "grasp/set/stretches.hpp"

namespace garra::grasp {

inline constexpr std::int64_t kSetSamples = 512;  // at once, a whole number of words: their tiles stay in the cache
static_assert(kSetSamples % 64 == 0);

/// Tiles of one thread.
template <int N, int D>
struct SetTiles {
  using Op = contact::BalanceOp<N, D>;
  batch::Tiles<typename Op::template In<double>> problems{kSetSamples};
  batch::Tiles<typename Op::template Out<double>> answers{kSetSamples};
  batch::Tiles<FrictionBracket<double>> brackets{kSetSamples};
};

template <int N, int D>
void assemble_set(const SetJob<N, D>& job, const SampleStretch& of, Executor executor, SetTiles<N, D>& tiles) {
  const CandidateBody<N, D> body{job.model, &job.grasps[static_cast<std::size_t>(of.grasp)], kSetSamples,
                                 job.first + of.first, tiles.problems.data()};
  batch::for_each(executor, of.count, body);
}

template <int N, int D>
void decide_set(const SetJob<N, D>& job, const SampleStretch& of, Executor executor, SetTiles<N, D>& tiles) {
  assemble_set(job, of, executor, tiles);
  contact::balance_tiles<N, D>(executor, of.count, tiles.problems.data(), tiles.answers.data());
  VerdictBits* bits = job.verdicts + of.grasp * words_for(job.samples);
  for (std::int64_t i = 0; i < of.count; ++i) note(tiles.answers.get(i).verdict, of.first + i, bits);
}

template <int N, int D>
void seek_friction(const SetJob<N, D>& job, const SampleStretch& of, Executor executor, SetTiles<N, D>& tiles) {
  assemble_set(job, of, executor, tiles);
  NarrowFrictionBody<N, D> narrow{tiles.problems.data(), tiles.brackets.data(), nullptr};
  batch::for_each(executor, of.count, narrow);
  narrow.answers = tiles.answers.data();
  for (int k = 0; k < kBracketSteps; ++k) {
    contact::balance_tiles<N, D>(executor, of.count, tiles.problems.data(), tiles.answers.data());
    batch::for_each(executor, of.count, narrow);
  }
  double* out = job.critical_friction + of.grasp * job.friction_samples + of.first;
  for (std::int64_t i = 0; i < of.count; ++i) out[i] = tiles.brackets.get(i).high;
}

/// One sample at a time: what surfaces of different problems look like has nothing in common.
template <int N, int D>
void seek_radius(const SetJob<N, D>& job, const SampleStretch& of, Executor executor, SetTiles<N, D>& tiles,
                 solvers::RadiusSpace& space) {
  assemble_set(job, of, executor, tiles);
  const RadiusBody<N, D> body{&job.grasps[static_cast<std::size_t>(of.grasp)], kSetSamples, tiles.problems.data()};
  double* out = job.wrench_radius + of.grasp * job.radius_samples + of.first;
  using Planes = std::conditional_t<kLanesPay, Lanes<double>, double>;
  for (std::int64_t i = 0; i < of.count; ++i) {
    check_interrupt();  // one sample takes milliseconds
    out[i] =
        (executor == Executor::kLanes ? body.template of<Planes>(i, space) : body.template of<double>(i, space)).low;
  }
}

template <int N, int D>
void run_set(const SetJob<N, D>& job, const Device& device) {
  if (job.grasps.empty()) return;
  if (device.executor == Executor::kCuda) return batch::on_device(device, job);
  const std::int64_t grasps = std::ssize(job.grasps);
  const auto tiles = [] { return SetTiles<N, D>(); };
  for_stretches({grasps, job.samples, kSetSamples}, device, tiles,
                [&](SetTiles<N, D>& t, const SampleStretch& of) { decide_set(job, of, device.executor, t); });
  for_stretches({grasps, job.friction_samples, kSetSamples}, device, tiles,
                [&](SetTiles<N, D>& t, const SampleStretch& of) { seek_friction(job, of, device.executor, t); });
  struct WithSpace {
    SetTiles<N, D> tiles;
    std::unique_ptr<solvers::RadiusSpace> space = std::make_unique_for_overwrite<solvers::RadiusSpace>();
  };
  for_stretches(
      {grasps, job.radius_samples, kSetSamples}, device, [] { return WithSpace(); },
      [&](WithSpace& t, const SampleStretch& of) { seek_radius(job, of, device.executor, t.tiles, *t.space); });
}

}  // namespace garra::grasp
