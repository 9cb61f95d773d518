#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::contact::BoxQuacanMethod, garra::contact::HostTiles>;
