// chain::evaluate for batches of about the same size, one after another.
#pragma once

#include "garra/chain_eval.hpp"

namespace garra::chain {

/// How and where.
struct EvalPlace {
  EvalOptions options = {};
  Device device = {};
};
/// evaluate() into `out`, whose memory is used again.
void evaluate(const Robot& robot, const States& states, const Outputs& wanted, const EvalPlace& place, Results& out);

}  // namespace garra::chain
