#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::solvers::FrictionAdmm, garra::contact::HostTiles>;
