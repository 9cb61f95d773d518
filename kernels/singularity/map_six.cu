// Maps of arms of six joints. Sizes are files of their own, so that they compile side by side.
#include "singularity/map.cuh"

template struct garra::batch::Kernels<garra::singularity::DeviceArm<6, 6>, garra::singularity::DeviceRun>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<6, 6>,
                                      garra::singularity::MeasuredRows<garra::batch::Rows>>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<6, 6>,
                                      garra::singularity::MeasuredRows<garra::batch::ResidentRows>>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<6, 6>,
                                      garra::singularity::SearchedRows<garra::batch::Rows>>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<6, 6>,
                                      garra::singularity::SearchedRows<garra::batch::ResidentRows>>;
