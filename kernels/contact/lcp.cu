// Batches of linear complementarity problems on the GPU.
#include "contact/lcp/lcp_kernel.hpp"
#include "garra/batch/rows.cuh"

template struct garra::batch::Kernels<garra::lcp::SolveOp<1>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::lcp::SolveOp<2>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::lcp::SolveOp<3>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::lcp::SolveOp<4>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::lcp::SolveOp<5>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::lcp::SolveOp<6>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::lcp::SolveOp<7>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::lcp::SolveOp<8>, garra::batch::Rows>;
