// Forward kinematics of platforms on the GPU.
#include "garra/systems/platform/kinematics_ops.hpp"
#include "platform/rows.cuh"

template struct garra::batch::Kernels<garra::platform::ForwardOp, garra::platform::RowsJob>;
