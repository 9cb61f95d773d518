#include "singularity/map.cuh"

template void garra::batch::on_device(const garra::Device&, const garra::singularity::DeviceArm<7, 6>&,
                                      const garra::singularity::DeviceRun&);
template void garra::batch::on_device(const garra::Device&, const garra::singularity::DeviceArm<7, 6>&,
                                      const garra::singularity::DeviceMeasures&);
template void garra::batch::on_device(const garra::Device&, const garra::singularity::DeviceArm<7, 6>&,
                                      const garra::singularity::DeviceSearches&);
