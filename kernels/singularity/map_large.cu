// Maps of all other arms, padded to sixteen joints.
#include "singularity/map.cuh"

template struct garra::batch::Kernels<garra::singularity::DeviceArm<16, 6>, garra::singularity::DeviceRun>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<16, 6>, garra::singularity::DeviceMeasures>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<16, 6>, garra::singularity::DeviceSearches>;
