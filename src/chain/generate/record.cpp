// Which recording a chain's size needs, and how many ways there are to a result.
#include "chain/generate/record.hpp"

#include "garra/systems/chain/determinant.hpp"

namespace garra::chain {

int ways(Operation operation, int joints) {
  // Three eliminations, Run::accelerations().
  if (operation == Operation::kForwardDynamics) return 3;
  const bool has_volume = operation == Operation::kManipulability || operation == Operation::kJacobianManipulability;
  return has_volume && joints == 6 ? kExpansions : 1;
}

std::vector<Target> record(symbolic::Graph& graph, const Robot& robot, Operation operation, int way) {
  if (robot.joints <= 5) return record_small(graph, robot, operation, way);
  if (robot.joints <= 7) return record_medium(graph, robot, operation, way);
  if (robot.joints <= 9) return record_unrolled(graph, robot, operation, way);
  return record_large(graph, robot, operation, way);
}

}  // namespace garra::chain
