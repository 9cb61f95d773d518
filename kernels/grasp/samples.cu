// Samples of a grasp study on the GPU: draw, fingers, build, balance, iterate, judge. Counting stays on the host.
#include "contact/solve.cuh"
#include "grasp/build.cuh"
#include "grasp/sample/cuda.hpp"

namespace garra::grasp {

namespace {

template <int N>
void run_samples(const DeviceSamples& t) {
  const GraspModel& host_model = t.model;
  const bool check_uniqueness = t.check_uniqueness;
  solvers::FrictionNewton solver = t.solver;
  using Fields = SampleFields<N>;
  const std::int64_t padded = batch::tiles_for(t.count) * batch::kTile;
  cuda::Buffer<GraspModel> model(1);
  model.upload(&host_model);
  cuda::Buffer<double> problems(padded * Fields::problem), metrics(padded * Fields::metrics),
      candidates(padded * Fields::candidate), second(check_uniqueness ? padded * Fields::candidate : 0),
      // Uniform numbers of the draws; room for one where nothing is uncertain.
      verdicts(padded * Fields::verdict), uniforms(padded * (host_model.draws > 0 ? host_model.draws : 1));
  cuda::Buffer<double> loads(padded * Fields::load), tasks(padded * Fields::task), shares(padded * Fields::share),
      holds(host_model.torque_limited ? padded * Fields::hold : 0);
  // Null holds tell the finger bodies that no torque is limited.
  SampleParts parts{loads.data(), tasks.data(), shares.data(), uniforms.data(), padded};
  if (host_model.torque_limited) parts.holds = holds.data();
  cuda::for_each(t.count, DrawBody{model.data(), t.first, parts});
  fingers_on_device(t.count, host_model, model.data(), parts);
  build_on_device(t.count, BuildBody<N>{model.data(), parts, problems.data(), metrics.data()});
  with_balance<N>(host_model, model.data(), parts, metrics.data(),
                  [&](const auto& body) { balance_on_device(t.count, body); });
  using Iterate = contact::IterateBody<solvers::FrictionNewton, N>;
  contact::iterate_on_device(Iterate{solver, problems.data(), nullptr, candidates.data()}, t.count);
  if (check_uniqueness) {
    solver.cold = true;
    // From zero instead of the stick test, so that a second solution has a chance to be found.
    contact::iterate_on_device(Iterate{solver, problems.data(), nullptr, second.data()}, t.count);
  }
  const Judge<N> judge{solver.tol,     host_model.held_imbalance, problems.data(),
                       metrics.data(), candidates.data(),         check_uniqueness ? second.data() : nullptr};
  cuda::for_each(t.count, JudgeBody<N>{model.data(), parts, judge, verdicts.data()});
  // Verdicts, metrics and uniforms are all that counting needs.
  metrics.download(t.metrics);
  uniforms.download(t.uniforms);
  verdicts.download(t.verdicts);
}

}  // namespace

void run_kernels(const Device&, const DeviceSamples& samples) {
  contact::for_contacts<kMaxContacts>(samples.model.contacts, [&](auto contacts) { run_samples<contacts>(samples); });
}

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::DeviceSamples>;
