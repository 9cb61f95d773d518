// Samples of candidate grasps on the GPU: a thread per sample.
#include <vector>

#include "contact/balance.cuh"
#include "grasp/set/run.hpp"

namespace garra::grasp {

namespace {

/// What one launch works on, and its memory.
template <int N>
struct SetBuffers {
  using Op = contact::BalanceOp<N>;
  static constexpr int kIn = batch::kFields<double, typename Op::template In<double>>;
  static constexpr int kOut = batch::kFields<double, typename Op::template Out<double>>;
  static constexpr int kBracket = batch::kFields<double, FrictionBracket<double>>;

  explicit SetBuffers(std::int64_t threads)
      : problems(threads * kIn), answers(threads * kOut), brackets(threads * kBracket), results(threads) {}
  cuda::Buffer<double> problems, answers, brackets, results;
};

/// The number of each problem that the host needs, one after another.
template <int N>
struct PickBody {
  const double* from;
  double* to;
  bool friction;  ///< of brackets, not of answers

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    if (friction)
      to[i] = batch::load<S, FrictionBracket<S>>(from, i).high;
    else
      to[i] = batch::load<S, typename contact::BalanceOp<N>::template Out<S>>(from, i).verdict;
  }
};

/// Assembles so many samples of so many grasps at a time as fit, calls decide(threads), and take(grasp, sample, number)
/// with what that has left in the results.
template <int N, class Decide, class Take>
void for_launches(const SetJob<N>& job, std::int64_t samples, std::int64_t most, SetBuffers<N>& buffers,
                  const cuda::Buffer<SetGrasp<N>>& grasps, const Decide& decide, const Take& take) {
  if (samples == 0) return;
  const std::int64_t padded = std::min(batch::tiles_for(samples) * batch::kTile, most);
  const std::int64_t together = most / padded;
  std::vector<double> results(static_cast<std::size_t>(most));
  for (std::int64_t g = 0; g < std::ssize(job.grasps); g += together) {
    const std::int64_t here = std::min(together, std::ssize(job.grasps) - g);
    for (std::int64_t first = 0; first < samples; first += padded) {
      const CandidateBody<N> assemble{job.model, grasps.data() + g, padded, job.first + first, buffers.problems.data()};
      cuda::for_each(here * padded, assemble);
      decide(here * padded);
      buffers.results.download(results.data());
      for (std::int64_t k = 0; k < here; ++k)
        for (std::int64_t s = 0; s < std::min(padded, samples - first); ++s)
          take(g + k, first + s, results[static_cast<std::size_t>(k * padded + s)]);
    }
  }
}

}  // namespace

template <int N>
void run_kernels(const Device& device, const SetJob<N>& job) {
  using Buffers = SetBuffers<N>;
  constexpr std::uint64_t kBytes = 8 * (Buffers::kIn + Buffers::kOut + Buffers::kBracket + 1);
  // Whole tiles: how_many_fit gives whole blocks.
  const std::int64_t wanted =
      batch::tiles_for(std::max(job.samples, job.friction_samples)) * batch::kTile * std::ssize(job.grasps);
  const std::int64_t most =
      std::min({cuda::how_many_fit(device, cuda::Memory{kBytes, contact::balance_stacks<N>(device.index)}),
                std::int64_t{1} << 20, wanted});
  Buffers buffers(most);
  cuda::Buffer<SetGrasp<N>> grasps(std::ssize(job.grasps));
  grasps.upload(job.grasps.data());
  const auto answer = [&](std::int64_t count) {
    contact::launch_balance<N>(count, buffers.problems.data(), buffers.answers.data());
  };
  for_launches(
      job, job.samples, most, buffers, grasps,
      [&](std::int64_t count) {
        answer(count);
        cuda::for_each(count, PickBody<N>{buffers.answers.data(), buffers.results.data(), false});
      },
      [&](std::int64_t g, std::int64_t s, double verdict) {
        note(verdict, s, job.verdicts + g * words_for(job.samples));
      });
  for_launches(
      job, job.friction_samples, most, buffers, grasps,
      [&](std::int64_t count) {
        NarrowFrictionBody<N> narrow{buffers.problems.data(), buffers.brackets.data(), nullptr};
        cuda::for_each(count, narrow);
        narrow.answers = buffers.answers.data();
        for (int k = 0; k < kBracketSteps; ++k) {
          answer(count);
          cuda::for_each(count, narrow);
        }
        cuda::for_each(count, PickBody<N>{buffers.brackets.data(), buffers.results.data(), true});
      },
      [&](std::int64_t g, std::int64_t s, double mu) { job.critical_friction[g * job.friction_samples + s] = mu; });
}

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::SetJob<1>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<2>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<3>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<4>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<5>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<6>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<7>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<8>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<12>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<16>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<24>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<32>>;
