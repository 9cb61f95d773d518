// The fallback solvers after Newton on the GPU for up to eight contacts (newton.cuh): a separate
// kernel, since few problems need it. The matrices are in device memory: on stacks of 11 to 97 kB
// the driver would reserve them for every thread that the device can hold, 3 to 26 GB.
#include "contact/batch/fallback.hpp"
#include "contact/solve.cuh"

namespace garra::contact {
namespace {

/// Runs FallbackKernel on every `together`-th problem from that of thread t on.
template <int N>
struct FarFallbackKernel {
  static constexpr int kEntries = 9 * N * N;
  static constexpr int kMatrices = 2 + solvers::kFallbackMatrices + solvers::kPolishMatrices;
  using Problem = solvers::FrictionProblem<double, N, 3, FarMat<double, 3 * N, 3 * N, batch::kTile>>;
  FallbackKernel<N> job;
  double* room;  ///< kMatrices of each thread, interleaved in tiles
  std::int64_t count, together;

  template <class S>
  GARRA_HD void operator()(std::int64_t t) const {
    for (std::int64_t i = t; i < count; i += together)
      if (job.template waits<S>(i)) go_on(t, i);
  }

 private:
  GARRA_HD void go_on(std::int64_t t, std::int64_t i) const {
    Problem problem, aside;
    problem.A.at = room + t / batch::kTile * (kMatrices * kEntries * batch::kTile) + t % batch::kTile;
    aside.A.at = problem.A.at + (1 + solvers::kFallbackMatrices) * kEntries * batch::kTile;
    job.go_on(i, problem, aside);
  }
};

}  // namespace

template <int N>
void fallback_on_device(const IterateKernel<solvers::FrictionNewton, N>& job, bool newton, std::int64_t count) {
  using Body = FarFallbackKernel<N>;
  // As many threads as fit into 128 MB: 25,890 of three contacts, 3,640 of eight.
  constexpr std::int64_t kEach = Body::kMatrices * Body::kEntries;
  constexpr std::int64_t kAtOnce = (std::int64_t{1} << 27) / (8 * kEach) / batch::kTile * batch::kTile;
  const std::int64_t together = std::min(batch::tiles_for(count) * batch::kTile, kAtOnce);
  const cuda::Buffer<double> room(together * kEach);
  cuda::for_each(together, Body{FallbackKernel<N>(job, newton), room.data(), count, together});
}
template void fallback_on_device(const IterateKernel<solvers::FrictionNewton, 1>&, bool, std::int64_t);
template void fallback_on_device(const IterateKernel<solvers::FrictionNewton, 2>&, bool, std::int64_t);
template void fallback_on_device(const IterateKernel<solvers::FrictionNewton, 3>&, bool, std::int64_t);
template void fallback_on_device(const IterateKernel<solvers::FrictionNewton, 4>&, bool, std::int64_t);
template void fallback_on_device(const IterateKernel<solvers::FrictionNewton, 5>&, bool, std::int64_t);
template void fallback_on_device(const IterateKernel<solvers::FrictionNewton, 6>&, bool, std::int64_t);
template void fallback_on_device(const IterateKernel<solvers::FrictionNewton, 7>&, bool, std::int64_t);
template void fallback_on_device(const IterateKernel<solvers::FrictionNewton, 8>&, bool, std::int64_t);

}  // namespace garra::contact
