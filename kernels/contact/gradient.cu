// Derivatives of contact forces, on the GPU.
#include "contact/gradient/op.hpp"
#include "garra/batch/rows.cuh"

template struct garra::batch::Kernels<garra::contact::GradientOp<1>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::GradientOp<2>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::GradientOp<3>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::GradientOp<4>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::GradientOp<5>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::GradientOp<6>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::GradientOp<7>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::GradientOp<8>, garra::batch::Rows>;
