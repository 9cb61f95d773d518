// The kernels of a user-defined system: a file that nvcc compiles (with the flags of
// docs/howto/gpu.md) includes this file and contains the line
//   template struct garra::batch::Kernels<garra::study::SystemKernel<MySystem>, garra::study::RowsToCount>;
// SystemStudy<MySystem> of the program that links it then has the kernels.
#pragma once

#include "garra/batch/on_device.cuh"
#include "garra/study/counter.cuh"
#include "garra/study/row_counting.hpp"
#include "garra/study/system_body.hpp"

namespace garra::study {

/// Draws, computes and counts the samples where they are.
template <class System>
void run_kernels(const Device& device, const SystemKernel<System>& body, const RowsToCount& task) {
  using Row = SystemRow<double, System::kInputs, System::kOutputs>;
  constexpr int kFields = batch::kFields<double, Row>;
  const std::int64_t batch =
      counter_cuda::choose_batch_size(device, task.tally.count, kFields * sizeof(double), task.sizes);
  cuda::Buffer<Histogram> output(task.counting.outputs);
  cuda::Buffer<Distribution> input(task.counting.inputs);
  output.upload(task.counting.output);
  input.upload(task.counting.input);
  cuda::Buffer<double> rows(batch::tiles_for(batch) * batch::kTile * kFields);
  SystemKernel<System> samples = body;
  samples.rows = rows.data();
  RowCounting counting = task.counting;
  counting.output = output.data();
  counting.input = input.data();
  counting.rows = rows.data();
  counter_cuda::count_in_batches(task.sizes, batch, task.tally, [&](std::int64_t first, std::int64_t count) {
    samples.first = counting.first = first;
    cuda::for_each(count, samples);
    return counting;
  });
}

}  // namespace garra::study
