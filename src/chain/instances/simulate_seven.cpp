// Chains of seven joints.
#include "chain/simulate/run.hpp"

namespace garra::chain {

template void simulate_on_cpu<7>(const SimulateJob&);

}  // namespace garra::chain
