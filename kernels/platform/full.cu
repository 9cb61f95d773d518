// The full form of platforms on the GPU. A thread's blocks of the six legs live in local memory.
#include "platform/batch/full_ops.hpp"
#include "platform/rows.cuh"

template void garra::batch::on_device(const garra::Device&, const garra::platform::FullForwardOp&,
                                      const garra::platform::RowsJob&);
template void garra::batch::on_device(const garra::Device&, const garra::platform::FullInverseDynamicsOp&,
                                      const garra::platform::RowsJob&);
template void garra::batch::on_device(const garra::Device&, const garra::platform::FullForwardDynamicsOp&,
                                      const garra::platform::RowsJob&);
