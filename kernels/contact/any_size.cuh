// One kernel for all sizes of a method that minimizes a merit function: the number of contacts is known at run time,
// and the state and large matrices are in device memory.
#pragma once

#include <new>

#include "contact/batch/solvers.hpp"
#include "contact/tiles.cuh"
#include "garra/batch/for_each.cuh"
#include "garra/core/large.hpp"

namespace garra {

/// Stands for a number of contacts known at run time, at most kThreadCapacity, as kAnyContacts does on the host:
/// vectors of D numbers per contact have D * kThreadContacts.
inline constexpr int kThreadContacts = -(1 << 16);
inline constexpr int kThreadCapacity = 8;
template <int N>
requires(N <= kThreadContacts) inline constexpr int kCapacity<N> = N / kThreadContacts * kThreadCapacity +
                                                                   (N % kThreadContacts == 0 ? 0 : 1);  // kOneMore

/// Number of contacts and free memory of a thread, as ContactsInUse and large.hpp have them on the host.
struct ThreadMemory {
  int contacts;
  unsigned char *next, *end;  ///< device memory
};
/// This thread's own. In shared memory, where functions that are called find it.
__device__ inline ThreadMemory& thread_memory() {
  __shared__ ThreadMemory memory[cuda::kThreads];
  return memory[threadIdx.x];
}
template <int = 0>
GARRA_HD constexpr int thread_contacts() {
#if defined(__CUDA_ARCH__)
  return thread_memory().contacts;
#else
  return 0;  // never reached on the host
#endif
}

template <>
GARRA_HD constexpr int extent<kThreadContacts>() {
  return thread_contacts<>();
}
template <>
GARRA_HD constexpr int extent<2 * kThreadContacts>() {
  return 2 * thread_contacts<>();
}
template <>
GARRA_HD constexpr int extent<3 * kThreadContacts>() {
  return 3 * thread_contacts<>();
}
template <>
GARRA_HD constexpr int extent<4 * kThreadContacts>() {
  return 4 * thread_contacts<>();
}
template <>
GARRA_HD constexpr int extent<5 * kThreadContacts>() {
  return 5 * thread_contacts<>();
}
template <>
GARRA_HD constexpr int extent<6 * kThreadContacts>() {
  return 6 * thread_contacts<>();
}
template <>
GARRA_HD constexpr int extent<8 * kThreadContacts>() {
  return 8 * thread_contacts<>();
}
template <>
GARRA_HD constexpr int extent<kOneMore<6 * kThreadContacts>>() {
  return 6 * thread_contacts<>() + 1;
}

/// On a GPU in the thread's memory.
template <class T>
requires kSizedAtRunTime<T>
class Large<T> {
 public:
  template <class Make>
  GARRA_HD explicit Large(const Make& make) : value_(::new (take()) T(make())) {}
  GARRA_HD ~Large() {
#if defined(__CUDA_ARCH__)
    thread_memory().next -= kBytes;
#else
    large_detail::give_back();
#endif
  }
  Large(const Large&) = delete;
  Large& operator=(const Large&) = delete;
  GARRA_HD T& operator*() { return *value_; }
  GARRA_HD const T& operator*() const { return *value_; }

 private:
  static constexpr std::size_t kBytes = (sizeof(T) + 15) / 16 * 16;
  static GARRA_HD void* take() {
#if defined(__CUDA_ARCH__)
    ThreadMemory& memory = thread_memory();
    unsigned char* const at = memory.next;
    memory.next += kBytes;
    if (memory.next > memory.end) __trap();
    return at;
#else
    return large_detail::take(sizeof(T));
#endif
  }

  T* value_;
};

namespace contact {

/// IterateKernel for any number of contacts up to kThreadCapacity.
template <class Solver>
struct AnySizeKernel {
  static constexpr int N = kThreadContacts;
  using State = typename Solver::template State<double, N>;
  /// The problem, as given and scaled; states of the current and the next start; J, H, curvature, the Jacobian of F
  /// and G.
  static constexpr std::int64_t kRoom =
      2 * sizeof(solvers::Scaled<double, N>) + 2 * sizeof(State) + 5 * sizeof(Mat<double, 8 * N, 8 * N>);
  IterateKernel<Solver, N> job;
  unsigned char* room;  ///< kRoom bytes of each problem from `first` on
  std::int64_t first;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
#if defined(__CUDA_ARCH__)
    thread_memory() = {job.contacts, room + i * kRoom, room + (i + 1) * kRoom};
#endif
    const Large problem([&] { return load_problem<S, N>(job.problems, job.sliding, first + i, job.contacts); });
    // In place: nvcc elides the copy of a result whose type is written, not of one that is deduced.
    Large state([&] { return job.solver.template start<S, N>(*problem); });
    if (!(solvers::friction_problem_detail::defects(*problem) == S(0))) (*state).running = S(0);
    while (any(job.solver.running(*state))) job.solver.step(*state);
    batch::store<S>(job.candidates, first + i, job.solver.candidate(*state));
  }
};

/// The iteration of such a method: on as many problems at once as take 2 GB.
template <class Minimizer, class Merit, int N>
void iterate_any_size(const IterateKernel<solvers::FrictionMerit<Minimizer, Merit>, N>& iterate, std::int64_t count) {
  using Solver = solvers::FrictionMerit<Minimizer, Merit>;
  using Body = AnySizeKernel<Solver>;
  static_assert(N <= kThreadCapacity);
  constexpr std::int64_t kAtOnce = (std::int64_t{1} << 31) / Body::kRoom / cuda::kThreads * cuda::kThreads;
  const std::int64_t together = std::min(count, kAtOnce);
  const cuda::Buffer<unsigned char> room(together * Body::kRoom);
  const IterateKernel<Solver, kThreadContacts> job{iterate.solver,     iterate.problems, iterate.sliding,
                                                   iterate.candidates, iterate.guesses,  iterate.contacts};
  for (std::int64_t first = 0; first < count; first += together)
    cuda::for_each(std::min(together, count - first), Body{job, room.data(), first});
}

/// Registers the kernels of a pair for every kind of batch.
template <Merit M, Minimizer Z>
struct PairKernels {
  static const bool are_linked;
};
template <Merit M, Minimizer Z>
const bool PairKernels<M, Z>::are_linked =
    batch::announce<PairMethod<M, Z>, HostBatch>() && batch::announce<PairMethod<M, Z>, DeviceBatch>() &&
    batch::announce<PairMethod<M, Z>, DeviceTiles>();

}  // namespace contact
}  // namespace garra
