#include "base/room.hpp"
#include "contact/lcp/arrays.hpp"
#include "contact/lcp/lcp_kernel.hpp"
#include "garra/batch/rows_run.hpp"
#include "garra/lcp.hpp"

namespace garra::lcp {

namespace {

/// Tiles of one thread for a size that is known at run time only.
struct AnyTiles
    : private ContactsInUse,
      public batch::RowTiles<solvers::LcpProblem<double, kAnyContacts>, solvers::LcpSolution<double, kAnyContacts>> {
  AnyTiles(const batch::Rows& rows, int size, std::int64_t most) : ContactsInUse(size), RowTiles(rows, most) {}
};

void run_any_size(const solvers::Lemke& solver, int size, const batch::Rows& rows) {
  if (rows.device.executor == Executor::kCuda)
    throw Error(ExitCode::kNoDevice, "lemke has no CUDA kernel for " + std::to_string(size) + " pairs",
                "it has some for up to " + std::to_string(kMaxKernelSize) + "; use --device cpu");
  batch::run_tiles(
      rows, 64, [&](std::int64_t most) { return AnyTiles(rows, size, most); },
      [&](AnyTiles& tiles, std::int64_t count) {
        const batch::RowsKernel<SolveOp<kAnyContacts>> body{{solver}, tiles.in(), tiles.out()};
        batch::for_each(rows.device.executor, count, body);
      });
}

}  // namespace

Solutions solve(const Problems& problems, const Options& options, const Device& device) {
  check_sizes(problems, kMaxSize);
  Solutions out;
  out.size = problems.size;
  out.count = problems.count;
  const auto n = static_cast<std::size_t>(problems.count), k = static_cast<std::size_t>(problems.size);
  const int threads = solve_threads(device);
  make_room_for(out.z, n * k, threads);
  make_room_for(out.w, n * k, threads);
  out.residual.resize(n);
  out.pivots.resize(n);
  out.status.resize(n);
  // max_pivots = 0 takes the bound n 2^(n-1) of docs/theory/lcp.md.
  const solvers::Lemke solver{options.tolerance, options.max_pivots};
  using batch::in_column, batch::out_column;
  const int width = problems.size;
  const batch::Rows rows{problems.count,
                         {in_column(problems.M, width * width), in_column(problems.q, width)},
                         {out_column(out.z, width), out_column(out.w, width), out_column(out.residual),
                          out_column(out.pivots), out_column(out.status)},
                         device};
  if (width > kMaxKernelSize) {
    run_any_size(solver, width, rows);
    return out;
  }
  batch::with_size<kMaxKernelSize>(width, [&](auto size) { batch::run_rows(SolveOp<size>{solver}, rows); });
  return out;
}

}  // namespace garra::lcp
