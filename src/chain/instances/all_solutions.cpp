#include "chain/branches/ways.hpp"
#include "garra/batch/rows_run.hpp"

namespace garra::chain {

namespace {

using branches::kLoop, branches::kMost;

/// The solutions of pose n, from numbers at every `stride`-th place.
void take_solutions(const double* field, std::int64_t stride, std::size_t n, SolutionRows& to) {
  constexpr std::int64_t kResidual = kMost * kLoop, kUnique = kResidual + kMost, kCount = kUnique + kMost;
  to.begin[n] = n * kMost;
  to.end[n] = to.begin[n] + static_cast<std::size_t>(field[kCount * stride]);
  to.complete[n] = field[(kCount + 1) * stride];
  for (std::int64_t k = 0; k < std::int64_t(to.count(n)); ++k) {
    Solution& one = to.all[to.begin[n] + static_cast<std::size_t>(k)];
    for (int i = 0; i < kLoop; ++i) one.q[i] = field[(k * kLoop + i) * stride];
    one.residual = field[(kResidual + k) * stride];
    one.unique = field[(kUnique + k) * stride];
    one.family = false;
  }
}

/// Tiles of poses that leave solutions in rows.
class SolutionTiles : public batch::RowTiles<branches::AllSolutionsOp::In<double>, branches::Solutions<double>> {
 public:
  SolutionTiles(const batch::Rows& job, std::int64_t most, SolutionRows& to) : RowTiles(job, most), to_(to) {}

  void drain(const batch::RowRange& rows) {
    for (std::int64_t row = 0; row < rows.count; ++row)
      take_solutions(batch::tile_at<double, branches::Solutions<double>>(out().data(), row), batch::kTile,
                     static_cast<std::size_t>(rows.first + row), to_);
  }

 private:
  SolutionRows& to_;
};

}  // namespace

void run_all_solutions(const branches::AllSolutionsOp& op, std::span<const double> pose, const Device& device,
                       SolutionRows& out) {
  const std::size_t n = pose.size() / 16;
  out.all.resize(n * kMost);
  out.begin.resize(n), out.end.resize(n), out.complete.resize(n);
  batch::Rows job{static_cast<std::int64_t>(n), {batch::in_column(pose, 16)}, {}, device};
  if (device.executor == Executor::kCuda) {
    constexpr int kNumbers = batch::kFields<double, branches::Solutions<double>>;
    std::vector<double> rows(n * kNumbers);
    job.out = {batch::out_column(rows, kNumbers)};
    batch::on_device(device, op, job);
    for (std::size_t k = 0; k < n; ++k) take_solutions(&rows[k * kNumbers], 1, k, out);
    return;
  }
  constexpr std::int64_t kPoses = 32;  // at once: their tile stays in the first cache
  batch::run_tiles(
      job, kPoses, [&](std::int64_t most) { return SolutionTiles(job, most, out); },
      [&](SolutionTiles& tiles, std::int64_t count) {
        batch::for_each(device.executor, count,
                        batch::RowsKernel<branches::AllSolutionsOp>{op, tiles.in().data(), tiles.out().data()});
      });
}

void run_hold(const branches::HoldOp& op, std::span<const double> pose, const Device& device,
              std::span<Solution> solutions) {
  using batch::in_column, batch::out_column;
  std::vector<double> q, residual(solutions.size()), unique(solutions.size());
  for (const Solution& one : solutions) q.insert(q.end(), one.q.m, one.q.m + kLoop);
  std::vector<double> found(q.size());
  batch::run_rows_on_host(op, {static_cast<std::int64_t>(solutions.size()),
                               {in_column(pose, 16), in_column(q, kLoop)},
                               {out_column(found, kLoop), out_column(residual), out_column(unique)},
                               device});
  for (std::size_t k = 0; k < solutions.size(); ++k) {
    std::copy_n(&found[k * kLoop], kLoop, solutions[k].q.m);
    solutions[k].residual = residual[k], solutions[k].unique = unique[k];
  }
}

}  // namespace garra::chain
