// The kernel of a system of one's own: include this in a file that nvcc compiles (with the flags of docs/gpu.md), and
// hand run_system_on_gpu<MySystem> to SystemStudy.
#pragma once

#include "garra/batch/for_each.cuh"
#include "garra/study/system_body.hpp"

namespace garra::study {

/// `count` samples on the GPU number `device`; body.rows is memory of the host.
template <class System>
void run_system_on_gpu(const SystemBody<System>& body, std::int64_t count, int device) {
  using Row = SystemRow<double, System::kInputs, System::kOutputs>;
  cuda::check(cudaSetDevice(device), "choosing a device");
  cuda::Buffer<double> rows(batch::tiles_for(count) * batch::kTile * batch::kFields<double, Row>);
  SystemBody<System> on_device = body;
  on_device.rows = rows.data();
  cuda::for_each(count, on_device);
  rows.download(body.rows);
}

}  // namespace garra::study
