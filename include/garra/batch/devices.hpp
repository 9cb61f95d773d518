// Several GPUs that share the work of a study, and one that has less memory than it has said.
#pragma once

#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/core/error.hpp"

namespace garra {

/// A GPU gave no memory for what would have fitted into the half of it that was free: somebody else has taken it. Less
/// at once may do.
class OutOfDeviceMemory : public Error {
 public:
  using Error::Error;
};

/// What parse_device() knows, and "cuda:0,1" or "cuda:all": several GPUs, each once, in this order. Throws as that
/// does.
[[nodiscard]] std::vector<Device> parse_devices(const std::string& name, int threads = 0);

/// "NVIDIA H200 (cuda:0), NVIDIA H200 (cuda:1)"
[[nodiscard]] std::string describe(const std::vector<Device>& devices);

}  // namespace garra
