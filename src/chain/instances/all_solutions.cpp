#include <cstring>

#include "base/row_tiles.hpp"
#include "chain/branches/ways.hpp"
#include "garra/batch/rows_run.hpp"

namespace garra::chain {

namespace {

using branches::kLoop, branches::kMost;
using Found = branches::Solutions<double>;

constexpr std::int64_t kWidth = sizeof(Solution) / sizeof(double), kComplete = kMost * kWidth + 1;
static_assert(kWidth == rows::kSide && kComplete + 1 == batch::kFields<double, Found>);

/// Moves the solutions of a pose to the front of its places, which `to.all` has filled.
void keep_solutions(std::size_t pose, std::size_t slots, SolutionRows& to) {
  const std::size_t begin = pose * slots;
  std::size_t end = begin;
  for (std::size_t k = begin; k < begin + slots; ++k) {
    if (!(to.all[k].residual >= 0)) continue;
    if (end < k) to.all[end] = to.all[k];
    ++end;
  }
  to.begin[pose] = begin, to.end[pose] = end;
}

/// Tiles of poses that leave solutions in rows.
class SolutionTiles : public batch::RowTiles<branches::AllSolutionsOp::In<double>, Found> {
 public:
  SolutionTiles(const batch::Rows& job, std::int64_t most, SolutionRows& to, std::size_t slots)
      : RowTiles(job, most), to_(to), slots_(slots) {}

  void drain(const batch::RowRange& poses) {
    const int stride = static_cast<int>(kWidth) * static_cast<int>(slots_);
    for (std::int64_t n = 0; n < poses.count; ++n) {
      const auto pose = static_cast<std::size_t>(poses.first + n);
      const double* field = batch::tile_at<double, Found>(out(), n);
      to_.complete[pose] = field[kComplete * batch::kTile];
      // Eight poses at a time, of which the first is here.
      for (std::size_t k = 0; n % rows::kSide == 0 && k < slots_; ++k, field += kWidth * batch::kTile)
        for (int f = 0; f < rows::kSide; f += 4)
          rows::block_from_tile(field + f * batch::kTile, stride, to_.all[pose * slots_ + k].q.m + f);
      keep_solutions(pose, slots_, to_);
    }
  }

 private:
  SolutionRows& to_;
  std::size_t slots_;
};

}  // namespace

void run_all_solutions(const branches::AllSolutionsOp& op, std::span<const double> pose, const Device& device,
                       SolutionRows& out) {
  const std::size_t n = pose.size() / 16, slots = op.is_closed() ? branches::kClosed : kMost;
  out.all.resize((n + rows::kSide - 1) / rows::kSide * rows::kSide * slots);
  out.begin.resize(n), out.end.resize(n), out.complete.resize(n);
  batch::Rows job{static_cast<std::int64_t>(n), {batch::in_column(pose, 16)}, {}, device};
  if (device.executor == Executor::kCuda) {
    constexpr int kNumbers = batch::kFields<double, Found>;
    std::vector<double> found(n * kNumbers);
    job.out = {batch::out_column(found, kNumbers)};
    batch::on_device(device, op, job);
    for (std::size_t k = 0; k < n; ++k) {
      const double* row = &found[k * kNumbers];
      std::memcpy(&out.all[k * slots], row, slots * sizeof(Solution));
      out.complete[k] = row[kComplete];
      keep_solutions(k, slots, out);
    }
    return;
  }
  constexpr std::int64_t kPoses = 32;  // at once: their tile stays in the first cache
  batch::run_tiles(
      job, kPoses, [&](std::int64_t most) { return SolutionTiles(job, most, out, slots); },
      [&](SolutionTiles& tiles, std::int64_t count) {
        batch::for_each(device.executor, count,
                        batch::RowsKernel<branches::AllSolutionsOp>{op, tiles.in(), tiles.out()});
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
