// A map made ready from its scenario alone.
#pragma once

#include "singularity/map/arm.hpp"

namespace garra::singularity {

struct PreparedMap {
  MapScenario scenario;
  std::unique_ptr<MapArm> arm;
  MapPlan plan;
};

/// Throws Error(kUsage) for options, joint sources and grids out of range.
[[nodiscard]] std::unique_ptr<PreparedMap> prepare_map(const MapScenario& scenario);

void check_options(const chain::Robot& robot, const MeasureOptions& options);

}  // namespace garra::singularity
