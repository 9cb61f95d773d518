// Chains of one to four joints. Groups of sizes are files of their own, so that they compile side by side.
#include "chain/eval/run.hpp"

namespace garra::chain {

template void evaluate_on_cpu<1>(const EvalJob& job);
template void evaluate_on_cpu<2>(const EvalJob& job);
template void evaluate_on_cpu<3>(const EvalJob& job);
template void evaluate_on_cpu<4>(const EvalJob& job);

}  // namespace garra::chain
