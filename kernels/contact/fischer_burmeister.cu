// Projected Levenberg-Marquardt on the Fischer-Burmeister function, on the GPU.
#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::contact::FischerBurmeisterMethod, garra::contact::HostBatch>;
template struct garra::batch::Kernels<garra::contact::FischerBurmeisterMethod, garra::contact::DeviceBatch>;
