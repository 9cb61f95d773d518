// A batch of motions for the executors, and the rows of some of its samples. Also compiled by nvcc.
#pragma once

#include <vector>

#include "platform/simulate/simulate_kernel.hpp"

namespace garra::platform {

struct MotionJob {
  std::int64_t count = 0;
  MotionSetup setup;
  std::vector<MotionPlant<double>> plants;  ///< one, or `count`
  const Starts* starts = nullptr;
  const ForceInput* force = nullptr;
  std::int64_t force_rows = 1;  ///< samples of the forces over time
  bool own_force = false;       ///< each sample has its own forces
  std::vector<MotionSpan> spans;
  Device device;
  Trajectories* out = nullptr;

  // One plant for one sample is a shared one: both are right, and shared is faster.
  [[nodiscard]] bool own_plants() const { return plants.size() > 1; }
  [[nodiscard]] std::int64_t outputs() const { return static_cast<std::int64_t>(out->times.size()); }
  /// Forces of samples first, first + 1, ...
  [[nodiscard]] const double* force_at(std::int64_t first) const {
    return force->force.data() + (own_force ? first * force_rows * kLegs : 0);
  }
  [[nodiscard]] std::int64_t force_numbers(std::int64_t samples) const {
    return (own_force ? samples : 1) * force_rows * kLegs;
  }
};

/// Integrator::kHybrid on samples of the host, compiled once, in full.cpp. `kOwn`: every sample has its own platform.
template <bool kOwn>
void run_full_chunk(const MotionJob& job, const MotionArrays& arrays);

/// Host memory for at most `most` samples.
class MotionRows {
 public:
  MotionRows(const MotionJob& job, std::int64_t most);
  /// The arrays of samples first .. first + count - 1, filled; results NaN.
  [[nodiscard]] MotionArrays take(std::int64_t first, std::int64_t count);
  /// Copies their results to the job's arrays.
  void give_back(std::int64_t first, std::int64_t count) const;

  /// For kernels/platform, which copies tiles to the device and results back.
  [[nodiscard]] batch::Tiles<MotionPlant<double>>& plants() { return plants_; }
  [[nodiscard]] batch::Tiles<MotionStart<double>>& starts() { return starts_; }
  [[nodiscard]] std::vector<double>& trajectory() { return trajectory_; }
  [[nodiscard]] std::vector<double>& end() { return end_; }

 private:
  const MotionJob& job_;
  batch::Tiles<MotionPlant<double>> plants_;
  batch::Tiles<MotionStart<double>> starts_;
  std::vector<double> trajectory_, end_;
};

/// Steps from 0 to the end that meet every output and every sample of the forces.
[[nodiscard]] std::vector<MotionSpan> motion_spans(const SimulateOptions& options, const ForceInput& force);
/// Arrays for `count` samples, ends NaN.
[[nodiscard]] Trajectories motion_room(std::int64_t count, const SimulateOptions& options);

}  // namespace garra::platform
