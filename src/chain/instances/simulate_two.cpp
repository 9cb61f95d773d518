// Chains of one or two joints. Sizes are files of their own, so that they compile side by side.
#include "chain/simulate/run.hpp"

namespace garra::chain {

template void simulate_on_cpu<2>(const SimulateJob&);

}  // namespace garra::chain
