// The full form of platforms on the GPU. A thread keeps its blocks of the six legs in local memory.
#include "platform/batch/full_ops.hpp"
#include "platform/rows.cuh"

template struct garra::batch::Kernels<garra::platform::FullForwardOp, garra::platform::RowsJob>;
template struct garra::batch::Kernels<garra::platform::FullInverseDynamicsOp, garra::platform::RowsJob>;
template struct garra::batch::Kernels<garra::platform::FullForwardDynamicsOp, garra::platform::RowsJob>;
template struct garra::batch::Kernels<garra::platform::FullForwardOp, garra::platform::ResidentJob>;
template struct garra::batch::Kernels<garra::platform::FromOneGuess<garra::platform::FullForwardOp>,
                                      garra::platform::ResidentJob>;
template struct garra::batch::Kernels<garra::platform::FullInverseDynamicsOp, garra::platform::ResidentJob>;
template struct garra::batch::Kernels<garra::platform::FullForwardDynamicsOp, garra::platform::ResidentJob>;
