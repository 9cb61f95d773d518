// Inverse and forward dynamics of platforms on the GPU.
#include "platform_rows.cuh"
#include "systems/platform_dynamics_ops.hpp"

template void garra::batch::on_device(const garra::Device&, const garra::platform::InverseDynamicsOp&,
                                      const garra::platform::RowsJob&);
template void garra::batch::on_device(const garra::Device&, const garra::platform::ForwardDynamicsOp&,
                                      const garra::platform::RowsJob&);
