// One row of a batch in the form that the merit functions take (garra/solvers/mncp.hpp).
#pragma once

#include "garra/core/heap_mat.hpp"
#include "garra/solvers/mncp.hpp"

namespace garra::mcp {

using Numbers = Vec<double, kAnyUnknowns>;
using Matrix = Mat<double, kAnyUnknowns, kAnyUnknowns>;

/// A Row has value(x), jacobian(x), low(i), high(i) and usable(). Second derivatives of F count as 0. U stands for the
/// number of unknowns, which is known at run time.
template <class Row, int U = kAnyUnknowns>
struct RowProblem {
  static constexpr int kComplementary = U, kFree = 0;
  template <class S>
  struct Data {
    Row* row;
  };
  using Given = Data<double>;

  GARRA_HD static Vec<double, U> evaluate(const Given& d, const Vec<double, U>& x) { return d.row->value(x); }
  template <class S>
  GARRA_HD static Mat<double, U, U> jacobian(const Given& d, const Vec<double, U>& x) {
    return d.row->jacobian(x);
  }
  template <class S>
  GARRA_HD static void add_curvature(const Given&, const Vec<double, U>&, const Vec<double, U>&, Mat<double, U, U>&) {}
  template <class S>
  GARRA_HD static double lower(const Given& d, int i) {
    return d.row->low(i);
  }
  template <class S>
  GARRA_HD static double upper(const Given& d, int i) {
    return d.row->high(i);
  }
  template <class S>
  GARRA_HD static bool valid(const Given& d) {
    return d.row->usable();
  }
};

}  // namespace garra::mcp
