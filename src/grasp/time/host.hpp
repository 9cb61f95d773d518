// Runs the bodies of a step on the host.
#pragma once

#include "contact/batch/method.hpp"
#include "contact/batch/solve_batch.hpp"
#include "garra/batch/for_each.hpp"
#include "grasp/time/time_loop.hpp"

namespace garra::grasp {

/// Samples in a block, such that their data stay in the L2 cache.
inline constexpr std::int64_t kInFlight = 128;

/// Limits of a finger's joints in a scenario with [simulation].
[[nodiscard]] FingerLimits find_limits(const Scenario& s, std::size_t finger);
/// Measures of a trajectory that has ended, or reached `duration`, without limits of torques.
[[nodiscard]] Trajectory take_trajectory(const MotionMeasures<double, kAnyContacts>& m, int contacts, double duration);

/// Runs bodies on the host. The fingers are compiled once, in grasp/instances/time_fingers.cpp.
struct HostBackend {
  Executor executor;
  const MotionRules* model;
  const contact::Options& solver;

  [[nodiscard]] const MotionRules* rules() const { return model; }
  template <class Body>
  void for_each(std::int64_t count, const Body& body) const {
    batch::for_each(executor, count, body);
  }
  /// Places every finger at its contact at time 0.
  void start_fingers(const MotionRules& rules, const MotionTiles& tiles, std::int64_t count) const;
  /// Ends the previous step and begins the next, finger by finger.
  void step_fingers(const MotionRules& rules, const MotionTiles& tiles, const StepNow& step, std::int64_t count) const;
  /// Compiled once, in grasp/instances/time_assemble.cpp, like close().
  void assemble(const AssembleKernel<kAnyContacts>& body, std::int64_t count) const;
  void iterate(const contact::IterateKernel<solvers::FrictionNewton, kAnyContacts>& body, std::int64_t count) const {
    if (solver.method == contact::Method::kAuto) return contact::iterate(executor, body, count);
    contact::iterate_tiles(solver, {{executor}, body.problems, body.sliding, body.candidates, body.guesses, count});
  }
  void certify(const contact::CertifyKernel<kAnyContacts>& body, std::int64_t count) const {
    contact::certify_tiles(executor, body, count);
  }
  void close(std::int64_t count, const CloseKernel<kAnyContacts>& body) const;
  /// Whether any sample's trajectory goes on.
  [[nodiscard]] bool any_running(const MotionTiles& tiles, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i)
      if (batch::load<double, ObjectMotion<double>>(tiles.objects, i).running > 0) return true;
    return false;
  }
};

}  // namespace garra::grasp
