// Samples of a grasp study on the GPU: draw, fingers, build, balance, iterate, judge. Counting stays on the host.
#include "contact_solve.cuh"
#include "grasp_build.cuh"
#include "systems/grasp_cuda.hpp"
#include "systems/grasp_judge.hpp"

namespace garra::grasp {

namespace {

template <int N>
struct SampleFields {
  static constexpr int problem = batch::kFields<double, solvers::FrictionProblem<double, N>>;
  static constexpr int metrics = batch::kFields<double, Metrics<double, N>>;
  static constexpr int candidate = batch::kFields<double, solvers::Candidate<double, N>>;
  static constexpr int verdict = batch::kFields<double, Verdict<double, N>>;
  static constexpr int load = batch::kFields<double, ObjectLoad<double>>;
  static constexpr int task = N * batch::kFields<double, FingerTask<double>>;
  static constexpr int share = N * batch::kFields<double, FingerShare<double>>;
  static constexpr int hold = N * batch::kFields<double, FingerHold<double>>;  // where torques are limited
  static constexpr int total = problem + metrics + 2 * candidate + verdict + load + task + share;
};

template <int N>
void run_samples(const GraspModel& host_model, solvers::FrictionNewton solver, bool check_uniqueness,
                 const SampleTiles& t) {
  using Fields = SampleFields<N>;
  const std::int64_t padded = batch::tiles_for(t.count) * batch::kTile;
  cuda::Buffer<GraspModel> model(1);
  model.upload(&host_model);
  cuda::Buffer<double> problems(padded * Fields::problem), metrics(padded * Fields::metrics),
      candidates(padded * Fields::candidate), second(check_uniqueness ? padded * Fields::candidate : 0),
      verdicts(padded * Fields::verdict), uniforms(padded * (host_model.draws > 0 ? host_model.draws : 1));
  cuda::Buffer<double> loads(padded * Fields::load), tasks(padded * Fields::task), shares(padded * Fields::share),
      holds(host_model.torque_limited ? padded * Fields::hold : 0);
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
    contact::iterate_on_device(Iterate{solver, problems.data(), nullptr, second.data()}, t.count);
  }
  cuda::for_each(t.count, JudgeBody<N>{model.data(), parts, solver.tol, problems.data(), metrics.data(),
                                       candidates.data(), check_uniqueness ? second.data() : nullptr, verdicts.data()});
  metrics.download(t.metrics);
  uniforms.download(t.uniforms);
  verdicts.download(t.verdicts);
}

template <int N>
std::uint64_t bytes_per_sample(const GraspModel& model) {
  const int hold = model.torque_limited ? SampleFields<N>::hold : 0;
  return sizeof(double) * static_cast<std::uint64_t>(SampleFields<N>::total + hold + model.draws);
}

}  // namespace

void cuda_samples(const GraspModel& model, const solvers::FrictionNewton& solver, bool check_uniqueness, int device,
                  const SampleTiles& tiles) {
  cuda::check(cudaSetDevice(device), "choosing the device");
  using Run = void (*)(const GraspModel&, solvers::FrictionNewton, bool, const SampleTiles&);
  static constexpr Run run[kMaxContacts] = {run_samples<1>, run_samples<2>, run_samples<3>, run_samples<4>,
                                            run_samples<5>, run_samples<6>, run_samples<7>, run_samples<8>};
  run[model.contacts - 1](model, solver, check_uniqueness, tiles);
}

std::uint64_t cuda_bytes_per_sample(const GraspModel& model) {
  using Bytes = std::uint64_t (*)(const GraspModel&);
  static constexpr Bytes bytes[kMaxContacts] = {bytes_per_sample<1>, bytes_per_sample<2>, bytes_per_sample<3>,
                                                bytes_per_sample<4>, bytes_per_sample<5>, bytes_per_sample<6>,
                                                bytes_per_sample<7>, bytes_per_sample<8>};
  return bytes[model.contacts - 1](model);
}

}  // namespace garra::grasp
