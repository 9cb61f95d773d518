// A force and a moment about one point.
#pragma once

#include "garra/math/screw.hpp"

namespace garra {

/// Force [N] and moment about the reference point [N m].
template <class S>
struct Wrench {
  Vec3<S> force, moment;
};
/// Power of a wrench on a twist about the same point [W].
template <class S>
GARRA_HD S dot(const Wrench<S>& f, const Screw<S>& a) {
  return dot(f.moment, a.w) + dot(f.force, a.v);
}

}  // namespace garra
