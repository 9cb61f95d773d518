// Runs the samples of candidate grasps with N contacts each: common interface of host and GPU.
#pragma once

#include <cstdint>
#include <span>

#include "garra/batch/device.hpp"
#include "garra/wrench_balance.hpp"
#include "grasp/set/set_model.hpp"

namespace garra::grasp {

/// Results of 64 samples, the first in the lowest bit: held ones, and undecided ones.
struct DecisionBits {
  std::uint64_t held = 0, undecided = 0;
};
[[nodiscard]] constexpr std::int64_t words_for(std::int64_t samples) { return (samples + 63) / 64; }

/// A job of samples of candidate grasps. D: 3, or 4 for soft contacts.
template <int N, int D = 3>
struct SetJob {
  const SetModel& model;
  std::span<const SetGrasp<N>> grasps;
  std::int64_t first, samples;    ///< of each grasp
  std::int64_t friction_samples;  ///< from the first on, of the same
  DecisionBits* decisions;        ///< [grasp][words_for(samples)], all zero
  double* required_friction;      ///< [grasp][friction_samples]
  std::int64_t radius_samples;    ///< likewise
  double* resisted_force_radius;  ///< [grasp][radius_samples]
  /// On the host: [grasp][contacts] the first contact of each contact's pad, whose contacts share one limit; null:
  /// none.
  const int* pads = nullptr;

  [[nodiscard]] const int* get_pads(std::int64_t grasp) const {
    return pads == nullptr ? nullptr : pads + grasp * grasps[0].contacts;
  }
};

/// Runs the job on a GPU. Throws Error(kNoDevice).
template <int N, int D = 3>
void run_set(const SetJob<N, D>& job, const Device& device);

/// Records sample s of a grasp.
inline void note(double decision, std::int64_t s, DecisionBits* of) {
  const std::uint64_t bit = std::uint64_t{1} << (s % 64);
  if (decision == static_cast<double>(contact::ResistanceStatus::kPossible)) of[s / 64].held |= bit;
  if (decision == static_cast<double>(contact::ResistanceStatus::kUndecided)) of[s / 64].undecided |= bit;
}

}  // namespace garra::grasp
