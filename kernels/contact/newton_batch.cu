// Batches for Newton's ladder on the GPU. Apart from the files that compile its kernels, which are two: this one needs
// the kernels of both.
#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::solvers::FrictionNewton, garra::contact::HostBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionNewton, garra::contact::DeviceBatch>;
