// Batches of linear complementarity problems on the GPU.
#include "contact/lcp/batch.hpp"
#include "garra/batch/rows.cuh"

template void garra::batch::on_device(const garra::Device&, const garra::lcp::SolveOp<1>&, const garra::batch::Rows&);
template void garra::batch::on_device(const garra::Device&, const garra::lcp::SolveOp<2>&, const garra::batch::Rows&);
template void garra::batch::on_device(const garra::Device&, const garra::lcp::SolveOp<3>&, const garra::batch::Rows&);
template void garra::batch::on_device(const garra::Device&, const garra::lcp::SolveOp<4>&, const garra::batch::Rows&);
template void garra::batch::on_device(const garra::Device&, const garra::lcp::SolveOp<5>&, const garra::batch::Rows&);
template void garra::batch::on_device(const garra::Device&, const garra::lcp::SolveOp<6>&, const garra::batch::Rows&);
template void garra::batch::on_device(const garra::Device&, const garra::lcp::SolveOp<7>&, const garra::batch::Rows&);
template void garra::batch::on_device(const garra::Device&, const garra::lcp::SolveOp<8>&, const garra::batch::Rows&);
