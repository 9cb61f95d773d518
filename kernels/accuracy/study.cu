// Accuracy of arms of two to seven joints.
#include "accuracy/body.hpp"
#include "garra/study/system.cuh"

template struct garra::batch::Kernels<garra::study::SystemKernel<garra::accuracy::ArmErrors<2, 32>>,
                                      garra::study::RowsToCount>;
template struct garra::batch::Kernels<garra::study::SystemKernel<garra::accuracy::ArmErrors<3, 32>>,
                                      garra::study::RowsToCount>;
template struct garra::batch::Kernels<garra::study::SystemKernel<garra::accuracy::ArmErrors<4, 32>>,
                                      garra::study::RowsToCount>;
template struct garra::batch::Kernels<garra::study::SystemKernel<garra::accuracy::ArmErrors<5, 32>>,
                                      garra::study::RowsToCount>;
template struct garra::batch::Kernels<garra::study::SystemKernel<garra::accuracy::ArmErrors<6, 32>>,
                                      garra::study::RowsToCount>;
template struct garra::batch::Kernels<garra::study::SystemKernel<garra::accuracy::ArmErrors<7, 32>>,
                                      garra::study::RowsToCount>;
