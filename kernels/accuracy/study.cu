// Accuracy of arms of six and of seven joints.
#include "accuracy/body.hpp"
#include "garra/study/system.cuh"

template struct garra::batch::Kernels<garra::study::SystemKernel<garra::accuracy::ArmErrors<6, 32>>,
                                      garra::study::RowsToCount>;
template struct garra::batch::Kernels<garra::study::SystemKernel<garra::accuracy::ArmErrors<7, 32>>,
                                      garra::study::RowsToCount>;
