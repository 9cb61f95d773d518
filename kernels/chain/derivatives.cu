// Derivatives of inverse and forward dynamics on the GPU.
#include "garra/batch/rows.cuh"
#include "garra/systems/chain/derivatives.hpp"

template struct garra::batch::Kernels<garra::chain::InverseDynamicsDerivativesOp<6>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::chain::InverseDynamicsDerivativesOp<7>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::chain::InverseDynamicsDerivativesOp<garra::chain::kMaxJoints>,
                                      garra::batch::Rows>;
template struct garra::batch::Kernels<garra::chain::ForwardDynamicsDerivativesOp<6>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::chain::ForwardDynamicsDerivativesOp<7>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::chain::ForwardDynamicsDerivativesOp<garra::chain::kMaxJoints>,
                                      garra::batch::Rows>;
