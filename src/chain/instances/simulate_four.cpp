// Chains of three or four joints.
#include "chain/simulate/run.hpp"

namespace garra::chain {

template void simulate_on_cpu<4>(const SimulateJob&);

}  // namespace garra::chain
