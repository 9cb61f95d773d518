// Inverse kinematics of platforms on the GPU.
#include "garra/systems/platform/inverse_ops.hpp"
#include "platform/rows.cuh"

template struct garra::batch::Kernels<garra::platform::LengthsOp, garra::platform::RowsJob>;
template struct garra::batch::Kernels<garra::platform::RatesOp, garra::platform::RowsJob>;
template struct garra::batch::Kernels<garra::platform::DetailOp, garra::platform::RowsJob>;
template struct garra::batch::Kernels<garra::platform::KinematicsOp, garra::platform::ResidentJob>;
template struct garra::batch::Kernels<garra::platform::PoseDetailOp, garra::platform::ResidentJob>;
