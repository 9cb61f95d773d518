// The counting scalar under the names of the benchmarks.
#pragma once

#include "garra/core/counted.hpp"

namespace garra::bench {

using garra::Counted;
using garra::operations;

}  // namespace garra::bench
