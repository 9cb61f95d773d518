// Simulations on lanes of chains of seven joints.
#include "chain/simulate/simulate_chunks.hpp"

namespace garra::chain {

template void simulate_on_lanes<7>(const SimulateJob&);

}  // namespace garra::chain
