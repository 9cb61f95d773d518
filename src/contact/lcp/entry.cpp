#include "base/room.hpp"
#include "contact/lcp/arrays.hpp"
#include "contact/lcp/batch.hpp"
#include "garra/batch/rows_run.hpp"
#include "garra/lcp.hpp"

namespace garra::lcp {

Solutions solve(const Problems& problems, const Options& options, const Device& device) {
  check_sizes(problems);
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
  // max_pivots = 0 takes the bound n 2^(n-1) of docs/lcp.md.
  const solvers::Lemke solver{options.tol, options.max_pivots};
  using batch::in_column, batch::out_column;
  const int width = problems.size;
  const batch::Rows rows{problems.count,
                         {in_column(problems.M, width * width), in_column(problems.q, width)},
                         {out_column(out.z, width), out_column(out.w, width), out_column(out.residual),
                          out_column(out.pivots), out_column(out.status)},
                         device};
  batch::with_size<kMaxSize>(width, [&](auto size) { batch::run_rows(SolveOp<size>{solver}, rows); });
  return out;
}

}  // namespace garra::lcp
