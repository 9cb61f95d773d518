// The same of more than eight contacts: a few sizes, in which some contacts do nothing.
#include "grasp/set/host_hand.hpp"

namespace garra::grasp {

template void run_hand(const HandJob<16>&, const Device&);
template void run_hand(const HandJob<32>&, const Device&);
template HandReplay replay_hand(const HandJob<16>&, std::int64_t);
template HandReplay replay_hand(const HandJob<32>&, std::int64_t);

}  // namespace garra::grasp
