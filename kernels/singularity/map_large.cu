// Maps of all other arms, padded to sixteen joints.
#include "singularity/map.cuh"

template struct garra::batch::Kernels<garra::singularity::DeviceArm<16, 6>, garra::singularity::DeviceRun>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<16, 6>,
                                      garra::singularity::MeasuredRows<garra::batch::Rows>>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<16, 6>,
                                      garra::singularity::MeasuredRows<garra::batch::ResidentRows>>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<16, 6>,
                                      garra::singularity::SearchedRows<garra::batch::Rows>>;
template struct garra::batch::Kernels<garra::singularity::DeviceArm<16, 6>,
                                      garra::singularity::SearchedRows<garra::batch::ResidentRows>>;
