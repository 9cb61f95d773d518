#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::contact::ProjectedLmMethod, garra::contact::HostTiles>;
