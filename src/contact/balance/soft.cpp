// Soft contacts: cones in four dimensions.
#include "contact/balance/tiles.hpp"

namespace garra::contact {

template void balance_tiles<2, 4>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<3, 4>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<4, 4>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<5, 4>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<8, 4>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<16, 4>(Executor, std::int64_t, const double*, double*);
template void balance_tiles<32, 4>(Executor, std::int64_t, const double*, double*);

}  // namespace garra::contact
