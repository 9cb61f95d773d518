// Nonsmooth Gauss-Seidel on the GPU.
#include "contact/tiles.cuh"
#include "garra/solvers/friction_nsgs.hpp"

template struct garra::batch::Kernels<garra::solvers::FrictionNsgs, garra::contact::HostBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionNsgs, garra::contact::DeviceBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionNsgs, garra::contact::DeviceTiles>;
