// Chains of seven joints.
#include "chain/eval/run.hpp"

namespace garra::chain {

template void evaluate_on_cpu<7>(const EvalJob& job);

}  // namespace garra::chain
