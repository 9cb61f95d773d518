// Recordings of ten joints and more: a file of its own, so that all compile at the same time.
#include "chain/generate/run.hpp"

namespace garra::chain {

std::vector<Target> record_large(symbolic::Graph& graph, const Robot& robot, Operation operation, int way) {
  if (robot.joints == 10) return record_joints<10>(graph, robot, operation, way);
  if (robot.joints == 11) return record_joints<11>(graph, robot, operation, way);
  if (robot.joints == 12) return record_joints<12>(graph, robot, operation, way);
  if (robot.joints == 13) return record_joints<13>(graph, robot, operation, way);
  if (robot.joints == 14) return record_joints<14>(graph, robot, operation, way);
  if (robot.joints == 15) return record_joints<15>(graph, robot, operation, way);
  return record_joints<16>(graph, robot, operation, way);
}

}  // namespace garra::chain
