// Samples of grasps with a known hand, on the GPU: a thread per sample. Counting stays on the host.
#pragma once

#include <memory>
#include <vector>

#include "contact/solve.cuh"
#include "grasp/build.cuh"
#include "grasp/set/run_hand.hpp"

namespace garra::grasp {

/// Balance without and with torque limits, both in set_hand_balance.cuh.
template <int N, int D>
void balance_on_device(std::int64_t count, const HandBalanceKernel<N, D>& body);
template <int N, int D>
void balance_on_device(std::int64_t count, const HandTorqueKernel<N, D>& body);

namespace set_hand {

/// Memory of the samples of one launch.
template <int N, int D>
class HandBuffers {
 public:
  template <class T>
  static constexpr int kOf = batch::kFields<double, T>;
  static constexpr int kProblem = kOf<solvers::FrictionProblem<double, N, D>>;
  static constexpr int kWrench = kOf<typename contact::BalanceOp<N, D>::template In<double>>;
  static constexpr int kCommand = kOf<HandCommand<double, N, D>>;
  static constexpr int kMetric = kOf<Metrics<double, N>>;
  static constexpr int kCandidate = kOf<solvers::Candidate<double, N, D>>;
  static constexpr int kResult = kOf<HandResult<double>>;
  static constexpr int kDoubles = kProblem + kWrench + kCommand + kMetric + 2 * kCandidate + kResult;

  HandBuffers(std::int64_t threads, bool check_uniqueness)
      : results(threads * kResult),
        problems_(threads * kProblem),
        wrenches_(threads * kWrench),
        commands_(threads * kCommand),
        metrics_(threads * kMetric),
        candidates_(threads * kCandidate),
        second_(check_uniqueness ? threads * kCandidate : 0) {}

  [[nodiscard]] HandTiles tiles(bool check_uniqueness) {
    return {problems_.data(), wrenches_.data(),   commands_.data(),
            metrics_.data(),  candidates_.data(), check_uniqueness ? second_.data() : nullptr,
            results.data()};
  }
  cuda::Buffer<double> results;

 private:
  cuda::Buffer<double> problems_, wrenches_, commands_, metrics_, candidates_, second_;
};

/// Point contacts include the fallback solvers, by teams of threads. Soft contacts use Newton with
/// restarts, a thread per sample; the host runs their fallback solvers (on_host).
template <int N, int D>
void iterate_on_device(const solvers::FrictionNewton& solver, const double* problems, double* candidates,
                       std::int64_t count) {
  if constexpr (D == 3)
    contact::iterate_on_device(
        contact::IterateKernel<solvers::FrictionNewton, N>{solver, problems, nullptr, candidates}, count);
  else
    cuda::for_each(count, HandIterateKernel<N, D>{solver, problems, candidates});
}

template <int N, int D>
void check_on_device(const HandJob<N, D>& job, const CandidateKernel<N, D>& draw, const HandTiles& t,
                     std::int64_t count) {
  iterate_on_device<N, D>(job.solver, t.problems, t.candidates, count);
  if (t.second != nullptr) {
    solvers::FrictionNewton cold = job.solver;
    cold.cold = true;
    iterate_on_device<N, D>(cold, t.problems, t.second, count);
  }
  const SampleCheck<N, D> sample_check{job.solver.tolerance, job.held, t.problems, t.metrics, t.candidates, t.second};
  cuda::for_each(count, HandSampleCheckKernel<N, D>{sample_check, draw.grasps, draw.samples, t.results});
}

/// A grasp, its hand and its joints with the actual number of contacts, which the thread must have
/// set (ContactsInUse).
template <int D>
struct Exact {
  static constexpr int M = kAxes<D>, kAny = kAnyContacts;
  SetGrasp<kAny> grasp;
  SetHand<kAny, D> hand;
  std::vector<LimitedJoint<kAny, D>> joints;

  template <int N>
  Exact(const HandJob<N, D>& job, std::size_t g) {
    const SetGrasp<N>& from = job.grasps[g];
    grasp.contacts = from.contacts;
    grasp.com = from.com;
    grasp.gravity = from.gravity;
    grasp.wrench = from.wrench;
    grasp.mass = from.mass;
    grasp.length = from.length;
    grasp.rest = from.rest;
    for (int j = 0; j < from.contacts; ++j) {
      grasp.contact[j] = from.contact[j];
      grasp.friction[j] = from.friction[j];
      grasp.limit[j] = from.limit[j];
      grasp.torsion_radius[j] = from.torsion_radius[j];
    }
    const SetHand<N, D>& its = job.hands[g];
    hand.mobility = block(its.mobility);
    hand.structure = block(its.structure);
    hand.own_drift = first(its.own_drift);
    hand.command_drift = first(its.command_drift);
    hand.own_force = first(its.own_force);
    hand.command_force = first(its.command_force);
    hand.structured = its.structured;
    hand.gyration2 = its.gyration2;
    hand.inverse_gyration2 = its.inverse_gyration2;
    hand.hold = its.hold;
    const LimitedJoint<N, D>* all = job.joints.of(static_cast<std::int64_t>(g));
    for (int k = 0; k < job.joints.each; ++k)
      joints.push_back({all[k].limit, all[k].own, all[k].command, all[k].bias, first(all[k].gain), first(all[k].drift),
                        first(all[k].press)});
  }

