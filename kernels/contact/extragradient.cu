// The extragradient method on the GPU.
#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::solvers::FrictionExtragradient, garra::contact::HostBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionExtragradient, garra::contact::DeviceBatch>;
