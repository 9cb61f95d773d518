// One row of a batch in the form that the merit functions take (garra/solvers/mncp.hpp).
#pragma once

#include "garra/core/heap_mat.hpp"
#include "garra/solvers/mncp.hpp"

namespace garra::mcp {

using Numbers = Vec<double, kAnyUnknowns>;
using Matrix = Mat<double, kAnyUnknowns, kAnyUnknowns>;

/// A Row has value(x), jacobian(x), low(i), high(i) and usable(). Second derivatives of F count as 0.
template <class Row>
struct RowProblem {
  static constexpr int kComplementary = kAnyUnknowns, kFree = 0;
  template <class S>
  struct Data {
    Row* row;
  };
  using Given = Data<double>;

  static Numbers evaluate(const Given& d, const Numbers& x) { return d.row->value(x); }
  template <class S>
  static Matrix jacobian(const Given& d, const Numbers& x) {
    return d.row->jacobian(x);
  }
  template <class S>
  static void add_curvature(const Given&, const Numbers&, const Numbers&, Matrix&) {}
  template <class S>
  static double lower(const Given& d, int i) {
    return d.row->low(i);
  }
  template <class S>
  static double upper(const Given& d, int i) {
    return d.row->high(i);
  }
  template <class S>
  static bool valid(const Given& d) {
    return d.row->usable();
  }
};

}  // namespace garra::mcp
