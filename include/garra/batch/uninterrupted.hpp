// The no-op that a body calls between its steps if the call cannot be interrupted (interrupt.hpp).
// Host and device.
#pragma once

#include "garra/core/hd.hpp"

namespace garra {

struct Uninterrupted {
  GARRA_HD void operator()() const {}
};

}  // namespace garra
