// Recordings of six and seven joints: a file of its own, so that all compile at the same time.
#include "chain/generate/run.hpp"

namespace garra::chain {

std::vector<Target> record_medium(symbolic::Graph& graph, const Robot& robot, Operation operation, int way) {
  if (robot.joints == 6) return record_joints<6>(graph, robot, operation, way);
  return record_joints<7>(graph, robot, operation, way);
}

}  // namespace garra::chain
