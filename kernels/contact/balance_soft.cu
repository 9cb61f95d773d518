// Balance of wrenches by soft contacts, on the GPU.
#include "contact/balance_instances.cuh"

namespace garra::contact {

template void launch_balance<2, 4>(std::int64_t, const double*, double*);
template void launch_balance<3, 4>(std::int64_t, const double*, double*);
template void launch_balance<4, 4>(std::int64_t, const double*, double*);
template void launch_balance<5, 4>(std::int64_t, const double*, double*);
template void launch_balance<8, 4>(std::int64_t, const double*, double*);
template void launch_balance<16, 4>(std::int64_t, const double*, double*);
template void launch_balance<32, 4>(std::int64_t, const double*, double*);
template std::uint64_t balance_stacks<2, 4>(int);
template std::uint64_t balance_stacks<3, 4>(int);
template std::uint64_t balance_stacks<4, 4>(int);
template std::uint64_t balance_stacks<5, 4>(int);
template std::uint64_t balance_stacks<8, 4>(int);
template std::uint64_t balance_stacks<16, 4>(int);
template std::uint64_t balance_stacks<32, 4>(int);

}  // namespace garra::contact
