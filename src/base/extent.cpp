#include "garra/core/extent.hpp"

namespace garra::extent_detail {

constinit thread_local int contacts = 0;

}  // namespace garra::extent_detail
