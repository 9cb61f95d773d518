// The Fischer-Burmeister function with every minimizer, on the host.
#include "contact/instances/merit.hpp"

template void garra::contact::run_merit<garra::contact::Merit::kFischerBurmeister>(const MethodCall&);
