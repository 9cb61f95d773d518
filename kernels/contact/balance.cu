// Decides on the GPU whether forces can balance wrenches.
#include "contact/balance_instances.cuh"

namespace garra::contact {

template void launch_balance<1>(std::int64_t, const double*, double*);
template void launch_balance<2>(std::int64_t, const double*, double*);
template void launch_balance<3>(std::int64_t, const double*, double*);
template void launch_balance<4>(std::int64_t, const double*, double*);
template void launch_balance<5>(std::int64_t, const double*, double*);
template void launch_balance<6>(std::int64_t, const double*, double*);
template void launch_balance<7>(std::int64_t, const double*, double*);
template void launch_balance<8>(std::int64_t, const double*, double*);
template void launch_balance<12>(std::int64_t, const double*, double*);
template void launch_balance<16>(std::int64_t, const double*, double*);
template void launch_balance<24>(std::int64_t, const double*, double*);
template void launch_balance<32>(std::int64_t, const double*, double*);
template std::uint64_t balance_stacks<1>(int);
template std::uint64_t balance_stacks<2>(int);
template std::uint64_t balance_stacks<3>(int);
template std::uint64_t balance_stacks<4>(int);
template std::uint64_t balance_stacks<5>(int);
template std::uint64_t balance_stacks<6>(int);
template std::uint64_t balance_stacks<7>(int);
template std::uint64_t balance_stacks<8>(int);
template std::uint64_t balance_stacks<12>(int);
template std::uint64_t balance_stacks<16>(int);
template std::uint64_t balance_stacks<24>(int);
template std::uint64_t balance_stacks<32>(int);

}  // namespace garra::contact

template struct garra::batch::Kernels<garra::contact::BalanceOp<1>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<2>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<3>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<4>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<5>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<6>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<7>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<8>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<12>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<16>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<24>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<32>, garra::batch::Rows>;
