// One instant of many grasps on the GPU: states go there, rows and fingers come back.
#include <algorithm>
#include <memory>

#include "grasp_motion.cuh"
#include "systems/grasp_analyse.hpp"

namespace garra::grasp {

namespace {

/// Tiles of a block, on the GPU and on the host piece by piece.
class Pieces {
 public:
  explicit Pieces(std::int64_t padded) : padded_(padded) {}
  double* on_device(int fields) {
    device_.push_back(std::make_unique<cuda::Buffer<double>>(fields * padded_));
    return device_.back()->data();
  }
  double* on_host(int fields) {
    host_.emplace_back(static_cast<std::size_t>(fields * padded_));
    return host_.back().data();
  }

 private:
  std::int64_t padded_;
  std::vector<std::unique_ptr<cuda::Buffer<double>>> device_;
  std::vector<std::vector<double>> host_;
};

void copy(double* to, const double* from, std::int64_t doubles, cudaMemcpyKind kind) {
  cuda::check(cudaMemcpy(to, from, static_cast<std::size_t>(doubles) * sizeof(double), kind), "copying a block");
}

/// Calls f(j, fields) with how many doubles a motion of finger j is.
template <class F>
void for_each_finger(const AnalysisJob& job, const F& f) {
  for (int j = 0; j < job.model.rules.grasp.contacts; ++j)
    with_finger_size(job.model.rules.grasp.finger[j].size,
                     [&](auto, auto size) { f(j, batch::kFields<double, FingerMotion<double, size>>); });
}

template <int N>
void run_block(const AnalysisJob& job, const DeviceBackend& backend, std::int64_t first, std::int64_t count) {
  const std::int64_t padded = batch::tiles_for(count) * batch::kTile;
  Pieces pieces(padded);
  const AnalysisTiles there = cut_analysis_tiles<N>(job.model, padded, [&](int n) { return pieces.on_device(n); });
  AnalysisTiles here{};
  MotionTiles& t = here.motion;
  constexpr int task = N * batch::kFields<double, FingerTask<double>>;
  constexpr int surface = N * batch::kFields<double, LocalSurface<double>>;
  constexpr int step = N * batch::kFields<double, FingerStep<double>>;
  constexpr int solution = batch::kFields<double, solvers::FrictionSolution<double, N>>;
  t.padded = t.parts.padded = padded;
  t.objects = pieces.on_host(MotionSizes<N>::object);
  t.parts.tasks = pieces.on_host(task);
  t.surfaces = pieces.on_host(surface);
  t.steps = pieces.on_host(step);
  t.fingers = pieces.on_host(N * batch::kFields<double, FingerMotion<double, chain::kMaxJoints>>);
  here.gaps = pieces.on_host(N);
  t.solutions = pieces.on_host(solution);

  const auto send = [&](double* to, const double* from, int fields) {
    copy(to, from, padded * fields, cudaMemcpyHostToDevice);
  };
  const auto fetch = [&](double* to, const double* from, int fields) {
    copy(to, from, padded * fields, cudaMemcpyDeviceToHost);
  };
  const auto fetch_fingers = [&] {
    for_each_finger(job, [&](int j, int fields) { fetch(t.finger_of(j), there.motion.finger_of(j), fields); });
  };
  job.fill(t, first, count);
  send(there.motion.objects, t.objects, MotionSizes<N>::object);
  send(there.motion.parts.tasks, t.parts.tasks, task);
  send(there.motion.surfaces, t.surfaces, surface);
  run_analysis<N>(backend, job, there, count, [&] {
    if (job.by_inverse_kinematics()) fetch_fingers();
    job.fill_fingers(t, first, count);
    for_each_finger(job, [&](int j, int fields) { send(there.motion.finger_of(j), t.finger_of(j), fields); });
  });
  fetch(t.solutions, there.motion.solutions, solution);
  fetch(here.gaps, there.gaps, N);
  fetch(t.steps, there.motion.steps, step);
  fetch_fingers();
  take_over<N>(job, here, first, count);
}

template <int N>
void run_all(const AnalysisJob& job, const Device& device) {
  std::uint64_t doubles = 0;
  cut_analysis_tiles<N>(job.model, batch::kTile, [&](int fields) {
    doubles += static_cast<std::uint64_t>(fields);
    return static_cast<double*>(nullptr);
  });
  constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 20;  // tiles on the host, too
  const std::int64_t fit = std::min(how_many_fit(device, sizeof(double) * doubles), kMostAtOnce);
  cuda::Buffer<MotionRules> rules(1);
  rules.upload(&job.model.rules);
  const DeviceBackend backend{rules.data()};
  for (std::int64_t at = 0; at < job.states.count; at += fit)
    run_block<N>(job, backend, at, std::min(fit, job.states.count - at));
}

}  // namespace

void cuda_analyse(const AnalysisJob& job, const Device& device) {
  cuda::check(cudaSetDevice(device.index), "choosing the device");
  contact::for_contacts(job.model.rules.grasp.contacts, [&](auto contacts) { run_all<contacts>(job, device); });
}

}  // namespace garra::grasp
