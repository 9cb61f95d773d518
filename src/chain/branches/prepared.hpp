// What AllSolutions keeps of a robot.
#pragma once

#include "chain/branches/ways.hpp"

namespace garra::chain {

struct AllSolutions::Prepared {
  Robot robot;
  ToolTask task;
  branches::AllSolutionsOp op, again;          ///< of six joints; the second with other changes of the links
  std::vector<Joint> moves;                    ///< the joints that the caller knows
  std::vector<double> leader;                  ///< values of the joint that leads another; empty: none does
  std::vector<branches::AllSolutionsOp> held;  ///< with the leader at each of them, and the follower free

  [[nodiscard]] std::size_t joints() const { return moves.size(); }
};

}  // namespace garra::chain
