#include "systems/chain_simulate_run.hpp"

namespace garra::chain {

template void simulate_on_cpu<kMaxJoints>(const SimulateJob&);

}  // namespace garra::chain
