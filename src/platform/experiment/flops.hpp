// Floating-point operations of the two forms, counted by running their kernels on a counting scalar: the paper's
// figures 3 and 5.
#pragma once

#include <vector>

#include "garra/platform.hpp"

namespace garra::platform {

/// Elimination with back substitution of n dense equations, as in a general solver.
[[nodiscard]] double dense_flops(double n);

/// From the guess to the pose, all Newton steps with their residuals.
struct ForwardFlops {
  double full = 0;     ///< 91 coordinates, leg by leg
  double dense = 0;    ///< the same steps with a dense elimination, assembly not counted
  double minimal = 0;  ///< six coordinates
};
[[nodiscard]] ForwardFlops forward_flops(const Model<double>& model, const std::vector<double>& lengths,
                                         const Place<double>& guess, double tolerance);

/// Operations along a free motion, from its start to each instant: every evaluation, step and correction.
struct MotionFlops {
  std::vector<double> full, dense, minimal;  ///< [instants]
  double corrections = 0;                    ///< of `full`, those of corrections
};
/// `steps` of h [s] between two instants; the hybrid method corrects above `correct_above`.
struct FlopsOfSteps {
  int instants, steps;
  double h, correct_above, baumgarte;
};
[[nodiscard]] MotionFlops motion_flops(const Platform& platform, const Place<double>& start,
                                       const std::vector<double>& force, const FlopsOfSteps& of);

/// One evaluation of the accelerations at rest.
[[nodiscard]] ForwardFlops acceleration_flops(const Model<double>& model, const Place<double>& place,
                                              const std::vector<double>& force);

}  // namespace garra::platform
