// Chains of five and six joints.
#include "chain/eval/run.hpp"

namespace garra::chain {

template void evaluate_on_cpu<5>(const EvalJob& job);
template void evaluate_on_cpu<6>(const EvalJob& job);

}  // namespace garra::chain
