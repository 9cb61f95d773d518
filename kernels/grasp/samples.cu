// Samples of a grasp study on the GPU: draw, fingers, build, balance, iterate, certify, count.
#include "contact/tiles.cuh"
#include "garra/study/counter.cuh"
#include "grasp/build.cuh"
#include "grasp/sample/grasp_cuda.hpp"

namespace garra::grasp {

namespace {

/// Device memory of a batch of samples, and its steps.
template <int N>
class Samples {
 public:
  Samples(const Device& device, const DeviceSamples& task, std::int64_t most)
      : task_(task),
        device_(device),
        model_(1),
        problems_(padded(most) * Fields::problem),
        metrics_(padded(most) * Fields::metrics),
        candidates_(padded(most) * Fields::candidate),
        second_(task.check_uniqueness ? padded(most) * Fields::candidate : 0),
        sample_results_(padded(most) * Fields::sample_result),
        // Uniform numbers of the draws; memory for one if nothing is uncertain.
        uniforms_(padded(most) * std::max(1, task.model.draws)),
        loads_(padded(most) * Fields::load),
        tasks_(padded(most) * Fields::task),
        shares_(padded(most) * Fields::share),
        holds_(task.model.torque_limited ? padded(most) * Fields::hold : 0),
        stances_(task.model.arm.joints > 0 ? padded(most) * Fields::stance : 0),
        arm_(task.model.arm.joints > 0 ? padded(most) * Fields::arm : 0) {
    model_.upload(&task.model);
    // Null holds tell the finger bodies that no torque is limited.
    parts_ = {loads_.data(), tasks_.data(), shares_.data(), uniforms_.data(), padded(most)};
    if (task.model.torque_limited) parts_.holds = holds_.data();
    if (task.model.arm.joints == 0) return;
    parts_.stances = stances_.data();
    parts_.arm = arm_.data();
  }

  /// Runs samples first ... first + count - 1, up to their certificates.
  void run(std::int64_t first, std::int64_t count) const {
    const GraspModel& host = task_.model;
    cuda::for_each(count, DrawKernel{model_.data(), first, parts_});
    fingers_on_device(count, host, model_.data(), parts_);
    build_on_device(count, host.moving, BuildKernel<N>{model_.data(), parts_, problems_.data(), metrics_.data()});
    with_balance<N>(host, model_.data(), parts_, metrics_.data(),
                    [&](const auto& body) { balance_on_device(count, body); });
    solve(count);
    const SampleCheck<N> sample_check{task_.solver.tolerance, host.held,
                                      problems_.data(),       metrics_.data(),
                                      candidates_.data(),     task_.check_uniqueness ? second_.data() : nullptr};
    cuda::for_each(count, SampleCheckKernel<N>{model_.data(), parts_, sample_check, sample_results_.data()});
    cuda::for_each(count, RestKernel<N>{model_.data(), problems_.data(), sample_results_.data()});
    with_balance<N>(host, model_.data(), parts_, metrics_.data(), [&](auto body) {
      body.sample_results = sample_results_.data();
      balance_on_device(count, body);
    });
    cuda::for_each(count, SettleKernel<N>{host.held, sample_results_.data()});
  }

  /// The Counting of the samples.
  [[nodiscard]] Counting<N> counting(std::int64_t first) const {
    return {model_.data(), task_.layout, task_.keep, first, metrics_.data(), uniforms_.data(), sample_results_.data()};
  }

 private:
  using Fields = SampleFields<N>;
  static std::int64_t padded(std::int64_t count) { return batch::tiles_for(count) * batch::kTile; }

  void solve(std::int64_t count) const {
    using Iterate = contact::IterateKernel<solvers::FrictionNewton, N>;
    if (task_.options.method == contact::Method::kAuto)
      iterate(Iterate{task_.solver, problems_.data(), nullptr, candidates_.data()}, count);
    else
      contact::iterate_tiles<N>(task_.options,
                                {device_, problems_.data(), nullptr, candidates_.data(), nullptr, count});
    if (!task_.check_uniqueness) return;
    solvers::FrictionNewton cold = task_.solver;
    // From zero instead of the stick test, so that a second solution can be found.
    cold.cold = true;
    iterate(Iterate{cold, problems_.data(), nullptr, second_.data()}, count);
  }
  /// BuildKernel's problems are symmetric to the bit.
  static void iterate(const contact::IterateKernel<solvers::FrictionNewton, N>& newton, std::int64_t count) {
    if constexpr (N <= contact::kMaxInThread)
      contact::iterate_symmetric_on_device(newton, count);
    else
      contact::iterate_on_device(newton, count);
  }

  const DeviceSamples& task_;
  const Device& device_;
  cuda::Buffer<GraspModel> model_;
  cuda::Buffer<double> problems_, metrics_, candidates_, second_, sample_results_, uniforms_, loads_, tasks_, shares_,
      holds_, stances_, arm_;
  SampleParts parts_{};
};

template <int N>
void run_samples(const Device& device, const DeviceSamples& t) {
  const study::CountingSizes sizes = make_counting_sizes(t.layout, t.keep);
  const std::int64_t batch =
      counter_cuda::choose_batch_size(device, t.tally.count, SampleFields<N>::bytes(t.model), sizes);
  const Samples<N> samples(device, t, batch);
  counter_cuda::count_in_batches(sizes, batch, t.tally, [&](std::int64_t first, std::int64_t count) {
    samples.run(first, count);
    return samples.counting(first);
  });
}

}  // namespace

void run_kernels(const Device& device, const DeviceSamples& samples) {
  contact::for_contacts<kMaxContacts>(samples.model.contacts,
                                      [&](auto contacts) { run_samples<contacts>(device, samples); });
}

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::DeviceSamples>;
