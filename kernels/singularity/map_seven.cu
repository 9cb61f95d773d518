// Maps of arms of seven joints.
#include "singularity/map.cuh"

template struct garra::batch::Kernels<garra::singularity::DeviceArm<7, 6>, garra::singularity::DeviceRun>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<7, 6>,
                                      garra::singularity::MeasuredRows<garra::batch::Rows>>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<7, 6>,
                                      garra::singularity::MeasuredRows<garra::batch::ResidentRows>>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<7, 6>,
                                      garra::singularity::SearchedRows<garra::batch::Rows>>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<7, 6>,
                                      garra::singularity::SearchedRows<garra::batch::ResidentRows>>;
