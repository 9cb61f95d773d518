// Chains that are padded to sixteen joints.
#include "chain/eval.cuh"

namespace garra::chain {

template void evaluate_padded<kMaxJoints>(const DeviceChain&);

}  // namespace garra::chain
