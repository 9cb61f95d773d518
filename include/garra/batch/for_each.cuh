// The executor `cuda`: one thread per problem runs the body that the scalar executor runs. Contains
// the only __global__ function. For files that nvcc compiles.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "garra/batch/devices.hpp"
#include "garra/core/error.hpp"
#include "garra/core/hd.hpp"

namespace garra::cuda {

inline constexpr int kThreads = 64;  ///< per block: the bodies are register-bound, so small blocks fill an SM best

// At least one block per multiprocessor: without this bound the assembler gave the largest bodies
// 32 registers and spilled 45 kB.
template <class Body>
__global__ void __launch_bounds__(kThreads, 1) for_each_kernel(const __grid_constant__ Body body, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) body.template operator()<double>(i);
}

/// Every kernel of the program, for callers that load kernels before they are needed. A kernel is
/// listed where for_each() is compiled for it.
inline std::vector<const void*>& all_kernels() {
  static std::vector<const void*> kernels;
  return kernels;
}
template <class Body>
inline const bool kListed = (all_kernels().push_back(reinterpret_cast<const void*>(for_each_kernel<Body>)), true);

/// The remedy after an error. Every later call returns a sticky error, as of a failed kernel.
inline const char* find_remedy() {
  cudaGetLastError();
  const bool sticks = cudaFree(nullptr) != cudaSuccess;
  return sticks
             ? "this process cannot use the GPU any more: start it again (`garra resume` goes on), or use --device cpu"
             : "use --device cpu";
}
/// Throws Error(kNoDevice) with the driver's message, or OutOfDeviceMemory if memory ran out.
inline void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  const std::string said = std::string("CUDA: ") + doing + ": " + cudaGetErrorString(status);
  if (status != cudaErrorMemoryAllocation) throw Error(ExitCode::kNoDevice, said, find_remedy());
  cudaGetLastError();  // otherwise the next launch would report it
  throw OutOfDeviceMemory(ExitCode::kNoDevice, said, "free memory on the GPU, or use --device cpu");
}

/// A call on arrays of the device (resident.hpp): the caller's stream, and the caller's memory in
/// place of cudaMalloc. There is one per thread, used by every Buffer and launch below the call.
struct Call {
  cudaStream_t stream = nullptr;
  std::byte* memory = nullptr;
  std::size_t bytes = 0;  ///< of `memory`
  std::size_t used = 0;
  std::size_t most = 0;      ///< largest `used` so far
  bool counts_only = false;  ///< nothing runs: `most` is the memory that the call would take

  std::byte* take(std::size_t wanted) {
    constexpr std::size_t kAlignment = 256;  // as cudaMalloc
    std::byte* const at = memory + used;
    used += (wanted + kAlignment - 1) / kAlignment * kAlignment;
    most = std::max(most, used);
    if (!counts_only && used > bytes)
      throw Error(ExitCode::kUsage, "a workspace of " + std::to_string(bytes) + " bytes is too small for this call",
                  "ask workspace_bytes() how large it must be");
    return at;
  }
};
inline thread_local Call* current_call = nullptr;

inline cudaStream_t current_stream() { return current_call == nullptr ? nullptr : current_call->stream; }
inline bool only_counts() { return current_call != nullptr && current_call->counts_only; }

/// The memory that a device's pool has and no Buffer holds [bytes]; 0 where it has no pools.
inline std::uint64_t idle_memory(int device) {
  cudaMemPool_t pool = nullptr;
  std::uint64_t reserved = 0, used = 0;
  if (cudaDeviceGetDefaultMemPool(&pool, device) != cudaSuccess ||
      cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved) != cudaSuccess ||
      cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return reserved - used;
}
/// Keeps returned memory in the device's pool until the process ends: cudaMalloc takes longer than
/// many a batch, and waits for the GPU.
inline void keep_memory(int device) {
  cudaMemPool_t pool = nullptr;
  std::uint64_t all = ~std::uint64_t{0};
  if (cudaDeviceGetDefaultMemPool(&pool, device) != cudaSuccess ||
      cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all) != cudaSuccess)
    cudaGetLastError();
}

/// Returns the idle memory of the device's pool to the driver. False if there is no pool.
inline bool return_idle_memory() {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  const bool done = cudaGetDevice(&device) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess &&
                    cudaDeviceGetDefaultMemPool(&pool, device) == cudaSuccess &&
                    cudaMemPoolTrimTo(pool, 0) == cudaSuccess;
  if (!done) cudaGetLastError();
  return done;
}
/// Calls launch(), again if the driver had no memory for the kernel's stacks: the pool holds it.
template <class Launch>
cudaError_t launched(const Launch& launch) {
  launch();
  cudaError_t status = cudaGetLastError();
  if (status == cudaErrorMemoryAllocation && return_idle_memory()) {
    launch();
    status = cudaGetLastError();
  }
  return status;
}

