// Simulations on lanes of chains of five and six joints.
#include "chain/simulate/simulate_chunks.hpp"

namespace garra::chain {

template void simulate_on_lanes<6>(const SimulateJob&);

}  // namespace garra::chain
