// Nonsmooth Gauss-Seidel on the GPU.
#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::solvers::FrictionNsgs, garra::contact::HostTiles>;
template struct garra::batch::Kernels<garra::solvers::FrictionNsgs, garra::contact::DeviceBatch>;
