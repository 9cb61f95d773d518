// Chains of two to five joints.
#include "chain/eval/evaluate_tiles.hpp"

namespace garra::chain {

template void evaluate_on_lanes<2>(const EvalJob& job);
template void evaluate_on_lanes<3>(const EvalJob& job);
template void evaluate_on_lanes<4>(const EvalJob& job);
template void evaluate_on_lanes<5>(const EvalJob& job);

}  // namespace garra::chain
