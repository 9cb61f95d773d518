// Runs one solver over a batch of friction contact problems on the requested executor. One translation unit per solver
// instantiates it (contact/instances), so that they compile in parallel.
#pragma once

#include <vector>

#include "contact/batch/arrays.hpp"
#include "contact/batch/contact_cuda.hpp"
#include "contact/batch/lanes.hpp"
#include "contact/batch/method.hpp"
#include "contact/batch/solvers.hpp"
#include "garra/batch/rows_run.hpp"

namespace garra::contact {

/// A batch to solve: problems, options, device, and the outputs. `out` has its sizes already.
struct Job {
  const ProblemView& in;
  const Options& options;
  const Device& device;
  Solutions& out;
  batch::Rows rows;                           ///< of FrictionProblem and FrictionSolution
  std::vector<batch::OutColumn> diagnostics;  ///< of ContactDiagnostics; empty: none is wanted
  const DeviceBatch* resident = nullptr;      ///< problems that are on the GPU already: in place of the arrays
};
/// Defined in rows.cpp, like all copies between plain arrays and tiles.
[[nodiscard]] Job make_job(const ProblemView& in, const Options& options, const Device& device, Solutions& out);

/// Problems per block: problems, candidates and solutions fit into the L2 cache, or take few megabytes.
inline constexpr std::int64_t block_size(int contacts) { return contacts > kMaxOwnSize ? 64 : 256; }

/// Tiles that a thread reuses for one block after another.
class Block : private ContactsInUse, public batch::RowTiles<Problem, Solution> {
 public:
  Block(const Job& job, std::int64_t most);
  /// Copies the problems of these rows into the tiles, with normalized slip directions.
  void fill(const batch::RowRange& rows);
  /// Copies the solutions out, with the wanted contact results.
  void drain(const batch::RowRange& rows);
  [[nodiscard]] const double* slips() const { return sliding_.count() > 0 ? sliding_.data() : nullptr; }
  [[nodiscard]] double* candidates() { return candidates_.data(); }

 private:
  const Job& job_;
  batch::Tiles<Slips> sliding_;
  batch::Tiles<solvers::Candidate<double, kAnyContacts>> candidates_;
};

/// Solves the blocks of a job by a method that iterates on tiles, each by one thread.
void solve_on_cpu(const Job& job);

/// Solves the arrays, as columns, on the GPU.
template <class Solver>
void solve_on_gpu(const Solver& solver, const Job& job) {
  const std::vector<double> slips = slip_directions(job.in, solve_threads(job.device));
  HostBatch all{job.in.contacts, job.options.tolerance, job.rows};
  all.rows.in.push_back(batch::in_column(slips, 2 * job.in.contacts));
  all.rows.out.insert(all.rows.out.end(), job.diagnostics.begin(), job.diagnostics.end());
  batch::on_device(job.device, solver, all);
}

/// First start of a pair and its number of starts, unless the options say otherwise; in contact_solve.cpp.
struct Starts {
  Start first;
  int most;
};
[[nodiscard]] Starts own_starts(const Pair& pair);

/// What a method is to solve: a whole batch, or tiles of the host.
struct MethodCall {
  const Options& options;
  const Job* job;        ///< null: tiles
  const TileJob* tiles;  ///< null: a batch

  /// Solves by `solver`, after setting the options that every solver has: tolerance and iteration limit.
  template <class Solver>
  void by(Solver solver) const {
    solver.tolerance = options.tolerance;
    // 0 leaves each solver its own limit.
    if (options.max_iterations > 0)
      solver.max_iterations = options.max_iterations;
    else if constexpr (requires { solver.full; })
      if (solver.full) solver.max_iterations = 1 << 30;
    if (tiles != nullptr && tiles->device.executor == Executor::kCuda)
      return batch::on_device(tiles->device, solver,
                              DeviceTiles{extent<kAnyContacts>(), tiles->problems, tiles->sliding, tiles->candidates,
                                          tiles->guesses, tiles->count, tiles->of_host});
    if (tiles != nullptr)
      return iterate(tiles->device.executor,
                     IterateKernel<Solver, kAnyContacts>{solver, tiles->problems, tiles->sliding, tiles->candidates,
                                                         tiles->guesses, extent<kAnyContacts>()},
                     tiles->count);
    if (job->resident != nullptr) return batch::on_device(job->device, solver, *job->resident);
    if (job->device.executor == Executor::kCuda) return solve_on_gpu(solver, *job);
    solve_on_cpu(*job);
  }
  /// The same for a merit function and a minimizer, which may begin again from other starts.
  template <Merit M, Minimizer Z>
  void by_pair() const {
    PairMethod<M, Z> solver;
    const Starts own = own_starts({M, Z});
    solver.starts = options.starts > 0 ? options.starts : own.most;
    const Start first = options.start == Start::kOwn ? own.first : options.start;
    solver.first = static_cast<solvers::FrictionStart>(static_cast<int>(first) - 1);
    by(solver);
  }
};

/// Step limit of semismooth Newton's method without restarts.
inline constexpr int kMaxOneStartSteps = 400;

/// Newton's method with the options of the method: with restarts and fallback solvers, or semismooth Newton's first
/// start alone, which shows what these are worth.
template <class Newton>
[[nodiscard]] Newton make_newton(const Options& options) {
  Newton solver;
  solver.restarts = options.method == Method::kAuto;
  solver.full = options.full_effort;
  // All steps in one start.
  if (!solver.restarts) solver.stage_steps = solver.max_iterations = kMaxOneStartSteps;
  return solver;
}

/// Runs the method of the job's options; defined in contact_solve.cpp.
void run_method(const Job& job);

// One function per Method, each in its own file.
void run_newton(const MethodCall& call);
void run_mixed(const MethodCall& call);  ///< the same, Precision::kMixed
void run_nsgs(const MethodCall& call);
void run_admm(const MethodCall& call);
void run_extragradient(const MethodCall& call);
void run_lemke(const MethodCall& call);
/// A merit function with the minimizer of the call's options; one file for each.
template <Merit M>
void run_merit(const MethodCall& call);

}  // namespace garra::contact
