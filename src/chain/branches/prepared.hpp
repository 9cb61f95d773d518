// What AllSolutions keeps of a robot.
#pragma once

#include "chain/branches/ways.hpp"
#include "garra/chain_generate.hpp"

namespace garra::chain {

struct AllSolutions::Prepared {
  Robot robot;
  branches::AllSolutionsOp op;
};

}  // namespace garra::chain
