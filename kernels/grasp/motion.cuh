// Runs the bodies of a grasp's steps on the GPU.
#pragma once

#include <memory>
#include <vector>

#include "contact/tiles.cuh"
#include "grasp/time/time_loop.hpp"

namespace garra::grasp {

/// Owner of a block's memory on the device, from which cut_tiles() takes its parts.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::int64_t padded) : padded_(padded) {}
  /// Memory for `fields` doubles of every sample; lives as long as this.
  double* take(int fields) {
    pieces_.push_back(std::make_unique<cuda::Buffer<double>>(fields * padded_));
    return pieces_.back()->data();
  }

 private:
  std::int64_t padded_;  ///< samples, whole tiles
  std::vector<std::unique_ptr<cuda::Buffer<double>>> pieces_;
};

/// Copies doubles to the device; throws Error if CUDA fails, in this call or an earlier kernel.
inline void send(double* to, const double* from, std::int64_t doubles) {
  cuda::check(cudaMemcpy(to, from, static_cast<std::size_t>(doubles) * sizeof(double), cudaMemcpyHostToDevice),
              "copying to the GPU");
}
/// Copies doubles from the device, after all kernels before it.
inline void fetch(double* to, const double* from, std::int64_t doubles) {
  cuda::check(cudaMemcpy(to, from, static_cast<std::size_t>(doubles) * sizeof(double), cudaMemcpyDeviceToHost),
              "copying from the GPU");
}

/// Number of doubles that `cut(take)` takes for a sample.
template <class Cut>
std::uint64_t count_doubles(const Cut& cut) {
  std::uint64_t sum = 0;
  // The pointers are never read: cutting only adds up the sizes.
  cut([&](int fields) {
    sum += static_cast<std::uint64_t>(fields);
    return static_cast<double*>(nullptr);
  });
  return sum;
}

/// The backend that runs a step's bodies on the GPU. The fingers are compiled in motion_fingers.cu,
/// the solver in kernels/contact/newton.cu.
struct DeviceBackend {
  // By address: MotionRules with eight fingers exceeds the size of a kernel's parameters.
  const MotionRules* model;  ///< device memory
  const Device& device;
  const contact::Options& solver;

  [[nodiscard]] const MotionRules* rules() const { return model; }
  template <int N>
  void close(std::int64_t count, const CloseKernel<N>& body) const {
    for_each(count, body);
  }
  template <class Body>
  void for_each(std::int64_t count, const Body& body) const {
    cuda::for_each(count, body);
  }
  /// Places every finger at its contact, then at rest in its motion; `rules` is the host's copy.
  void start_fingers(const MotionRules& rules, const MotionTiles& tiles, std::int64_t count) const;
  /// Runs every finger's part of a step.
  void step_fingers(const MotionRules& rules, const MotionTiles& tiles, const StepNow& step, std::int64_t count) const;
  /// Compiled once, in motion_assemble.cu.
  template <int N>
  void assemble(const AssembleKernel<N>& body, std::int64_t count) const;
  template <int N>
  void iterate(const contact::IterateKernel<solvers::FrictionNewton, N>& body, std::int64_t count) const {
    if (solver.method == contact::Method::kAuto) return contact::iterate_on_device(body, count);
    contact::iterate_tiles<N>(solver, {device, body.problems, body.sliding, body.candidates, body.guesses, count});
  }
  template <int N>
  void certify(const contact::CertifyKernel<N>& body, std::int64_t count) const {
    contact::certify_on_device(body, count);
  }
  /// Always true: a query would wait for the device, and ended samples cost it little.
  [[nodiscard]] bool any_running(const MotionTiles&, std::int64_t) const { return true; }
};

}  // namespace garra::grasp
