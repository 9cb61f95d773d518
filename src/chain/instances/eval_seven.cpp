// Chains of seven joints.
#include "chain/eval/evaluate_tiles.hpp"

namespace garra::chain {

template void evaluate_on_lanes<7>(const EvalJob& job);

}  // namespace garra::chain
