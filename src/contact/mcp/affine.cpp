#include "contact/mcp/affine.hpp"

#include <algorithm>

#include "contact/mcp/affine_problem.hpp"
#include "contact/mcp/bounds.hpp"
#include "garra/batch/on_device.hpp"
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

/// Runs one method. Returns whether the problem is finished.
bool run_method(AffineMethod method, const AffineRow& row, const AffineOptions& options, const double* start,
                AffineAnswer& out) {
  if (method == AffineMethod::kPivoting || method == AffineMethod::kSemismoothNewton) {
    const SizesInUse sizes(row.n, 0);
    return AffineNewton<kAnyUnknowns>(options).run(method, row, start, out);
  }
  const AffineEnd end = method == AffineMethod::kLemke ? run_lemke(row, options) : run_interior_point(row, options);
  out.method = static_cast<int>(method);
  out.steps += end.steps;
  return out.take(row, end.x.data(), end.reason, options.tolerance);
}

void solve_row(const AffineRow& row, const AffineOptions& options, const double* start, AffineAnswer& out) {
  if (!out.begin(row, start)) return;
  if (options.method != AffineMethod::kAuto) {
    run_method(options.method, row, options, start, out);
    return;
  }
  for (const AffineMethod method :
       {AffineMethod::kPivoting, AffineMethod::kSemismoothNewton, AffineMethod::kLemke, AffineMethod::kInteriorPoint})
    if (run_method(method, row, options, start, out)) return;
}

void solve_on_gpu(const AffineProblems& in, const AffineOptions& options, const Device& device, Solutions& out) {
  if (in.size > kMostKernelUnknowns || options.method == AffineMethod::kLemke ||
      options.method == AffineMethod::kInteriorPoint)
    throw Error(ExitCode::kNoDevice,
                "mcp: " + std::string(kAffineMethods[static_cast<int>(options.method)]) + " with " +
                    std::to_string(in.size) + " unknowns has no CUDA kernel",
                "auto, pivoting and semismooth-newton have one for up to " + std::to_string(kMostKernelUnknowns) +
                    " unknowns; use device \"cpu\".");
  using batch::in_column, batch::out_column;
  const int n = in.size;
  const batch::Rows rows{in.count,
                         {in_column(in.M, n * n), in_column(in.q, n), in_column(in.lower, n), in_column(in.upper, n),
                          in_column(in.start, n)},
                         {out_column(out.x, n), out_column(out.FG, n), out_column(out.residual), out_column(out.status),
                          out_column(out.outer), out_column(out.method)},
                         device};
  batch::on_device(device, DeviceAffine{n, options}, rows);
}

}  // namespace

Solutions solve_affine(const AffineProblems& in, const AffineOptions& options, const Device& device) {
  check_affine(in);
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
  if (device.executor == Executor::kCuda) {
    solve_on_gpu(in, options, device, out);
    return out;
  }
  const auto threads = std::clamp<std::int64_t>(in.count, 1, solve_threads(device));
  batch::parallel_for(static_cast<int>(threads), in.count, [&](std::int64_t k) {
    const std::size_t first = index(k) * n;
    const AffineRow row{in.size, in.M.data() + first * n, in.q.data() + first, in.lower.data() + first,
                        in.upper.data() + first};
    AffineAnswer answer{out.x.data() + first, out.FG.data() + first};
    solve_row(row, options, in.start.data() + first, answer);
    out.residual[index(k)] = answer.residual;
    out.status[index(k)] = answer.status;
    out.outer[index(k)] = answer.steps;
    out.method[index(k)] = answer.method;
  });
  return out;
}

}  // namespace garra::mcp
