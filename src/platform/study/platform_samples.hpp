// Runs samples of a platform study on any executor; the study counts them.
#pragma once

#include <cstdint>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/batch/tiles.hpp"
#include "platform/study/sample.hpp"
#include "platform/study/tracked_sample.hpp"

namespace garra::platform {

/// Inputs of the samples: the rules, and the path or (map) the place of each sample.
struct StudyInput {
  const StudyRules& rules;
  const std::vector<PathPoint<double>>& points;         ///< of a simulation every sampling instant; empty: a map
  const batch::Tiles<Place<double>>* places = nullptr;  ///< map
  const TrackRules* track = nullptr;                    ///< simulation
};

/// Results of consecutive samples.
class StudyResults {
 public:
  /// With `forces`: forces of every instant.
  /// Room for `most` samples; with `forces`, for the forces of every instant as well.
  StudyResults(std::int64_t most, int instants, bool forces)
      // Forces are whole tiles for each instant: spare lanes of the last tile are stored, too.
      : instants_(instants), measured_(most), forces_(forces ? batch::tiles_for(most) * batch::kTile * instants : 0) {}
  [[nodiscard]] StudyMeasured<double> measured(std::int64_t i) const { return measured_.get(i); }
  /// Forces of actuator `leg` at `instant`, side by side for the samples of tile `tile`.
  [[nodiscard]] const double* forces(std::int64_t tile, int instant, int leg) const {
    return forces_.data() + ((tile * instants_ + instant) * kLegs + leg) * batch::kTile;
  }
  [[nodiscard]] double* measured_data() { return measured_.data(); }
  [[nodiscard]] double* forces_data() { return forces_.count() == 0 ? nullptr : forces_.data(); }
  [[nodiscard]] std::int64_t measured_doubles() const { return measured_.doubles(); }
  [[nodiscard]] std::int64_t forces_doubles() const { return forces_.doubles(); }

 private:
  int instants_;
  batch::Tiles<StudyMeasured<double>> measured_;
  batch::Tiles<Vec<double, kLegs>> forces_;  ///< a tile for each tile of samples and instant
};

/// Samples first ... first + count - 1 on this thread, or on the GPU.
void run_samples(const StudyInput& input, std::int64_t first, std::int64_t count, const Device& device,
                 StudyResults& results);
/// Samples for kernels/platform/study.cu (garra/batch/on_device.hpp).
struct DeviceSamples {
  const StudyInput& input;
  std::int64_t first, count;
  StudyResults& results;
};

}  // namespace garra::platform
