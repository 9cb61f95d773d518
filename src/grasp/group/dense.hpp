// Matrices whose sizes are known at run time, for the few dozen rows of a group's matrices. What is GARRA_HD also runs
// on a GPU.
#pragma once

#include <span>
#include <vector>

#include "garra/core/hd.hpp"

namespace garra::grasp {

/// Lists of a group's numbers: with memory of their own, or in that of a block of samples.
template <class T>
using Owned = std::vector<T>;
template <class T>
using View = std::span<T>;
template <class T>
using Shown = std::span<const T>;
using Column = Owned<double>;

/// Row-major; zero at first.
template <class S, template <class> class List>
struct DenseOf {
  int rows = 0, cols = 0;
  List<S> m = {};

  DenseOf() = default;
  DenseOf(int r, int c) : rows(r), cols(c), m(static_cast<std::size_t>(r * c)) {}
  [[nodiscard]] GARRA_HD S& operator()(int r, int c) { return m[static_cast<std::size_t>(r * cols + c)]; }
  [[nodiscard]] GARRA_HD const S& operator()(int r, int c) const { return m[static_cast<std::size_t>(r * cols + c)]; }
};
using Dense = DenseOf<double, Owned>;

/// A x.
[[nodiscard]] Column multiplied(const Dense& a, const Column& x);

/// As least_squares.hpp has it.
[[nodiscard]] Column least_squares(const Dense& v, const Column& y);

}  // namespace garra::grasp
