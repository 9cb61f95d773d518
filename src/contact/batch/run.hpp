// Runs one solver over a batch of friction contact problems on the executor that was asked for. One translation unit
// per solver instantiates it (contact/instances), so that they compile side by side.
#pragma once

#include <vector>

#include "contact/batch/arrays.hpp"
#include "contact/batch/cuda.hpp"
#include "contact/batch/lanes.hpp"
#include "contact/batch/solvers.hpp"
#include "garra/batch/rows_run.hpp"

namespace garra::contact {

/// What is to be solved, how and where, and where the answers go. `out` has its sizes already.
struct Job {
  const ProblemView& in;
  const Options& options;
  const Device& device;
  Solutions& out;
  batch::Rows rows;                        ///< of FrictionProblem and FrictionSolution
  std::vector<batch::OutColumn> verdicts;  ///< of SolutionVerdict; empty: none is wanted
  const DeviceBatch* resident = nullptr;   ///< problems that are on the GPU already: in place of the arrays
};
/// In rows.cpp, as all between plain arrays and tiles.
[[nodiscard]] Job job_of(const ProblemView& in, const Options& options, const Device& device, Solutions& out);

/// Problems per block: problems, candidates and solutions stay in the L2 cache, or are few megabytes.
inline constexpr std::int64_t block_size(int contacts) { return contacts > kMaxOwnSize ? 64 : 256; }

/// Tiles that a thread uses for one block after another.
class Block : private ContactsInUse, public batch::RowTiles<Problem, Solution> {
 public:
  Block(const Job& job, std::int64_t most);
  /// Problems of these rows into the tiles, slip directions normalized.
  void fill(const batch::RowRange& rows);
  /// With the verdicts that are wanted.
  void drain(const batch::RowRange& rows);
  [[nodiscard]] const double* slips() const { return sliding_.count() > 0 ? sliding_.data() : nullptr; }
  [[nodiscard]] double* candidates() { return candidates_.data(); }

 private:
  const Job& job_;
  batch::Tiles<Slips> sliding_;
  batch::Tiles<solvers::Candidate<double, kAnyContacts>> candidates_;
};

/// Blocks of problems, each by one thread.
template <class Solver>
void solve_on_cpu(const Solver& solver, const Job& job) {
  const Executor executor = job.device.executor;
  const int contacts = job.in.contacts;
  batch::run_tiles(
      job.rows, block_size(contacts), [&](std::int64_t most) { return Block(job, most); },
      [&](Block& block, std::int64_t count) {
        // Iterate and certify the whole block before the next: all its tiles are still in the cache.
        const double* problems = block.in().data();
        iterate(
            executor,
            IterateBody<Solver, kAnyContacts>{solver, problems, block.slips(), block.candidates(), nullptr, contacts},
            count);
        certify_tiles(executor,
                      CertifyBody<kAnyContacts>{job.options.tol, problems, block.slips(), block.candidates(),
                                                block.out().data(), contacts},
                      count);
      });
}

/// The arrays as columns, through the GPU.
template <class Solver>
void solve_on_gpu(const Solver& solver, const Job& job) {
  const std::vector<double> slips = slip_directions(job.in, solve_threads(job.device));
  HostBatch all{job.in.contacts, job.options.tol, job.rows};
  all.rows.in.push_back(batch::in_column(slips, 2 * job.in.contacts));
  all.rows.out.insert(all.rows.out.end(), job.verdicts.begin(), job.verdicts.end());
  batch::on_device(job.device, solver, all);
}

/// Sets what every solver has: tolerance and iteration limit.
template <class Solver>
void solve_with(Solver solver, const Job& job) {
  solver.tol = job.options.tol;
  // 0 leaves each solver its own limit.
  if (job.options.max_iterations > 0)
    solver.max_iterations = job.options.max_iterations;
  else if constexpr (requires { solver.full; })
    if (solver.full) solver.max_iterations = 1 << 30;
  if (job.resident != nullptr) return batch::on_device(job.device, solver, *job.resident);
  if (job.device.executor == Executor::kCuda) return solve_on_gpu(solver, job);
  solve_on_cpu(solver, job);
}

/// Steps of semismooth Newton's method alone.
inline constexpr int kOneRung = 400;

/// Newton as the method wants it: with its ladder, or semismooth Newton's first rung alone, which shows what restarts
/// and the ladder are worth.
template <class Newton>
[[nodiscard]] Newton newton_of(const Options& options) {
  Newton solver;
  solver.ladder = options.method == Method::kAuto;
  solver.full = options.full_effort;
  // All steps on one rung.
  if (!solver.ladder) solver.stage_steps = solver.max_iterations = kOneRung;
  return solver;
}

/// By the method of the job's options, in entry.cpp.
void run_method(const Job& job);

// One per Method, each in its own file.
void run_newton(const Job& job);
void run_mixed(const Job& job);  ///< the same, Precision::kMixed
void run_nsgs(const Job& job);
void run_admm(const Job& job);
void run_extragradient(const Job& job);
void run_box_quacan(const Job& job);
void run_spg(const Job& job);
void run_projected_lm(const Job& job);
void run_fischer_burmeister(const Job& job);
void run_lemke(const Job& job);

}  // namespace garra::contact
