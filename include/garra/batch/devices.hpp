// Several GPUs that share the work of a study, and the error of a GPU that runs out of memory.
#pragma once

#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/core/error.hpp"

namespace garra {

/// Memory allocation on a GPU failed although the size fitted into the free half: another process
/// has taken memory meanwhile. A smaller batch may succeed.
class OutOfDeviceMemory : public Error {
 public:
  using Error::Error;
};

/// Parses every name that parse_device() accepts, and "cuda:0,1" or "cuda:all": several GPUs, each
/// once, in this order. Throws as parse_device().
[[nodiscard]] std::vector<Device> parse_devices(const std::string& name, int threads = 0);

/// "NVIDIA H200 (cuda:0), NVIDIA H200 (cuda:1)"
[[nodiscard]] std::string describe(const std::vector<Device>& devices);

}  // namespace garra
