// Samples of candidate grasps on the GPU: a thread per sample.
#pragma once

#include <vector>

#include "contact/balance.cuh"
#include "grasp/set/radius.hpp"
#include "grasp/set/run_set.hpp"

namespace garra::grasp {

/// Buffers of one launch.
template <int N, int D>
struct SetBuffers {
  using Op = contact::BalanceOp<N, D>;
  static constexpr int kIn = batch::kFields<double, typename Op::template In<double>>;
  static constexpr int kOut = batch::kFields<double, typename Op::template Out<double>>;
  static constexpr int kBracket = batch::kFields<double, FrictionBracket<double>>;

  explicit SetBuffers(std::int64_t threads)
      : problems(threads * kIn), answers(threads * kOut), brackets(threads * kBracket), results(threads) {}
  cuda::Buffer<double> problems, answers, brackets, results;
};

/// Extracts the number of each problem that the host needs, one after another.
template <int N, int D>
struct PickSetKernel {
  const double* from;
  double* to;
  bool friction;  ///< of brackets, not of answers

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    if (friction)
      to[i] = batch::load<S, FrictionBracket<S>>(from, i).high;
    else
      to[i] = batch::load<S, typename contact::BalanceOp<N, D>::template Out<S>>(from, i).decision;
  }
};

/// Assembles as many samples of as many grasps at a time as fit, calls decide(threads, assemble),
/// and passes its results to take(grasp, sample, number).
template <int N, int D, class Decide, class Take>
void for_set_launches(const SetJob<N, D>& job, std::int64_t samples, std::int64_t most, SetBuffers<N, D>& buffers,
                      const cuda::Buffer<SetGrasp<N>>& grasps, const Decide& decide, const Take& take) {
  if (samples == 0) return;
  const std::int64_t padded = std::min(batch::tiles_for(samples) * batch::kTile, most);
  const std::int64_t together = most / padded;
  std::vector<double> results(static_cast<std::size_t>(most));
  for (std::int64_t g = 0; g < std::ssize(job.grasps); g += together) {
    const std::int64_t here = std::min(together, std::ssize(job.grasps) - g);
    for (std::int64_t first = 0; first < samples; first += padded) {
      const CandidateKernel<N, D> assemble{job.model, grasps.data() + g, padded, job.first + first,
                                           buffers.problems.data()};
      cuda::for_each(here * padded, assemble);
      decide(here * padded, assemble);
      buffers.results.download(results.data());
      for (std::int64_t k = 0; k < here; ++k)
        for (std::int64_t s = 0; s < std::min(padded, samples - first); ++s)
          take(g + k, first + s, results[static_cast<std::size_t>(k * padded + s)]);
    }
  }
}

/// Computes the resisted force radius of a sample per thread, each with its own RadiusSpace.
template <int N, int D>
struct SeekRadiusKernel {
  RadiusKernel<N, D> radius;
  solvers::RadiusSpace* spaces;
  double* results;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    results[i] = radius.template of<S>(i, spaces[i]).low;
  }
};

/// Spaces are large, so that few samples are computed at a time.
template <int N, int D>
void seek_radii(const Device& device, const SetJob<N, D>& job, const cuda::Buffer<SetGrasp<N>>& grasps) {
  if (job.radius_samples == 0) return;
  constexpr std::int64_t kMax = 1024;
  const auto fit = static_cast<std::int64_t>(free_memory(device) / 4 / sizeof(solvers::RadiusSpace));
  const std::int64_t wanted = batch::tiles_for(job.radius_samples) * batch::kTile * std::ssize(job.grasps);
  const std::int64_t most =
      std::max<std::int64_t>(1, std::min({fit, kMax, wanted}) / batch::kTile) * std::int64_t{batch::kTile};
  SetBuffers<N, D> buffers(most);
  cuda::Buffer<solvers::RadiusSpace> spaces(most);
  for_set_launches(
      job, job.radius_samples, most, buffers, grasps,
      [&](std::int64_t count, const CandidateKernel<N, D>& assembled) {
        const RadiusKernel<N, D> radius{assembled.grasps, assembled.samples, assembled.problems};
        cuda::for_each(count, SeekRadiusKernel<N, D>{radius, spaces.data(), buffers.results.data()});
      },
      [&](std::int64_t g, std::int64_t s, double radius) {
        job.resisted_force_radius[g * job.radius_samples + s] = radius;
      });
}

template <int N, int D>
void run_kernels(const Device& device, const SetJob<N, D>& job) {
  using Buffers = SetBuffers<N, D>;
  constexpr std::uint64_t kBytes = 8 * (Buffers::kIn + Buffers::kOut + Buffers::kBracket + 1);
  // Whole tiles: how_many_fit gives whole blocks.
  const std::int64_t wanted =
      batch::tiles_for(std::max(job.samples, job.friction_samples)) * batch::kTile * std::ssize(job.grasps);
  const std::int64_t most =
      std::min({cuda::how_many_fit(device, cuda::Memory{kBytes, contact::balance_stacks<N, D>(device.index)}),
                std::int64_t{1} << 20, wanted});
  Buffers buffers(most);
  cuda::Buffer<SetGrasp<N>> grasps(std::ssize(job.grasps));
  grasps.upload(job.grasps.data());
  const auto answer = [&](std::int64_t count) {
    contact::launch_balance<N, D>(count, buffers.problems.data(), buffers.answers.data());
  };
  for_set_launches(
      job, job.samples, most, buffers, grasps,
      [&](std::int64_t count, const auto&) {
        answer(count);
        cuda::for_each(count, PickSetKernel<N, D>{buffers.answers.data(), buffers.results.data(), false});
      },
      [&](std::int64_t g, std::int64_t s, double decision) {
        note(decision, s, job.decisions + g * words_for(job.samples));
      });
  for_set_launches(
      job, job.friction_samples, most, buffers, grasps,
      [&](std::int64_t count, const auto&) {
        NarrowFrictionKernel<N, D> narrow{buffers.problems.data(), buffers.brackets.data(), nullptr};
        cuda::for_each(count, narrow);
        narrow.answers = buffers.answers.data();
        for (int k = 0; k < kBracketSteps; ++k) {
          answer(count);
          cuda::for_each(count, narrow);
        }
        cuda::for_each(count, PickSetKernel<N, D>{buffers.brackets.data(), buffers.results.data(), true});
      },
      [&](std::int64_t g, std::int64_t s, double mu) { job.required_friction[g * job.friction_samples + s] = mu; });
  seek_radii(device, job, grasps);
}

}  // namespace garra::grasp
