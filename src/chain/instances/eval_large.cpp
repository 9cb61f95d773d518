// Chains of eight joints, and of nine to sixteen, padded to twelve or sixteen.
#include "chain/eval/run.hpp"

namespace garra::chain {

template void evaluate_on_cpu<8>(const EvalJob& job);
template void evaluate_on_cpu<12>(const EvalJob& job);
template void evaluate_on_cpu<16>(const EvalJob& job);

}  // namespace garra::chain
