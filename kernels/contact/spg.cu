#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::contact::SpgMethod, garra::contact::HostTiles>;
