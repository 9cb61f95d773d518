// Samples of candidate grasps on the host, and the numbers of contacts that they are compiled for.
#include "contact/balance/run.hpp"
#include "garra/batch/for_each.hpp"
#include "garra/batch/on_device.hpp"
#include "grasp/set/run.hpp"
#include "grasp/set/stretches.hpp"

namespace garra::grasp {

namespace {

constexpr std::int64_t kSamples = 512;  // at once, a whole number of words: their tiles stay in the cache
static_assert(kSamples % 64 == 0);

/// Tiles of one thread.
template <int N>
struct SetTiles {
  using Op = contact::BalanceOp<N>;
  batch::Tiles<typename Op::template In<double>> problems{kSamples};
  batch::Tiles<typename Op::template Out<double>> answers{kSamples};
  batch::Tiles<FrictionBracket<double>> brackets{kSamples};
};

template <int N>
void assemble(const SetJob<N>& job, const SampleStretch& of, Executor executor, SetTiles<N>& tiles) {
  const CandidateBody<N> body{job.model, &job.grasps[static_cast<std::size_t>(of.grasp)], kSamples,
                              job.first + of.first, tiles.problems.data()};
  batch::for_each(executor, of.count, body);
}

template <int N>
void decide(const SetJob<N>& job, const SampleStretch& of, Executor executor, SetTiles<N>& tiles) {
  assemble(job, of, executor, tiles);
  contact::balance_tiles<N>(executor, of.count, tiles.problems.data(), tiles.answers.data());
  VerdictBits* bits = job.verdicts + of.grasp * words_for(job.samples);
  for (std::int64_t i = 0; i < of.count; ++i) note(tiles.answers.get(i).verdict, of.first + i, bits);
}

template <int N>
void seek_friction(const SetJob<N>& job, const SampleStretch& of, Executor executor, SetTiles<N>& tiles) {
  assemble(job, of, executor, tiles);
  NarrowFrictionBody<N> narrow{tiles.problems.data(), tiles.brackets.data(), nullptr};
  batch::for_each(executor, of.count, narrow);
  narrow.answers = tiles.answers.data();
  for (int k = 0; k < kBracketSteps; ++k) {
    contact::balance_tiles<N>(executor, of.count, tiles.problems.data(), tiles.answers.data());
    batch::for_each(executor, of.count, narrow);
  }
  double* out = job.critical_friction + of.grasp * job.friction_samples + of.first;
  for (std::int64_t i = 0; i < of.count; ++i) out[i] = tiles.brackets.get(i).high;
}

}  // namespace

template <int N>
void run_set(const SetJob<N>& job, const Device& device) {
  if (job.grasps.empty()) return;
  if (device.executor == Executor::kCuda) return batch::on_device(device, job);
  const std::int64_t grasps = std::ssize(job.grasps);
  const auto tiles = [] { return SetTiles<N>(); };
  for_stretches({grasps, job.samples, kSamples}, device, tiles,
                [&](SetTiles<N>& t, const SampleStretch& of) { decide(job, of, device.executor, t); });
  for_stretches({grasps, job.friction_samples, kSamples}, device, tiles,
                [&](SetTiles<N>& t, const SampleStretch& of) { seek_friction(job, of, device.executor, t); });
}
template void run_set(const SetJob<1>&, const Device&);
template void run_set(const SetJob<2>&, const Device&);
template void run_set(const SetJob<3>&, const Device&);
template void run_set(const SetJob<4>&, const Device&);
template void run_set(const SetJob<5>&, const Device&);
template void run_set(const SetJob<6>&, const Device&);
template void run_set(const SetJob<7>&, const Device&);
template void run_set(const SetJob<8>&, const Device&);
template void run_set(const SetJob<12>&, const Device&);
template void run_set(const SetJob<16>&, const Device&);
template void run_set(const SetJob<24>&, const Device&);
template void run_set(const SetJob<32>&, const Device&);

}  // namespace garra::grasp
