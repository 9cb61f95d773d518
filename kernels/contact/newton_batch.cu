// Batches for Newton's method on the GPU. Separate from the two files that compile its kernels,
// because it needs the kernels of both.
#include "contact/tiles.cuh"

template struct garra::batch::Kernels<garra::solvers::FrictionNewton, garra::contact::HostBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionNewton, garra::contact::DeviceBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionNewton, garra::contact::DeviceTiles>;