/// Owning device memory of doubles (or of objects of type T). Within a Call it comes from the
/// caller's workspace, and returns to it if the buffers are released in reverse order.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::int64_t count) : count_(count) {
    if (current_call != nullptr) {
      before_ = current_call->used;
      data_ = reinterpret_cast<T*>(current_call->take(bytes()));
    } else if (count > 0) {
      allocate();
    }
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (current_call != nullptr)
      current_call->used = std::min(current_call->used, before_);
    else if (data_ != nullptr)
      is_pooled_ ? cudaFreeAsync(data_, nullptr) : cudaFree(data_);
  }
  [[nodiscard]] T* data() const { return data_; }
  void upload(const T* host) { upload(host, count_); }
  void download(T* host) const { download(host, count_); }
  /// Copies the first `count` only.
  void upload(const T* host, std::int64_t count) {
    copy(data_, host, count, cudaMemcpyHostToDevice, "copying to the GPU");
  }
  void download(T* host, std::int64_t count) const {
    copy(host, data_, count, cudaMemcpyDeviceToHost, "copying from the GPU");
  }
  /// Appends the first `count` to `to`.
  void append_to(std::vector<T>& to, std::int64_t count) const {
    const std::size_t before = to.size();
    to.resize(before + static_cast<std::size_t>(count));
    if (count > 0) download(to.data() + before, count);
  }
  /// Sets all bytes to 0.
  void clear() {
    if (only_counts() || count_ == 0) return;
    check(cudaMemsetAsync(data_, 0, bytes(), current_stream()), "clearing memory");
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }
  // Host memory that is not pinned has been read when cudaMemcpyAsync returns.
  void copy(T* to, const T* from, std::int64_t count, cudaMemcpyKind kind, const char* doing) const {
    if (only_counts()) return;
    const std::size_t size = static_cast<std::size_t>(count) * sizeof(T);
    check(current_call == nullptr ? cudaMemcpy(to, from, size, kind)
                                  : cudaMemcpyAsync(to, from, size, kind, current_call->stream),
          doing);
  }
  void allocate() {
    void* at = nullptr;
    cudaError_t status = cudaMallocAsync(&at, bytes(), nullptr);
    is_pooled_ = status != cudaErrorNotSupported;
    if (!is_pooled_) {
      cudaGetLastError();
      status = cudaMalloc(&at, bytes());
    }
    check(status, "allocating memory");
    data_ = static_cast<T*>(at);
  }

  std::int64_t count_;
  bool is_pooled_ = false;
  std::size_t before_ = 0;
  T* data_ = nullptr;
};

/// A body that lies in device memory, as one that a kernel can take as a parameter.
template <class Body>
struct Resident {
  const Body* body;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    body->template operator()<S>(i);
  }
};

// Limit of a kernel's parameters [bytes]; CUDA 12.0 allows 4,096.
template <class Body>
inline constexpr bool kFitsParameters = sizeof(Body) <= 4000;

/// Runs body.operator()<double>(i) for i = 0 .. count - 1. A body too large for a kernel's
/// parameters is copied to device memory; the call then waits, unless that memory is the caller's.
template <class Body>
void for_each(std::int64_t count, const Body& body) {
  if (count == 0) return;
  if constexpr (kFitsParameters<Body>) {
    static_cast<void>(kListed<Body>);
    if (only_counts()) return;
    const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
    check(launched([&] { for_each_kernel<<<blocks, kThreads, 0, current_stream()>>>(body, count); }),
          "starting a kernel");
  } else {
    Buffer<Body> resident(1);
    resident.upload(&body);
    for_each(count, Resident<Body>{resident.data()});
    if (current_call == nullptr) check(cudaDeviceSynchronize(), "running a kernel");
  }
}

/// How many threads the device can hold at once.
inline std::uint64_t threads_at_once(int device) {
  int processors = 0, threads = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "asking for multiprocessors");
  check(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device), "asking for threads");
  return static_cast<std::uint64_t>(processors) * static_cast<std::uint64_t>(threads);
}

/// Local memory that the driver sets aside for the kernel of this body [bytes]: for every thread that the device can
/// hold at once, whatever the launch has.
template <class Body>
std::uint64_t measure_stack(int device) {
  using Launched = std::conditional_t<kFitsParameters<Body>, Body, Resident<Body>>;
  cudaFuncAttributes kernel;
  check(cudaFuncGetAttributes(&kernel, for_each_kernel<Launched>), "asking for a kernel's attributes");
  return std::uint64_t{kernel.localSizeBytes} * threads_at_once(device);
}

/// Memory that a batch takes on the device [bytes].
struct Memory {
  std::uint64_t each;    ///< per problem
  std::uint64_t stacks;  ///< measure_stack() the largest kernel, and all else that does not grow with the number of
                         ///< problems
};

/// Number of problems that fit, in whole blocks, as garra::how_many_fit(): into half of the memory
/// that is free beside the stacks of their kernel.
inline std::int64_t how_many_fit(const Device& device, const Memory& needed) {
  const std::int64_t without = garra::how_many_fit(device, needed.each);
  // Half of the stacks, counted in problems and rounded to whole blocks.
  constexpr std::uint64_t kBlock = 1024;
  const auto taken = static_cast<std::int64_t>((needed.stacks / (2 * needed.each) + kBlock) / kBlock * kBlock);
  if (needed.stacks > 0 && taken >= without)
    throw Error(ExitCode::kNoDevice,
                "not enough free memory on " + describe(device) + " for what a batch takes whatever its size, " +
                    std::to_string(needed.stacks) + " bytes",
                "free memory there, or use another --device");
  return needed.stacks == 0 ? without : without - taken;
}

}  // namespace garra::cuda
