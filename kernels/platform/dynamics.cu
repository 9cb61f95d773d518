// Inverse and forward dynamics of platforms on the GPU.
#include "platform/batch/dynamics_ops.hpp"
#include "platform/rows.cuh"

template struct garra::batch::Kernels<garra::platform::InverseDynamicsOp, garra::platform::RowsJob>;
template struct garra::batch::Kernels<garra::platform::ForwardDynamicsOp, garra::platform::RowsJob>;
template struct garra::batch::Kernels<garra::platform::InverseDynamicsOp, garra::platform::ResidentJob>;
template struct garra::batch::Kernels<garra::platform::ForwardDynamicsOp, garra::platform::ResidentJob>;
