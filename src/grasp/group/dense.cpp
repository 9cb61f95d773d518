#include "grasp/group/dense.hpp"

#include <algorithm>

#include "grasp/group/least_squares.hpp"

namespace garra::grasp {

Column multiplied(const Dense& a, const Column& x) {
  Column out(static_cast<std::size_t>(a.rows));
  for (int k = 0; k < a.rows; ++k)
    for (int i = 0; i < a.cols; ++i) out[static_cast<std::size_t>(k)] += a(k, i) * x[static_cast<std::size_t>(i)];
  return out;
}

Column least_squares(const Dense& v, const Column& y) {
  Column v_copy = v.m, out(static_cast<std::size_t>(v.cols)),
         room(static_cast<std::size_t>(least_squares_room(v.rows)));
  least_squares({v.rows, v.cols, v_copy.data()}, y.data(), out.data(), room.data());
  return out;
}

}  // namespace garra::grasp
