// Analysis of grasps at one instant on the GPU: states are copied there, rows and fingers back.
#include <algorithm>

#include "grasp/motion.cuh"
#include "grasp/time/analyze.hpp"

namespace garra::grasp {

namespace {

/// Calls f(j, fields) with the number of doubles of finger j's motion.
template <class F>
void for_each_finger(const AnalysisJob& job, const F& f) {
  for (int j = 0; j < job.model.rules.grasp.contacts; ++j)
    // A finger's motion has the layout of its own size; its tiles have memory for the largest.
    with_finger_size(job.model.rules.grasp.finger[j].size,
                     [&](auto, auto size) { f(j, batch::kFields<double, FingerMotion<double, size>>); });
}

template <int N>
void run_block(const AnalysisJob& job, const DeviceBackend& backend, std::int64_t first, std::int64_t count) {
  const std::int64_t padded = batch::tiles_for(count) * batch::kTile;
  DeviceMemory memory(padded);
  const AnalysisTiles there = cut_analysis_tiles<N>(job.model, padded, [&](int n) { return memory.take(n); });
  HostMemory host(count);
  AnalysisTiles here{};
  MotionTiles& t = here.motion;
  constexpr int task = N * batch::kFields<double, FingerTask<double>>;
  constexpr int surface = N * batch::kFields<double, LocalSurface<double>>;
  constexpr int step = N * batch::kFields<double, FingerStep<double>>;
  constexpr int solution = batch::kFields<double, solvers::FrictionSolution<double, N>>;
  t.padded = t.parts.padded = padded;
  t.objects = host.take(MotionSizes<N>::object());
  t.parts.tasks = host.take(task);
  t.surfaces = host.take(surface);
  t.steps = host.take(step);
  // Memory for any finger, as on the device.
  t.fingers = host.take(N * batch::kFields<double, FingerMotion<double, chain::kMaxJoints>>);
  here.gaps = host.take(N);
  t.solutions = host.take(solution);

  const auto fetch_fingers = [&] {
    for_each_finger(job,
                    [&](int j, int fields) { fetch(t.finger_tile(j), there.motion.finger_tile(j), padded * fields); });
  };
  job.fill(t, first, count);
  send(there.motion.objects, t.objects, padded * MotionSizes<N>::object());
  send(there.motion.parts.tasks, t.parts.tasks, padded * task);
  send(there.motion.surfaces, t.surfaces, padded * surface);
  run_analysis<N>(backend, job, there, count, [&] {
    // The host overwrites the file's values and keeps the other results of inverse kinematics.
    if (job.by_inverse_kinematics()) fetch_fingers();
    job.fill_fingers(t, first, count);
    for_each_finger(job,
                    [&](int j, int fields) { send(there.motion.finger_tile(j), t.finger_tile(j), padded * fields); });
  });
  fetch(t.solutions, there.motion.solutions, padded * solution);
  fetch(here.gaps, there.gaps, padded * N);
  fetch(t.steps, there.motion.steps, padded * step);
  fetch_fingers();
  take_over(job, here, first, count);
}

template <int N>
void run_all(const AnalysisJob& job, const Device& device) {
  const std::uint64_t doubles = count_doubles([&](auto take) { cut_analysis_tiles<N>(job.model, batch::kTile, take); });
  constexpr std::int64_t kMaxAtOnce = std::int64_t{1} << 20;  // tiles on the host, too
  const std::int64_t fit = std::min(how_many_fit(device, sizeof(double) * doubles), kMaxAtOnce);
  // Uploaded once for all blocks: bodies read them by address.
  cuda::Buffer<MotionRules> rules(1);
  rules.upload(&job.model.rules);
  const DeviceBackend backend{rules.data(), device, job.model.solver};
  for (std::int64_t at = 0; at < job.states.count; at += fit)
    run_block<N>(job, backend, at, std::min(fit, job.states.count - at));
}

}  // namespace

void run_kernels(const Device& device, const AnalysisJob& job) {
  contact::for_contacts<kMaxContacts>(job.model.rules.grasp.contacts,
                                      [&](auto contacts) { run_all<contacts>(job, device); });
}

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::AnalysisJob>;
