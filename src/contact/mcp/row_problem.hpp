// One row of a batch in the form that the merit functions take (garra/solvers/mncp.hpp).
#pragma once

#include "garra/core/heap_mat.hpp"
#include "garra/solvers/mncp.hpp"

namespace garra::mcp {

using Numbers = Vec<double, kAnyUnknowns>;
using Matrix = Mat<double, kAnyUnknowns, kAnyUnknowns>;

/// What the compiled merit functions and minimizers see of a problem (pairs.hpp).
class AnyRow {
 public:
  virtual ~AnyRow() = default;
  virtual const Numbers& value(const Numbers& x) = 0;
  virtual const Matrix& jacobian(const Numbers& x) = 0;
  /// H += sum_k w_k (second derivatives of F_k); without it they count as 0.
  virtual void add_curvature(const Numbers&, const Numbers&, Matrix&) {}
  [[nodiscard]] virtual double low(int i) const = 0;
  [[nodiscard]] virtual double high(int i) const = 0;
  /// Whether the numbers of the problem are finite.
  [[nodiscard]] virtual bool usable() const = 0;
};

/// A Row has the functions of AnyRow. U stands for the number of unknowns, which is known at run time.
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
  GARRA_HD static void add_curvature(const Given& d, const Vec<double, U>& x, const Vec<double, U>& w,
                                     Mat<double, U, U>& H) {
    if constexpr (requires { d.row->add_curvature(x, w, H); }) d.row->add_curvature(x, w, H);
  }
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
