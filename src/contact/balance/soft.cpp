// Instance for soft contacts, with cones in four dimensions.
#include "contact/balance/tiles.hpp"

namespace garra::contact {

template void balance_tiles<4>(Executor, std::int64_t, const double*, double*, const int*);

}  // namespace garra::contact
