// Chains of seven joints.
#include "chain/eval/run.hpp"

namespace garra::chain {

template void evaluate_on_lanes<7>(const EvalJob& job);

}  // namespace garra::chain
