// Chains that are padded to eight joints.
#include "chain/eval.cuh"

namespace garra::chain {

template void evaluate_padded<kMaxComposite>(const DeviceChain&);

}  // namespace garra::chain
