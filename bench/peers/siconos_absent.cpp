// Stands in for siconos.cpp where Siconos is not installed.
#include "peers/siconos.hpp"

namespace garra::bench::siconos {

bool available() { return false; }

void solve_each(const contact::Problems&, Method, const Control&,
                const std::function<void(std::int64_t, const Answer&)>&) {}

Answers solve(const contact::Problems&, Method) { return {}; }

}  // namespace garra::bench::siconos