 private:
  template <int R>
  static Vec<double, M * kAny> first(const Vec<double, R>& padded) {
    Vec<double, M * kAny> out;
    for (int r = 0; r < extent<M * kAny>(); ++r) out[r] = padded[r];
    return out;
  }
  template <int R>
  static Mat<double, M * kAny, M * kAny> block(const Mat<double, R, R>& padded) {
    Mat<double, M * kAny, M * kAny> out;
    for (int r = 0; r < extent<M * kAny>(); ++r)
      for (int c = 0; c < extent<M * kAny>(); ++c) out(r, c) = padded(r, c);
    return out;
  }
};

/// A sample that is pending, or whose soft contacts Newton leaves unsolved. Few are, so the host decides them.
template <int N, int D>
HandResult<double> on_host(const HandJob<N, D>& job, std::int64_t grasp, std::int64_t sample) {
  const auto g = static_cast<std::size_t>(grasp);
  const ContactsInUse many(job.grasps[g].contacts);
  const auto exact = std::make_unique<Exact<D>>(job, g);
  const HandJob<kAnyContacts, D> one{
      job.model,  {&exact->grasp, 1}, {&exact->hand, 1},    {exact->joints.data(), job.joints.each, job.joints.limit},
      job.solver, job.held,           job.check_uniqueness, job.first + sample,
      1};
  return replay_hand<D>(one, job.first + sample).result;
}

}  // namespace set_hand

template <int N, int D>
void run_kernels(const Device& device, const HandJob<N, D>& job) {
  using namespace set_hand;
  constexpr std::uint64_t kStack = N > kMaxContacts ? 131072 : D > 3 ? 65536 : 16384;  // of a thread [bytes]
  const std::int64_t wanted = batch::tiles_for(job.samples) * batch::kTile * std::ssize(job.grasps);
  const std::int64_t most =
      std::min({how_many_fit(device, 8 * HandBuffers<N, D>::kDoubles + kStack), std::int64_t{1} << 18, wanted});
  HandBuffers<N, D> buffers(most, job.check_uniqueness);
  cuda::Buffer<SetGrasp<N>> grasps(std::ssize(job.grasps));
  cuda::Buffer<SetHand<N, D>> hands(std::ssize(job.hands));
  cuda::Buffer<LimitedJoint<N, D>> limited(std::ssize(job.grasps) * job.joints.each);
  grasps.upload(job.grasps.data());
  hands.upload(job.hands.data());
  if (job.joints.each > 0) limited.upload(job.joints.all);
  const HandTiles t = buffers.tiles(job.check_uniqueness);
  batch::Tiles<HandResult<double>> results(most);
  // Whole grasps side by side, or parts of one.
  const std::int64_t padded = std::min(batch::tiles_for(job.samples) * batch::kTile, most), together = most / padded;
  for (std::int64_t g = 0; g < std::ssize(job.grasps); g += together) {
    const std::int64_t here = std::min(together, std::ssize(job.grasps) - g);
    for (std::int64_t first = 0; first < job.samples; first += padded) {
      const CandidateKernel<N, D> draw{job.model, grasps.data() + g, padded, job.first + first, t.wrenches};
      const LimitedJoints<N, D> joints{limited.data() + g * job.joints.each, job.joints.each, job.joints.limit};
      cuda::for_each(here * padded,
                     HandBuildKernel<N, D>{draw, hands.data() + g, joints, grip_force_errors(job.model), t});
      with_balance(HandBalanceKernel<N, D>{grasps.data() + g, hands.data() + g, padded, t}, joints,
                   [&](const auto& body) { balance_on_device(here * padded, body); });
      check_on_device(job, draw, t, here * padded);
      buffers.results.download(results.data());
      for (std::int64_t k = 0; k < here; ++k)
        for (std::int64_t s = 0; s < std::min(padded, job.samples - first); ++s) {
          HandResult<double> r = results.get(k * padded + s);
          if (D > 3 && !(r.sticks == r.sticks))
            r = on_host(job, g + k, first + s);
          else if (r.outcome == kPending)
            r.outcome = on_host(job, g + k, first + s).outcome;
          job.counts[g + k].add(r);
          note(job, g + k, first + s, r);
        }
    }
  }
}

}  // namespace garra::grasp
