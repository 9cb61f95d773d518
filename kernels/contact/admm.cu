// ADMM on the GPU. Each solver has a file of its own, so that they compile side by side.
#include "contact/tiles.cuh"
#include "garra/solvers/friction_admm.hpp"

template struct garra::batch::Kernels<garra::solvers::FrictionAdmm, garra::contact::HostBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionAdmm, garra::contact::DeviceBatch>;
template struct garra::batch::Kernels<garra::solvers::FrictionAdmm, garra::contact::DeviceTiles>;
