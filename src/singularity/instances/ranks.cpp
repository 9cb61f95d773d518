// Maps of arms that move with three, four or five freedoms. In one file, for most of their code is the same.
#include "singularity/map/run.hpp"

namespace garra::singularity {

template <>
std::unique_ptr<MapArm> make_map_arm_of<6, 3>(const chain::Robot& robot, const MeasureOptions& options) {
  return std::make_unique<MapArmOf<6, 3>>(robot, options);
}
template <>
std::unique_ptr<MapArm> make_map_arm_of<6, 4>(const chain::Robot& robot, const MeasureOptions& options) {
  return std::make_unique<MapArmOf<6, 4>>(robot, options);
}
template <>
std::unique_ptr<MapArm> make_map_arm_of<6, 5>(const chain::Robot& robot, const MeasureOptions& options) {
  return std::make_unique<MapArmOf<6, 5>>(robot, options);
}

}  // namespace garra::singularity
