// The full form of platforms on the GPU. A thread's blocks of the six legs live in local memory.
#include "platform_rows.cuh"
#include "systems/platform_full_ops.hpp"

template void garra::batch::on_device(const garra::Device&, const garra::platform::FullForwardOp&,
                                      const garra::platform::RowsJob&);
template void garra::batch::on_device(const garra::Device&, const garra::platform::FullInverseDynamicsOp&,
                                      const garra::platform::RowsJob&);
template void garra::batch::on_device(const garra::Device&, const garra::platform::FullForwardDynamicsOp&,
                                      const garra::platform::RowsJob&);
