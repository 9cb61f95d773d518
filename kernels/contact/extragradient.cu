// The extragradient method on the GPU.
#include "contact/tiles.cuh"
#include "garra/solvers/friction_extragradient.hpp"

template struct garra::batch::Kernels<garra::solvers::FrictionExtragradient, garra::contact::HostBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionExtragradient, garra::contact::DeviceBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionExtragradient, garra::contact::DeviceTiles>;
