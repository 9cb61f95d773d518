// Several GPUs that share the work of a study.
#pragma once

#include <string>
#include <vector>

#include "garra/batch/device.hpp"

namespace garra {

/// What parse_device() knows, and "cuda:0,1" or "cuda:all": several GPUs, each once, in this order. Throws as that
/// does.
[[nodiscard]] std::vector<Device> parse_devices(const std::string& name, int threads = 0);

/// "NVIDIA H200 (cuda:0), NVIDIA H200 (cuda:1)"
[[nodiscard]] std::string describe(const std::vector<Device>& devices);

}  // namespace garra
