// The Fischer-Burmeister function of the friction cone with every minimizer, on the GPU.
#include "contact/any_size.cuh"

template struct garra::contact::PairKernels<garra::contact::Merit::kSecondOrderCone,
                                            garra::contact::Minimizer::kBoxQuacan>;
template struct garra::contact::PairKernels<garra::contact::Merit::kSecondOrderCone, garra::contact::Minimizer::kSpg>;
template struct garra::contact::PairKernels<garra::contact::Merit::kSecondOrderCone,
                                            garra::contact::Minimizer::kSpgNewton>;
template struct garra::contact::PairKernels<garra::contact::Merit::kSecondOrderCone,
                                            garra::contact::Minimizer::kProjectedLm>;
