// Joint rates of tool twists and analytic Jacobians on the GPU.
#include "garra/batch/rows.cuh"
#include "garra/systems/chain/rates.hpp"

template struct garra::batch::Kernels<garra::chain::JointRatesOp<6>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::chain::JointRatesOp<7>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::chain::JointRatesOp<garra::chain::kMaxJoints>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::chain::EulerRatesOp<6>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::chain::EulerRatesOp<7>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::chain::EulerRatesOp<garra::chain::kMaxJoints>, garra::batch::Rows>;
