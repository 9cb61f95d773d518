// Projected Levenberg-Marquardt on componentwise products, on the GPU.
#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::contact::ProjectedLmMethod, garra::contact::HostBatch>;
template struct garra::batch::Kernels<garra::contact::ProjectedLmMethod, garra::contact::DeviceBatch>;
