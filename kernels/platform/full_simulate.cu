// Trajectories of platforms in the full form on the GPU.
#include "platform/rows.cuh"
#include "platform/simulate/full_ops.hpp"

template void garra::batch::on_device(const garra::Device&, const garra::platform::FullStartOp&,
                                      const garra::platform::RowsJob&);
template void garra::batch::on_device(const garra::Device&, const garra::platform::FullStepsOp&,
                                      const garra::platform::RowsJob&);
