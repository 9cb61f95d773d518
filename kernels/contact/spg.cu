// Spectral projected gradient on the papers' merit function, on the GPU.
#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::contact::SpgMethod, garra::contact::HostBatch>;
template struct garra::batch::Kernels<garra::contact::SpgMethod, garra::contact::DeviceBatch>;
