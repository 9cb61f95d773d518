// The kernel of a system of one's own: a file that nvcc compiles (with the flags of docs/gpu.md) includes this and says
//   template struct garra::batch::Kernels<garra::study::SystemBody<MySystem>, std::int64_t>;
// and SystemStudy<MySystem> of the program that it is linked into has it.
#pragma once

#include "garra/batch/on_device.cuh"
#include "garra/study/system_body.hpp"

namespace garra::study {

/// `count` samples; body.rows is memory of the host.
template <class System>
void run_kernels(const Device&, const SystemBody<System>& body, std::int64_t count) {
  using Row = SystemRow<double, System::kInputs, System::kOutputs>;
  cuda::Buffer<double> rows(batch::tiles_for(count) * batch::kTile * batch::kFields<double, Row>);
  SystemBody<System> on_device = body;
  on_device.rows = rows.data();
  cuda::for_each(count, on_device);
  rows.download(body.rows);
}

}  // namespace garra::study
