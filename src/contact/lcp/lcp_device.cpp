// lcp::solve on arrays that are on the GPU already.
#include "contact/lcp/lcp_kernel.hpp"
#include "garra/batch/rows.hpp"
#include "garra/contact_device.hpp"
#include "garra/core/error.hpp"

namespace garra::lcp {

namespace {

void run(const DeviceProblems& in, const Options& options, const DeviceSolutions& to, const DeviceCall& call,
         std::size_t* needed) {
  using batch::device_column;
  if (in.size < 1 || in.size > kMaxKernelSize || in.count < 0)
    throw Error(ExitCode::kUsage, std::to_string(in.count) + " problems of " + std::to_string(in.size) + " pairs",
                "between 1 and " + std::to_string(kMaxKernelSize) + " pairs are supported");
  if (in.count == 0) return;
  if (in.M.data == nullptr || in.q.data == nullptr) throw Error(ExitCode::kUsage, "M or q is a null pointer");
  const int k = in.size;
  const batch::ResidentRows rows{in.count,
                                 {device_column(in.M, k * k), device_column(in.q, k)},
                                 {device_column(to.z, k), device_column(to.w, k), device_column(to.residual, 1),
                                  device_column(to.pivots, 1), device_column(to.status, 1)},
                                 call,
                                 needed};
  const solvers::Lemke solver{options.tolerance, options.max_pivots};
  batch::with_size<kMaxKernelSize>(k, [&](auto size) { batch::run_resident(SolveOp<size>{solver}, rows); });
}

}  // namespace

void solve(const DeviceProblems& problems, const Options& options, const DeviceSolutions& to, const DeviceCall& call) {
  run(problems, options, to, call, nullptr);
}

std::size_t workspace_bytes(const DeviceProblems& problems, const Options& options, const DeviceSolutions& to,
                            int device) {
  std::size_t needed = 0;
  run(problems, options, to, {.device = device}, &needed);
  return needed;
}

}  // namespace garra::lcp
