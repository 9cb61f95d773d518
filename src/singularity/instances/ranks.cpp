// Maps of arms that move with three, four or five freedoms.
#include "singularity/map/map_arm.hpp"

namespace garra::singularity {

template <>
std::unique_ptr<MapArm> make_map_arm_of<6, kAnyRank>(const chain::Robot& robot, const MeasureOptions& options) {
  return std::make_unique<MapArmOf<6, kAnyRank>>(robot, options);
}

}  // namespace garra::singularity
