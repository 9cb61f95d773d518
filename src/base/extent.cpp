#include "garra/core/extent.hpp"

#include "garra/core/heap_mat.hpp"

namespace garra::extent_detail {

constinit thread_local int contacts = 0;
constinit thread_local AnySizes any_sizes;

}  // namespace garra::extent_detail
