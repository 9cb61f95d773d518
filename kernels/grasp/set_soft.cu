// Samples of candidate grasps with soft contacts, on the GPU.
#include "grasp/set.cuh"

template struct garra::batch::Kernels<garra::grasp::SetJob<2, 4>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<3, 4>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<4, 4>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<5, 4>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<8, 4>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<16, 4>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<32, 4>>;
