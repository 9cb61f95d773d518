// Affine complementarity problems with bounds on the GPU: a thread per problem, one kernel for all sizes.
#include "contact/any_size.cuh"
#include "contact/mcp/affine_problem.hpp"
#include "garra/batch/rows.cuh"

namespace garra {

/// Stands for a number of unknowns known at run time: ThreadMemory::contacts.
inline constexpr int kThreadUnknowns = -(1 << 24);
template <>
inline constexpr int kCapacity<kThreadUnknowns> = mcp::kMostKernelUnknowns;
template <>
GARRA_HD constexpr int extent<kThreadUnknowns>() {
  return thread_contacts<>();
}

namespace mcp {
namespace {

struct AffineKernel {
  using Newton = AffineNewton<kThreadUnknowns>;
  /// J, its factors, J'J and the Jacobian of F.
  static constexpr std::int64_t kRoom = 5 * sizeof(Mat<double, kThreadUnknowns, kThreadUnknowns>);

  Newton newton;
  AffineMethod method;
  int n;
  const double *M, *q, *lower, *upper, *start;
  double *x, *F, *residual;
  Status* status;
  std::int32_t *steps, *used;
  unsigned char* room;  ///< kRoom bytes of each thread
  std::int64_t first;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
#if defined(__CUDA_ARCH__)
    thread_memory() = {n, room + i * kRoom, room + (i + 1) * kRoom};
#endif
    const std::int64_t k = first + i, at = k * n;
    const AffineRow row{n, M + at * n, q + at, lower + at, upper + at};
    AffineAnswer answer{x + at, F + at};
    if (answer.begin(row, start + at)) {
      const bool both = method == AffineMethod::kAuto;
      if (!newton.run(both ? AffineMethod::kPivoting : method, row, start + at, answer) && both)
        newton.run(AffineMethod::kSemismoothNewton, row, start + at, answer);
    }
    residual[k] = answer.residual;
    status[k] = answer.status;
    steps[k] = answer.steps;
    used[k] = answer.method;
  }
};

}  // namespace

void run_kernels(const Device&, const DeviceAffine& what, const batch::ResidentRows& rows) {
  constexpr std::int64_t kAtOnce = std::int64_t{1} << 13;
  const batch::ResidentCall call(rows);
  const std::int64_t together = std::min(rows.count, kAtOnce);
  const cuda::Buffer<unsigned char> room(together * AffineKernel::kRoom);
  const auto in = [&](std::size_t k) { return static_cast<const double*>(rows.in[k].data); };
  AffineKernel kernel{AffineKernel::Newton(what.options),
                      what.options.method,
                      what.unknowns,
                      in(0),
                      in(1),
                      in(2),
                      in(3),
                      in(4),
                      static_cast<double*>(rows.out[0].data),
                      static_cast<double*>(rows.out[1].data),
                      static_cast<double*>(rows.out[2].data),
                      static_cast<Status*>(rows.out[3].data),
                      static_cast<std::int32_t*>(rows.out[4].data),
                      static_cast<std::int32_t*>(rows.out[5].data),
                      room.data(),
                      0};
  for (; kernel.first < rows.count; kernel.first += together)
    cuda::for_each(std::min(together, rows.count - kernel.first), kernel);
}

void run_kernels(const Device& device, const DeviceAffine& what, const batch::Rows& job) {
  const std::int64_t n = what.unknowns, bytes = (n * n + 6 * n) * std::int64_t{sizeof(double)};
  const auto most = batch::as_many_as_fit(device, std::min(batch::kDeviceChunk, (std::int64_t{1} << 29) / bytes),
                                          cuda::measure_stack<AffineKernel>(device.index));
  batch::run_staged(job, most, [&](const batch::ResidentRows& rows) { run_kernels(device, what, rows); });
}

}  // namespace mcp
}  // namespace garra

template struct garra::batch::Kernels<garra::mcp::DeviceAffine, garra::batch::Rows>;
