// Trajectories of platforms in the full form on the GPU.
#include "platform/rows.cuh"
#include "platform/simulate/full_ops.hpp"

template struct garra::batch::Kernels<garra::platform::FullStartOp, garra::platform::RowsJob>;
template struct garra::batch::Kernels<garra::platform::FullStepsOp, garra::platform::RowsJob>;
