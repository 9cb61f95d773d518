// Simulations on lanes of chains of up to four joints.
#include "chain/simulate/simulate_chunks.hpp"

namespace garra::chain {

template void simulate_on_lanes<2>(const SimulateJob&);
template void simulate_on_lanes<4>(const SimulateJob&);

}  // namespace garra::chain
