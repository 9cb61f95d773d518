// Chains of eight to sixteen joints.
#include "chain/simulate/run.hpp"

namespace garra::chain {

template void simulate_on_cpu<kMaxJoints>(const SimulateJob&);

}  // namespace garra::chain
