// Inverse and forward dynamics of platforms on the GPU.
#include "platform/batch/dynamics_ops.hpp"
#include "platform/rows.cuh"

template void garra::batch::on_device(const garra::Device&, const garra::platform::InverseDynamicsOp&,
                                      const garra::platform::RowsJob&);
template void garra::batch::on_device(const garra::Device&, const garra::platform::ForwardDynamicsOp&,
                                      const garra::platform::RowsJob&);
