// Stands in for siconos.cpp where Siconos is not installed.
#include "peers/siconos.hpp"

namespace garra::bench::siconos {

bool available() { return false; }

Answers solve(const contact::Problems&, Method) { return {}; }

}  // namespace garra::bench::siconos
