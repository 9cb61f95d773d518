// What a GPU can do at best, measured when the program starts, as bench/measured_peak.hpp does for a core.
#pragma once

namespace garra::bench {

struct GpuPeak {
  double flops;  ///< fp64 operations per second, a multiply-add being two
  double bytes;  ///< bytes per second to and from its memory, a copy of a large array being two
};
/// Of device 0. `share` of the full work: a simulated GPU needs little.
[[nodiscard]] GpuPeak measured_gpu_peak(double share);

/// Seconds until an empty kernel has run that was never launched before: of a process, loading the kernels included.
[[nodiscard]] double first_launch_seconds();

}  // namespace garra::bench
