#include "contact/mcp/affine.hpp"

#include <algorithm>

#include "contact/mcp/affine_problem.hpp"
#include "contact/mcp/bounds.hpp"
#include "garra/batch/parallel.hpp"

namespace garra::mcp {

namespace {

std::size_t index(std::int64_t k) { return static_cast<std::size_t>(k); }

void check_affine(const AffineProblems& in) {
  const std::size_t rows = index(in.count) * index(in.size), n = index(in.size);
  if (in.size < 1 || in.M.size() != rows * n || in.q.size() != rows || in.start.size() != rows)
    throw Error(ExitCode::kUsage, "mcp: M, q and start do not have the shapes [count, size, size] and [count, size]");
  check_bounds(in.lower, in.upper, in.count, in.size);
}

AffineEnd run_method(AffineMethod method, const AffineRow& row, const AffineOptions& options, const double* start) {
  if (method == AffineMethod::kLemke) return run_lemke(row, options);
  if (method == AffineMethod::kInteriorPoint) return run_interior_point(row, options);
  return run_affine_newton(row, options, method == AffineMethod::kPivoting, start);
}

/// e(x) of docs/theory/mcp.md (2), and F.
double largest_error(const AffineRow& row, const double* x, double* F) {
  double error = 0;
  for (int i = 0; i < row.n; ++i) {
    F[i] = row.value(i, x);
    const double e = std::max(std::min(F[i], x[i] - row.lower[i]), x[i] - row.upper[i]);
    error = std::max(error, std::abs(e)) + (F[i] - F[i]) + (x[i] - x[i]);  // NaN if a number is NaN or infinite
  }
  return error;
}

void solve_row(const AffineRow& row, const AffineOptions& options, const double* start, std::int64_t k,
               Solutions& out) {
  std::vector<AffineMethod> methods{options.method};
  if (options.method == AffineMethod::kAuto)
    methods = {AffineMethod::kPivoting, AffineMethod::kSemismoothNewton, AffineMethod::kLemke,
               AffineMethod::kInteriorPoint};
  const auto n = index(row.n);
  double* const x = out.x.data() + index(k) * n;
  double* const F = out.FG.data() + index(k) * n;
  out.residual[index(k)] = NAN;
  out.status[index(k)] = Status::kInvalidInput;
  std::fill_n(x, n, NAN);
  std::fill_n(F, n, NAN);
  if (!row.usable() || !std::all_of(start, start + n, [](double a) { return std::isfinite(a); })) return;
  std::vector<double> values(n);
  for (const AffineMethod method : methods) {
    const AffineEnd end = run_method(method, row, options, start);
    const double error = largest_error(row, end.x.data(), values.data());
    out.outer[index(k)] += end.steps;
    out.method[index(k)] = static_cast<std::int32_t>(method);
    if (!(error >= out.residual[index(k)])) out.residual[index(k)] = error;
    out.status[index(k)] = end.reason == Status::kConverged ? Status::kStalled : end.reason;
    if (error <= options.tolerance) {
      out.residual[index(k)] = error;
      out.status[index(k)] = Status::kConverged;
      std::copy_n(end.x.data(), n, x);
      std::copy_n(values.data(), n, F);
      return;
    }
    if (end.reason == Status::kNoSolution) return;
  }
}

}  // namespace

Solutions solve_affine(const AffineProblems& in, const AffineOptions& options, const Device& device) {
  check_affine(in);
  if (device.executor == Executor::kCuda)
    throw Error(ExitCode::kNoDevice, "mcp: affine problems with bounds run on the CPU", "Use device \"cpu\".");
  Solutions out;
  out.unknowns = in.size;
  out.count = in.count;
  const std::size_t count = index(in.count), n = index(in.size);
  out.x.resize(count * n);
  out.FG.resize(count * n);
  out.residual.resize(count);
  out.status.resize(count);
  out.outer.resize(count);
  out.method.resize(count);
  const auto threads = std::clamp<std::int64_t>(in.count, 1, solve_threads(device));
  batch::parallel_for(static_cast<int>(threads), in.count, [&](std::int64_t k) {
    const std::size_t first = index(k) * n;
    const AffineRow row{in.size, in.M.data() + first * n, in.q.data() + first, in.lower.data() + first,
                        in.upper.data() + first};
    solve_row(row, options, in.start.data() + first, k, out);
  });
  return out;
}

}  // namespace garra::mcp
