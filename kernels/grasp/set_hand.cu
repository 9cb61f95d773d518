// Samples of grasps with a known hand, on the GPU.
#include "grasp/set_hand.cuh"

template struct garra::batch::Kernels<garra::grasp::HandJob<1>>;
template struct garra::batch::Kernels<garra::grasp::HandJob<2>>;
template struct garra::batch::Kernels<garra::grasp::HandJob<3>>;
template struct garra::batch::Kernels<garra::grasp::HandJob<4>>;
template struct garra::batch::Kernels<garra::grasp::HandJob<5>>;
template struct garra::batch::Kernels<garra::grasp::HandJob<6>>;
template struct garra::batch::Kernels<garra::grasp::HandJob<7>>;
template struct garra::batch::Kernels<garra::grasp::HandJob<8>>;
