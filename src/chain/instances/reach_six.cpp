#include "chain/reach/pose_search_tiles.hpp"

namespace garra::chain {

template void reach_on_cpu<6>(const ReachJob& job);

}  // namespace garra::chain
