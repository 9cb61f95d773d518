// Recordings of one to five joints: a file of its own, so that all compile at the same time.
#include "chain/generate/run.hpp"

namespace garra::chain {

std::vector<Target> record_small(symbolic::Graph& graph, const Robot& robot, Operation operation, int way) {
  if (robot.joints == 1) return record_joints<1>(graph, robot, operation, way);
  if (robot.joints == 2) return record_joints<2>(graph, robot, operation, way);
  if (robot.joints == 3) return record_joints<3>(graph, robot, operation, way);
  if (robot.joints == 4) return record_joints<4>(graph, robot, operation, way);
  return record_joints<5>(graph, robot, operation, way);
}

}  // namespace garra::chain
