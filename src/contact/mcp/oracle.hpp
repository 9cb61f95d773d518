// A problem whose F and Jacobian are asked for.
#pragma once

#include <cmath>

#include "contact/mcp/fiber.hpp"
#include "contact/mcp/row_problem.hpp"

namespace garra::mcp {

/// One problem of a batch while it is solved. The number of unknowns may exceed `size`: the others are fixed at 0.
class Oracle final : public AnyRow {
 public:
  enum class Wish { kNothing, kValue, kJacobian };

  Oracle(Fiber& fiber, int size, const double* lower, const double* upper) : fiber_(fiber), size_(size) {
    for (int i = 0; i < extent<kAnyUnknowns>(); ++i) {
      lower_[i] = i < size ? lower[i] : 0;
      upper_[i] = i < size ? upper[i] : 0;
    }
    point_.fill();
    tried_.fill();
  }

  /// F at x, asked for unless it is known.
  const Numbers& value(const Numbers& x) override {
    if (point_.is(x)) return point_.F;
    if (!tried_.is(x)) ask(x);
    return tried_.F;
  }
  /// Derivatives at x.
  const Matrix& jacobian(const Numbers& x) override {
    if (has_jacobian_ && point_.is(x)) return J_;
    value(x);
    if (!point_.is(x)) std::swap(point_, tried_);
    has_jacobian_ = true;
    if (is_finite(x))
      wait_for(Wish::kJacobian, x);
    else
      std::fill_n(J_.m, Matrix::count(), NAN);
    return J_;
  }

  [[nodiscard]] double low(int i) const override { return lower_[i]; }
  [[nodiscard]] double high(int i) const override { return upper_[i]; }
  /// Whether F was finite at the first point asked for.
  [[nodiscard]] bool usable() const override { return valid_; }

  // For the caller of the fiber.
  [[nodiscard]] Wish wish() const { return wish_; }
  [[nodiscard]] const double* wanted() const { return wanted_->m; }
  void answer_value(const double* F) {
    for (int i = 0; i < extent<kAnyUnknowns>(); ++i) tried_.F[i] = i < size_ ? F[i] : 0;
  }
  void answer_jacobian(const double* J) {
    const int n = extent<kAnyUnknowns>();
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) J_(i, j) = i < size_ && j < size_ ? J[i * size_ + j] : 0;
  }

 private:
  struct Point {
    Numbers x, F;
    void fill() {
      std::fill_n(x.m, Numbers::count(), NAN);
      std::fill_n(F.m, Numbers::count(), NAN);
    }
    [[nodiscard]] bool is(const Numbers& y) const { return std::equal(x.m, x.m + Numbers::count(), y.m); }
  };

  static bool is_finite(const Numbers& x) {
    return std::all_of(x.m, x.m + Numbers::count(), [](double a) { return std::isfinite(a); });
  }
  void ask(const Numbers& x) {
    tried_.x = x;
    if (is_finite(x))
      wait_for(Wish::kValue, x);
    else
      std::fill_n(tried_.F.m, Numbers::count(), NAN);
    if (first_) valid_ = is_finite(tried_.F);
    first_ = false;
  }
  void wait_for(Wish wish, const Numbers& x) {
    wanted_ = &x;
    wish_ = wish;
    fiber_.wait();
    wish_ = Wish::kNothing;
  }

  Fiber& fiber_;
  int size_;
  Numbers lower_, upper_;
  Point point_;  ///< where the Jacobian is known
  Point tried_;  ///< the last one
  Matrix J_;
  bool has_jacobian_ = false, first_ = true, valid_ = true;
  Wish wish_ = Wish::kNothing;
  const Numbers* wanted_ = nullptr;
};

}  // namespace garra::mcp
