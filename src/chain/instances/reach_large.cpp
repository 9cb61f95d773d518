#include "chain/reach/run.hpp"

namespace garra::chain {

template void reach_on_cpu<kMaxJoints>(const ReachJob& job);

}  // namespace garra::chain
