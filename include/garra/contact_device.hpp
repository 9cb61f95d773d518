// Solves contact problems and linear complementarity problems whose arrays are in GPU memory,
// without copies to the host.
// Takes: device arrays A [n][3k 3k], b [n][3k], mu [n][k], or M [n][k k], q [n][k]; a stream and a
// workspace.
// Gives: the arrays of Solutions in GPU memory, with the bits of the host; null arrays are not
// stored. Calls return when their work is queued.
// Units and frames: as in contact.hpp and lcp.hpp: SI, contact axes (n, t, o), c is the force on
// the object, a_n > 0 separates.
// Bad input: misuse and a small workspace throw Error. A problem that fails has a Status and NaN
// forces.
// Not for: Method::kLemke, solution counts, several starts, proofs of kNoSolution (contact.hpp).
// Docs: docs/howto/gpu-arrays.md.
#pragma once

#include "garra/batch/resident.hpp"
#include "garra/contact.hpp"
#include "garra/lcp.hpp"

namespace garra::contact {

/// Contact problems in GPU memory, as ProblemView. A contact slides if slip_direction, the unit
/// vector (t, o) along its slip velocity (object minus finger), is not (0, 0). A null array means
/// that all contacts may roll.
struct DeviceProblems {
  int contacts = 0;
  std::int64_t count = 0;
  DeviceArray<const double> A;                    ///< [count][3k 3k] 1/kg
  DeviceArray<const double> b;                    ///< [count][3k]    m/s^2
  DeviceArray<const double> mu;                   ///< [count][k]
  DeviceArray<const double> slip_direction = {};  ///< [count][2k]
};

/// Solutions in GPU memory, as Solutions. Null arrays are not stored; state and friction margins
/// that are null are not computed.
struct DeviceSolutions {
  DeviceArray<double> c = {}, a = {};  ///< [count][3k]
  DeviceArray<double> residual = {}, contact_residual = {}, minimum = {}, projected_gradient = {};
  DeviceArray<Status> status = {};
  DeviceArray<std::int32_t> iterations = {}, evaluations = {}, inner = {}, products = {}, stage = {}, stalls = {};
  DeviceArray<double> merit = {}, friction_margin = {}, required_friction = {};
  DeviceArray<ContactState> state = {};  ///< [count][k]
};

/// Queues solve() of contact.hpp. Sliding problems are not enumerated: unsolved ones stay kStalled,
/// never kNoSolution.
/// @param problems A [n][3k 3k] in 1/kg, b [n][3k] in m/s^2, mu [n][k].
/// @param options as in contact.hpp, without kLemke and count_solutions; `wanted` is ignored and
///         one start is made.
/// @param to arrays to fill; null: not wanted.
/// @param call device, stream and workspace.
/// @throws Error kUsage for null inputs and options, kNoDevice without a kernel. A small workspace
///         and a CUDA error also throw.
void solve(const DeviceProblems& problems, const Options& options, const DeviceSolutions& to, const DeviceCall& call);
/// @return bytes of workspace for solve() with these arguments. Runs nothing.
[[nodiscard]] std::size_t workspace_bytes(const DeviceProblems& problems, const Options& options,
                                          const DeviceSolutions& to, int device = 0);

/// Queues check_solution() of contact.hpp.
/// @param c forces [n][3k] in N from any source.
/// @throws Error as solve().
void check_solution(const DeviceProblems& problems, const DeviceArray<const double>& c, double tolerance,
                    const DeviceSolutions& to, const DeviceCall& call);
/// @return bytes of workspace for check_solution() with these arguments. Runs nothing.
[[nodiscard]] std::size_t check_workspace_bytes(const DeviceProblems& problems, const DeviceSolutions& to,
                                                int device = 0);

}  // namespace garra::contact

namespace garra::lcp {

/// Linear complementarity problems in GPU memory, as Problems; at most kMaxKernelSize (8) pairs.
struct DeviceProblems {
  int size = 0;
  std::int64_t count = 0;
  DeviceArray<const double> M;  ///< [count][size size]
  DeviceArray<const double> q;  ///< [count][size]
};
/// Solutions in GPU memory, as Solutions. Null arrays are not stored.
struct DeviceSolutions {
  DeviceArray<double> z = {}, w = {};  ///< [count][size]
  DeviceArray<double> residual = {};
  DeviceArray<std::int32_t> pivots = {};
  DeviceArray<Status> status = {};
};

/// Queues solve() of lcp.hpp.
/// @throws Error kUsage for null inputs or more than kMaxKernelSize pairs; also for a small
///         workspace or a CUDA error.
void solve(const DeviceProblems& problems, const Options& options, const DeviceSolutions& to, const DeviceCall& call);
/// @return bytes of workspace for solve() with these arguments. Runs nothing.
[[nodiscard]] std::size_t workspace_bytes(const DeviceProblems& problems, const Options& options,
                                          const DeviceSolutions& to, int device = 0);

}  // namespace garra::lcp
