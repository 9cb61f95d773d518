// Maps of arms of seven joints.
#include "singularity/map.cuh"

template struct garra::batch::Kernels<garra::singularity::DeviceArm<7, 6>, garra::singularity::DeviceRun>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<7, 6>, garra::singularity::DeviceMeasures>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<7, 6>, garra::singularity::DeviceSearches>;
