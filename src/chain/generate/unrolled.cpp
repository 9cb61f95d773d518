// Recordings of eight and nine joints, the largest whose loops are written out: a file of its own, so that all compile
// at the same time.
#include "chain/generate/run.hpp"

namespace garra::chain {

std::vector<Target> record_unrolled(symbolic::Graph& graph, const Robot& robot, Operation operation, int way) {
  if (robot.joints == 8) return record_joints<8>(graph, robot, operation, way);
  return record_joints<9>(graph, robot, operation, way);
}

}  // namespace garra::chain
