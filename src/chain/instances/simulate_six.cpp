// Chains of five or six joints.
#include "chain/simulate/run.hpp"

namespace garra::chain {

template void simulate_on_cpu<6>(const SimulateJob&);

}  // namespace garra::chain
