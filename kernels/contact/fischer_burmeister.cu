#include "contact/solve.cuh"

template struct garra::batch::Kernels<garra::contact::FischerBurmeisterMethod, garra::contact::HostTiles>;
