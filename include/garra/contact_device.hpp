// Contact problems and linear complementarity problems whose arrays are on the GPU already: nothing is copied to the
// host and back (docs/howto/gpu-arrays.md). The numbers are those of contact.hpp and lcp.hpp, to the bit.
#pragma once

#include "garra/batch/resident.hpp"
#include "garra/contact.hpp"
#include "garra/lcp.hpp"

namespace garra::contact {

/// As ProblemView. Contacts slide where their direction is not (0, 0): a unit vector (t, o); null: all may roll.
struct DeviceProblems {
  int contacts = 0;
  std::int64_t count = 0;
  DeviceArray<const double> A;                    ///< [count][3k 3k] 1/kg
  DeviceArray<const double> b;                    ///< [count][3k]    m/s^2
  DeviceArray<const double> mu;                   ///< [count][k]
  DeviceArray<const double> slip_direction = {};  ///< [count][2k]
};

/// As Solutions; what is null is not stored, and verdicts that nobody wants are not computed.
struct DeviceSolutions {
  DeviceArray<double> c = {}, a = {};  ///< [count][3k]
  DeviceArray<double> residual = {}, contact_residual = {}, minimum = {}, projected_gradient = {};
  DeviceArray<Status> status = {};
  DeviceArray<std::int32_t> iterations = {}, evaluations = {}, inner = {}, products = {}, stage = {}, stalls = {};
  DeviceArray<double> merit = {}, friction_margin = {}, critical_friction = {};
  DeviceArray<ContactState> state = {};  ///< [count][k]
};

/// solve() of contact.hpp. Problems whose contacts all slide and that the method leaves unsolved are not exhausted:
/// they stay `stalled`, and none is called `no_solution`. Method lemke is lcp::solve() below; neither wanted nor starts
/// of merit methods beyond 1, nor count_solutions are known here. Throws Error where the workspace is too small, the
/// method has no kernel, or CUDA refuses.
void solve(const DeviceProblems& problems, const Options& options, const DeviceSolutions& to, const DeviceCall& call);
/// Bytes of workspace that this call takes. Runs nothing.
[[nodiscard]] std::size_t workspace_bytes(const DeviceProblems& problems, const Options& options,
                                          const DeviceSolutions& to, int device = 0);

/// judge() of contact.hpp: `c` are forces [count][3k] that anyone found.
void judge(const DeviceProblems& problems, const DeviceArray<const double>& c, double tol, const DeviceSolutions& to,
           const DeviceCall& call);
[[nodiscard]] std::size_t judge_workspace_bytes(const DeviceProblems& problems, const DeviceSolutions& to,
                                                int device = 0);

}  // namespace garra::contact

namespace garra::lcp {

/// As Problems.
struct DeviceProblems {
  int size = 0;
  std::int64_t count = 0;
  DeviceArray<const double> M;  ///< [count][size size]
  DeviceArray<const double> q;  ///< [count][size]
};
/// As Solutions; what is null is not stored.
struct DeviceSolutions {
  DeviceArray<double> z = {}, w = {};  ///< [count][size]
  DeviceArray<double> residual = {};
  DeviceArray<std::int32_t> pivots = {};
  DeviceArray<Status> status = {};
};

void solve(const DeviceProblems& problems, const Options& options, const DeviceSolutions& to, const DeviceCall& call);
[[nodiscard]] std::size_t workspace_bytes(const DeviceProblems& problems, const Options& options,
                                          const DeviceSolutions& to, int device = 0);

}  // namespace garra::lcp
