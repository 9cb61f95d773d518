// Runs the bodies of a grasp's steps on the GPU.
#pragma once

#include "contact_solve.cuh"
#include "systems/grasp_motion_run.hpp"

namespace garra::grasp {

/// The fingers are compiled in grasp_motion_fingers.cu, the solver in contact_newton.cu.
struct DeviceBackend {
  const MotionRules* model;  ///< device memory

  [[nodiscard]] const MotionRules* rules() const { return model; }
  template <class Body>
  void for_each(std::int64_t count, const Body& body) const {
    cuda::for_each(count, body);
  }
  void start_fingers(const MotionRules& rules, const MotionTiles& tiles, std::int64_t count) const;
  void step_fingers(const MotionRules& rules, const MotionTiles& tiles, const StepNow& step, std::int64_t count) const;
  /// Compiled once, in grasp_motion_assemble.cu.
  template <int N>
  void assemble(const AssembleBody<N>& body, std::int64_t count) const;
  template <int N>
  void iterate(const contact::IterateBody<solvers::FrictionNewton, N>& body, std::int64_t count) const {
    contact::iterate_on_device(body, count);
  }
  template <int N>
  void certify(const contact::CertifyBody<N>& body, std::int64_t count) const {
    contact::certify_on_device(body, count);
  }
  /// To ask would mean to wait for the device; ended samples cost it little.
  [[nodiscard]] bool any_running(const MotionTiles&, std::int64_t) const { return true; }
};

}  // namespace garra::grasp
