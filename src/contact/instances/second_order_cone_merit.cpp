// The merit function of the second-order cone with every minimizer, on the host.
#include "contact/instances/merit.hpp"

template void garra::contact::run_merit<garra::contact::Merit::kSecondOrderCone>(const MethodCall&);
