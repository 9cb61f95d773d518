// The no-op between a body's steps if its call cannot end early (interrupt.hpp). Host and device.
#pragma once

#include "garra/core/hd.hpp"

namespace garra {

struct Uninterrupted {
  GARRA_HD void operator()() const {}
};

}  // namespace garra
