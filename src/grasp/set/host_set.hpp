// Samples of candidate grasps on the host: common templates of the files with instances.
#pragma once

#include <memory>
#include <type_traits>

#include "contact/balance/resistance_rows.hpp"
#include "contact/batch/lanes.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/interrupt.hpp"
#include "garra/batch/on_device.hpp"
#include "garra/core/lanes.hpp"
#include "grasp/set/radius.hpp"
#include "grasp/set/run_set.hpp"
#include "grasp/set/sample_ranges.hpp"

namespace garra::grasp {

inline constexpr std::int64_t kSetSamples = 512;  // at once, a whole number of words: their tiles stay in the cache
static_assert(kSetSamples % 64 == 0);

/// Tiles of one thread, which has set the number of contacts (ContactsInUse).
template <int D>
struct SetTiles : private ContactsInUse {
  using Op = contact::BalanceOp<kAnyContacts, D>;
  batch::Tiles<typename Op::template In<double>> problems{kSetSamples};
  batch::Tiles<typename Op::template Out<double>> answers{kSetSamples};
  batch::Tiles<FrictionBracket<double>> brackets{kSetSamples};

  explicit SetTiles(int contacts) : ContactsInUse(contacts) {}
};

template <int D>
void assemble_set(const SetJob<kAnyContacts, D>& job, const SampleRange& of, Executor executor, SetTiles<D>& tiles) {
  contact::dispatch_contacts<D>(executor, [&](auto n) {
    contact::for_each_problem<n>(
        executor, of.count,
        CandidateKernel<n, D, kAnyContacts>{job.model, &job.grasps[static_cast<std::size_t>(of.grasp)], kSetSamples,
                                            job.first + of.first, tiles.problems.data()});
  });
}

template <int D>
void decide_set(const SetJob<kAnyContacts, D>& job, const SampleRange& of, Executor executor, SetTiles<D>& tiles) {
  assemble_set(job, of, executor, tiles);
  contact::balance_tiles<D>(executor, of.count, tiles.problems.data(), tiles.answers.data(), job.get_pads(of.grasp));
  DecisionBits* bits = job.decisions + of.grasp * words_for(job.samples);
  for (std::int64_t i = 0; i < of.count; ++i) note(tiles.answers.get(i).decision, of.first + i, bits);
}

template <int D>
void seek_friction(const SetJob<kAnyContacts, D>& job, const SampleRange& of, Executor executor, SetTiles<D>& tiles) {
  assemble_set(job, of, executor, tiles);
  NarrowFrictionKernel<kAnyContacts, D> narrow{tiles.problems.data(), tiles.brackets.data(), nullptr};
  batch::for_each(executor, of.count, narrow);
  narrow.answers = tiles.answers.data();
  for (int k = 0; k < kBracketSteps; ++k) {
    contact::balance_tiles<D>(executor, of.count, tiles.problems.data(), tiles.answers.data(), job.get_pads(of.grasp));
    batch::for_each(executor, of.count, narrow);
  }
  double* out = job.required_friction + of.grasp * job.friction_samples + of.first;
  for (std::int64_t i = 0; i < of.count; ++i) out[i] = tiles.brackets.get(i).high;
}

/// One sample at a time, because the surfaces of different problems have nothing in common.
template <int D>
void seek_radius(const SetJob<kAnyContacts, D>& job, const SampleRange& of, Executor executor, SetTiles<D>& tiles,
                 solvers::RadiusSpace& space) {
  assemble_set(job, of, executor, tiles);
  const RadiusKernel<kAnyContacts, D> body{&job.grasps[static_cast<std::size_t>(of.grasp)], kSetSamples,
                                           tiles.problems.data(), job.get_pads(of.grasp)};
  double* out = job.resisted_force_radius + of.grasp * job.radius_samples + of.first;
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
  if constexpr (N > 0) {
    batch::on_device(device, job);
  } else {
    const std::int64_t grasps = std::ssize(job.grasps);
    const int contacts = job.grasps[0].contacts;
    const auto tiles = [&] { return SetTiles<D>(contacts); };
    for_sample_ranges({grasps, job.samples, kSetSamples}, device, tiles,
                      [&](SetTiles<D>& t, const SampleRange& of) { decide_set(job, of, device.executor, t); });
    for_sample_ranges({grasps, job.friction_samples, kSetSamples}, device, tiles,
                      [&](SetTiles<D>& t, const SampleRange& of) { seek_friction(job, of, device.executor, t); });
    struct WithSpace {
      SetTiles<D> tiles;
      std::unique_ptr<solvers::RadiusSpace> space = std::make_unique_for_overwrite<solvers::RadiusSpace>();
    };
    for_sample_ranges(
        {grasps, job.radius_samples, kSetSamples}, device, [&] { return WithSpace{tiles()}; },
        [&](WithSpace& t, const SampleRange& of) { seek_radius(job, of, device.executor, t.tiles, *t.space); });
  }
}

}  // namespace garra::grasp
