// What a body that every executor runs does between its steps where nobody asks it to end (interrupt.hpp): nothing.
// Host and device.
#pragma once

#include "garra/core/hd.hpp"

namespace garra {

struct Uninterrupted {
  GARRA_HD void operator()() const {}
};

}  // namespace garra
