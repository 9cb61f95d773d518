// Whether forces can balance wrenches, on the GPU.
#include "contact/balance/op.hpp"
#include "garra/batch/rows.cuh"

template struct garra::batch::Kernels<garra::contact::BalanceOp<1>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<2>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<3>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<4>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<5>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<6>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<7>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::BalanceOp<8>, garra::batch::Rows>;
