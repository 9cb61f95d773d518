#include "chain/branches/ways.hpp"
#include "garra/batch/rows_run.hpp"

namespace garra::chain {

SolutionRows run_all_solutions(const branches::AllSolutionsOp& op, std::span<const double> pose, const Device& device) {
  using batch::in_column, batch::out_column;
  using branches::kLoop, branches::kMost;
  const std::size_t n = pose.size() / 16;
  SolutionRows out{std::vector<double>(n * kMost * kLoop), std::vector<double>(n * kMost),
                   std::vector<double>(n * kMost), std::vector<double>(n), std::vector<double>(n)};
  batch::run_rows_on_host(op, {static_cast<std::int64_t>(n),
                               {in_column(pose, 16)},
                               {out_column(out.q, kMost * kLoop), out_column(out.residual, kMost),
                                out_column(out.unique, kMost), out_column(out.count), out_column(out.complete)},
                               device});
  return out;
}

SolutionRows run_hold(const branches::HoldOp& op, std::span<const double> pose, std::span<const double> q,
                      const Device& device) {
  using batch::in_column, batch::out_column;
  using branches::kLoop;
  const std::size_t n = pose.size() / 16;
  SolutionRows out{std::vector<double>(n * kLoop), std::vector<double>(n), std::vector<double>(n), {}, {}};
  batch::run_rows_on_host(op, {static_cast<std::int64_t>(n),
                               {in_column(pose, 16), in_column(q, kLoop)},
                               {out_column(out.q, kLoop), out_column(out.residual), out_column(out.unique)},
                               device});
  return out;
}

}  // namespace garra::chain
