// Motions of platforms on the GPU: one thread per sample runs the body of the scalar executor.
#include <algorithm>

#include "garra/batch/on_device.cuh"
#include "platform/simulate/job.hpp"

namespace garra::platform {

namespace {

template <class T>
class OnDevice {
 public:
  OnDevice(const T* host, std::int64_t count) : buffer_(count) {
    if (count > 0) buffer_.upload(host);
  }
  [[nodiscard]] T* data() const { return buffer_.data(); }
  void download(T* host) const { buffer_.download(host); }

 private:
  cuda::Buffer<T> buffer_;
};

template <bool kOwn>
void simulate_chunk(const MotionJob& job, MotionRows& rows, std::int64_t first, std::int64_t count) {
  MotionArrays a = rows.take(first, count);
  const OnDevice<double> plants(a.plants, kOwn ? rows.plants().doubles() : 0);
  const OnDevice<double> starts(a.starts, rows.starts().doubles());
  const OnDevice<double> force(a.force, job.force_numbers(count));
  const OnDevice<MotionSpan> spans(a.span, a.spans);
  const auto numbers = static_cast<std::int64_t>(rows.trajectory().size());
  const OnDevice<double> trajectory(a.trajectory, numbers), end(a.end, static_cast<std::int64_t>(rows.end().size()));
  a.plants = plants.data();
  a.starts = starts.data();
  a.force = force.data();
  a.span = spans.data();
  a.trajectory = trajectory.data();
  a.end = end.data();
  // In memory for all threads: a function that is not inlined makes every thread copy what it takes of a parameter.
  const MotionBody<kOwn> body{{job.setup, a}};
  const OnDevice<MotionBody<kOwn>> resident(&body, 1);
  cuda::for_each(count, cuda::Resident<MotionBody<kOwn>>{resident.data()});
  if (numbers > 0) trajectory.download(rows.trajectory().data());
  end.download(rows.end().data());
  rows.give_back(first, count);
}

}  // namespace

void run_kernels(const Device&, const MotionJob& job) {
  const auto numbers = static_cast<std::uint64_t>(job.outputs() * kMotionFields + kEndFields +
                                                  (job.own_force ? job.force_rows * kLegs : 0)) +
                       sizeof(MotionStart<double>) / 8 + (job.own_plants() ? sizeof(MotionPlant<double>) / 8 : 0);
  const std::uint64_t stacks = job.own_plants() ? cuda::stacks_of<cuda::Resident<MotionBody<true>>>(job.device.index)
                                                : cuda::stacks_of<cuda::Resident<MotionBody<false>>>(job.device.index);
  const std::int64_t most = std::min<std::int64_t>(
      {cuda::how_many_fit(job.device, cuda::Memory{8 * numbers, stacks}), job.count, std::int64_t{1} << 18});
  MotionRows rows(job, most);
  for (std::int64_t first = 0; first < job.count; first += most) {
    const std::int64_t count = std::min(most, job.count - first);
    if (job.own_plants())
      simulate_chunk<true>(job, rows, first, count);
    else
      simulate_chunk<false>(job, rows, first, count);
  }
}

}  // namespace garra::platform

template struct garra::batch::Kernels<garra::platform::MotionJob>;
