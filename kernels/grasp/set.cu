// Samples of candidate grasps on the GPU, and the numbers of contacts that they are compiled for.
#include "grasp/set.cuh"

template struct garra::batch::Kernels<garra::grasp::SetJob<1>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<2>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<3>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<4>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<5>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<6>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<7>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<8>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<12>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<16>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<24>>;
template struct garra::batch::Kernels<garra::grasp::SetJob<32>>;
