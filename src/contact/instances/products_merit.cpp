// Componentwise products with every minimizer, on the host.
#include "contact/instances/merit.hpp"

template void garra::contact::run_merit<garra::contact::Merit::kProducts>(const MethodCall&);
