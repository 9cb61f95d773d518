// Nonsmooth Gauss-Seidel on the GPU.
#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::solvers::FrictionNsgs, garra::contact::HostBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionNsgs, garra::contact::DeviceBatch>;
