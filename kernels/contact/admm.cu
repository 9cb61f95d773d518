// ADMM on the GPU. Each solver has a file of its own, so that they compile side by side.
#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::solvers::FrictionAdmm, garra::contact::HostBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionAdmm, garra::contact::DeviceBatch>;
