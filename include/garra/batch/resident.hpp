// Operations on arrays that are already on the GPU: pointers and strides in and out, on the
// caller's stream, with the caller's memory. Defines the public types and the job that the host
// passes to the kernels; rows.cuh runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "garra/batch/on_device.hpp"

namespace garra {

/// Stride of problems that lie one right after another.
inline constexpr std::int64_t kPacked = -1;

/// Numbers in GPU memory: number f of problem i is data[i * row + f * number]. Null: absent.
template <class T>
struct DeviceArray {
  T* data = nullptr;
  std::int64_t row = kPacked;  ///< from one problem to the next; 0: all problems share one row
  std::int64_t number = 1;     ///< from one number of a problem to the next; with row = 1: the count, one field after
                               ///< another
};

/// The stream and the memory of a call on arrays of the device. The call allocates nothing, waits
/// for nothing and returns when its work is queued; the stream then computes the results.
struct DeviceCall {
  int device = 0;
  void* stream = nullptr;     ///< a cudaStream_t; null: the default stream
  void* workspace = nullptr;  ///< GPU memory reserved for this call until then, aligned to 256 bytes
  std::size_t bytes = 0;      ///< size of `workspace`: workspace_bytes() of the same arrays, or more
};

}  // namespace garra

namespace garra::batch {

/// `width` numbers of every row: doubles, or whole numbers of `bytes` bytes.
struct DeviceColumn {
  void* data = nullptr;
  int width = 1;
  int bytes = sizeof(double);
  std::int64_t row = 0, number = 1;
};
template <class T>
DeviceColumn device_column(const DeviceArray<T>& array, int width) {
  static_assert(std::is_same_v<std::remove_const_t<T>, double> || sizeof(T) == 1 || sizeof(T) == 4);
  return {const_cast<std::remove_const_t<T>*>(array.data), width, sizeof(T), array.row == kPacked ? width : array.row,
          array.number};
}

/// A batch of rows on the device; columns as those of Rows. If `needed` is given nothing runs:
/// `needed` is set to the bytes of workspace that the call takes.
struct ResidentRows {
  std::int64_t count = 0;
  std::vector<DeviceColumn> in, out;
  DeviceCall call;
  std::size_t* needed = nullptr;
};

/// Runs an operation of rows.hpp on device rows. Throws Error(kNoDevice) if it has no kernels.
template <class Op>
void run_resident(const Op& op, const ResidentRows& job) {
  on_device({Executor::kCuda, 0, job.call.device}, op, job);
}

}  // namespace garra::batch
