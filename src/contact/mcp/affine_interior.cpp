// Interior points for monotone affine problems (docs/theory/mcp.md, 8): Newton steps on
//
//   M x + q - z + y = 0,   (x_i - l_i) z_i = sigma mu,   (u_i - x_i) y_i = sigma mu
//
// that stop short of the bounds. S. J. Wright, "Primal-Dual Interior-Point Methods", 1997, chapter 8.
#include <algorithm>

#include "contact/mcp/affine_problem.hpp"
#include "garra/solvers/mcp/semismooth_newton.hpp"

namespace garra::mcp {

namespace {

/// The pairs of one side: distances to the bound and multipliers; both 1 where there is no bound.
struct Side {
  std::vector<double> gap, multiplier;
  std::vector<bool> bounded;

  void start(std::size_t i, double distance, double force) {
    gap[i] = distance;
    multiplier[i] = force;
    bounded[i] = true;
  }
  explicit Side(int n)
      : gap(static_cast<std::size_t>(n), 1), multiplier(gap), bounded(static_cast<std::size_t>(n), false) {}
  /// Lowers the longest step that keeps gap + t d_gap and multiplier + t d_multiplier positive.
  void limit(std::size_t i, double d_gap, double d_multiplier, double& t) const {
    if (!bounded[i]) return;
    if (d_gap < 0) t = std::min(t, -0.995 * gap[i] / d_gap);
    if (d_multiplier < 0) t = std::min(t, -0.995 * multiplier[i] / d_multiplier);
  }
};

class InteriorPoint {
 public:
  explicit InteriorPoint(const AffineRow& row)
      : row_(row), lower_(row.n), upper_(row.n), x_(static_cast<std::size_t>(row.n)) {
    double size = 1;
    for (int i = 0; i < row.n; ++i) size = std::max(size, std::abs(row.q[i]));
    for (int i = 0; i < row.n; ++i) {
      const double l = row.lower[i], u = row.upper[i];
      const auto k = static_cast<std::size_t>(i);
      const bool low = l > -INFINITY, high = u < INFINITY;
      x_[k] = low && high ? 0.5 * (l + u) : low ? l + 1 : high ? u - 1 : 0;
      if (l == u) continue;
      if (low) lower_.start(k, x_[k] - l, size);
      if (high) upper_.start(k, u - x_[k], size);
    }
  }

  /// Largest |max(min(F_i, x_i - l_i), x_i - u_i)|.
  [[nodiscard]] double error() const {
    double error = 0;
    for (int i = 0; i < row_.n; ++i) {
      const double x = x_[static_cast<std::size_t>(i)];
      error =
          std::max(error, std::abs(std::max(std::min(row_.value(i, x_.data()), x - row_.lower[i]), x - row_.upper[i])));
    }
    return error;
  }
  [[nodiscard]] const std::vector<double>& x() const { return x_; }

  /// Returns false where the equations are singular or the step has no length.
  bool step() {
    const double target = sigma_ * mean_product();
    Matrix K;
    std::copy_n(row_.M, Matrix::count(), K.m);
    Numbers d;
    for (int i = 0; i < row_.n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double z = pull(lower_, k), y = pull(upper_, k);
      d[i] = -row_.value(i, x_.data());
      if (lower_.bounded[k]) d[i] += target / lower_.gap[k];
      if (upper_.bounded[k]) d[i] -= target / upper_.gap[k];
      K(i, i) += z + y;
      if (row_.lower[i] != row_.upper[i]) continue;
      for (int j = 0; j < row_.n; ++j) K(i, j) = i == j ? 1 : 0;
      d[i] = 0;
    }
    if (!solvers::semismooth_newton::solve_in_place(K, d)) return false;
    double t = 1;
    for (std::size_t k = 0; k < x_.size(); ++k) {
      lower_.limit(k, d[static_cast<int>(k)], change(lower_, k, target, d[static_cast<int>(k)]), t);
      upper_.limit(k, -d[static_cast<int>(k)], change(upper_, k, target, -d[static_cast<int>(k)]), t);
    }
    for (std::size_t k = 0; k < x_.size(); ++k) {
      const double dx = d[static_cast<int>(k)];
      const double dz = change(lower_, k, target, dx), dy = change(upper_, k, target, -dx);
      x_[k] = std::fma(t, dx, x_[k]);
      move(lower_, k, x_[k] - row_.lower[k], t * dz);
      move(upper_, k, row_.upper[k] - x_[k], t * dy);
    }
    sigma_ = t > 0.9 ? 0.05 : 0.4;
    return t > 1e-12;
  }

 private:
  static double pull(const Side& s, std::size_t k) { return s.bounded[k] ? s.multiplier[k] / s.gap[k] : 0; }
  /// Change of a multiplier where its gap changes by d.
  static double change(const Side& s, std::size_t k, double target, double d) {
    return s.bounded[k] ? target / s.gap[k] - s.multiplier[k] - s.multiplier[k] / s.gap[k] * d : 0;
  }
  static void move(Side& s, std::size_t k, double gap, double d) {
    if (!s.bounded[k]) return;
    s.gap[k] = std::max(gap, 1e-300);
    s.multiplier[k] += d;
  }
  [[nodiscard]] double mean_product() const {
    double sum = 0, count = 0;
    for (const Side* s : {&lower_, &upper_})
      for (std::size_t k = 0; k < x_.size(); ++k)
        if (s->bounded[k]) {
          sum += s->gap[k] * s->multiplier[k];
          count += 1;
        }
    return count > 0 ? sum / count : 0;
  }

  const AffineRow& row_;
  Side lower_, upper_;
  std::vector<double> x_;
  double sigma_ = 0.2;
};

}  // namespace

AffineEnd run_interior_point(const AffineRow& row, const AffineOptions& options) {
  const SizesInUse sizes(row.n, 0);
  InteriorPoint at(row);
  AffineEnd end{at.x(), Status::kIterationLimit, 0};
  const int most = options.max_iterations > 0 ? options.max_iterations : 200;
  while (end.steps < most && !(at.error() <= 0.5 * options.tolerance)) {
    ++end.steps;
    if (!at.step()) {
      end.reason = Status::kStalled;
      break;
    }
  }
  for (int i = 0; i < row.n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    end.x[k] = std::min(std::max(at.x()[k], row.lower[i]), row.upper[i]);
  }
  return end;
}

}  // namespace garra::mcp
