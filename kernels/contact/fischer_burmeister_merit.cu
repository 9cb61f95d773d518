// The Fischer-Burmeister function with every minimizer, on the GPU.
#include "contact/any_size.cuh"

template struct garra::contact::PairKernels<garra::contact::Merit::kFischerBurmeister,
                                            garra::contact::Minimizer::kBoxQuacan>;
template struct garra::contact::PairKernels<garra::contact::Merit::kFischerBurmeister, garra::contact::Minimizer::kSpg>;
template struct garra::contact::PairKernels<garra::contact::Merit::kFischerBurmeister,
                                            garra::contact::Minimizer::kSpgNewton>;
template struct garra::contact::PairKernels<garra::contact::Merit::kFischerBurmeister,
                                            garra::contact::Minimizer::kProjectedLm>;
