// Motions of platforms on the GPU: one thread per sample runs the body of the scalar executor. A
// batch is split into chunks, whose arrays are copied there and back, or are already there.
#include <algorithm>

#include "garra/batch/on_device.cuh"
#include "garra/batch/packed.cuh"
#include "platform/full_simulate.cuh"
#include "platform/simulate/simulate_on_device.hpp"

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

/// Kernel of a run of either kind, and its stacks. The body is in device memory: a function that is
/// not inlined would make every thread copy the parameters that it takes.
template <class Run, bool kOwn>
struct Kernel {
  using Body = MotionKernel<Run, kOwn>;
  static void run(std::int64_t count, const Body* body) {
    if constexpr (std::is_same_v<Run, FullMotionRun>)
      full_on_device<kOwn>(count, body);
    else
      cuda::for_each(count, cuda::Resident<Body>{body});
  }
  static std::uint64_t stacks(int device) {
    if constexpr (std::is_same_v<Run, FullMotionRun>)
      return full_stacks<kOwn>(device);
    else
      return cuda::measure_stack<cuda::Resident<Body>>(device);
  }
};

/// Calls use(Kernel) for the job's kind of run.
template <class Use>
auto with_kernel(const MotionJob& job, const Use& use) {
  const bool own = job.own_plants();
  if (job.setup.full) return own ? use(Kernel<FullMotionRun, true>{}) : use(Kernel<FullMotionRun, false>{});
  return own ? use(Kernel<MotionRun, true>{}) : use(Kernel<MotionRun, false>{});
}

template <class Run, bool kOwn>
void simulate_chunk(const Kernel<Run, kOwn>& kernel, const MotionJob& job, MotionRows& rows, std::int64_t first,
                    std::int64_t count) {
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
  const MotionKernel<Run, kOwn> body{{job.setup, a}};
  const OnDevice<MotionKernel<Run, kOwn>> resident(&body, 1);
  kernel.run(count, resident.data());
  if (numbers > 0) trajectory.download(rows.trajectory().data());
  end.download(rows.end().data());
  rows.give_back(first, count);
}

// --- starts on the GPU
// ----------------------------------------------------------------------------

/// Copies the starts of a chunk into tiles.
struct StartKernel {
  batch::DeviceColumn position, quaternion, velocity, wrench;
  batch::RowRange rows;
  const double* force;  ///< of each sample, `force_numbers`; null: shared
  std::int64_t force_numbers;
  double* starts;

  template <int N>
  GARRA_HD Vec<double, N> read_row(const batch::DeviceColumn& column, std::int64_t i) const {
    Vec<double, N> v = Vec<double, N>::zero();
    if (column.data == nullptr) return v;
    for (int k = 0; k < N; ++k) v[k] = batch::read_number(column, rows.first + i, k);
    return v;
  }
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    bool forces = true;
    for (std::int64_t k = 0; force != nullptr && k < force_numbers; ++k)
      forces = forces && is_finite(force[i * force_numbers + k]);
    const auto start = motion_start({read_row<3>(position, i), read_row<4>(quaternion, i)}, read_row<6>(velocity, i),
                                    read_row<6>(wrench, i), forces);
    batch::store<double>(starts, i, start);
  }
};

template <class Run>
void simulate_there(const DeviceMotionJob& there) {
  using Body = MotionKernel<Run, false>;
  const MotionJob& job = there.job;
  const batch::ResidentCall call(there.call, there.needed);
  const std::int64_t outputs = job.outputs(), each = job.force_numbers(1);
  const std::int64_t most = batch::samples_at_once(job.count, outputs * kMotionFields + kEndFields);
  const OnDevice<MotionSpan> spans(job.spans.data(), static_cast<std::int64_t>(job.spans.size()));
  const OnDevice<double> shared(job.force->force.data(), job.own_force ? 0 : each);
  const cuda::Buffer<double> own(job.own_force ? most * each : 0),
      starts(batch::tiles_for(most) * batch::kTile * static_cast<std::int64_t>(sizeof(MotionStart<double>) / 8)),
      trajectory(most * outputs * kMotionFields), end(most * kEndFields);
  cuda::Buffer<Body> resident(1);
  for (std::int64_t first = 0; first < job.count; first += most) {
    const batch::RowRange rows{first, std::min(most, job.count - first)};
    batch::pack(there.force, rows, {own.data(), each, static_cast<int>(each), 0});
    cuda::for_each(rows.count, StartKernel{there.position, there.quaternion, there.velocity, there.wrench, rows,
                                           job.own_force ? own.data() : nullptr, each, starts.data()});
    batch::fill_with_nan(trajectory.data(), rows.count * outputs * kMotionFields);
    batch::fill_with_nan(end.data(), rows.count * kEndFields);
    const Body body{
        {job.setup,
         {rows.count, static_cast<std::int64_t>(job.spans.size()), outputs, job.force_rows, job.own_force, nullptr,
          starts.data(), job.own_force ? own.data() : shared.data(), spans.data(), trajectory.data(), end.data()}}};
    resident.upload(&body);
    Kernel<Run, false>::run(rows.count, resident.data());
    batch::unpack_parts(trajectory.data(), outputs, kMotionFields, rows, there.trajectory);
    batch::unpack_parts(end.data(), 1, kEndFields, rows, there.end);
  }
}

}  // namespace

void run_kernels(const Device&, const DeviceMotionJob& there) {
  there.job.setup.full ? simulate_there<FullMotionRun>(there) : simulate_there<MotionRun>(there);
}

void run_kernels(const Device&, const MotionJob& job) {
  const auto numbers = static_cast<std::uint64_t>(job.outputs() * kMotionFields + kEndFields +
                                                  (job.own_force ? job.force_rows * kLegs : 0)) +
                       sizeof(MotionStart<double>) / 8 + (job.own_plants() ? sizeof(MotionPlant<double>) / 8 : 0);
  const std::uint64_t stacks = with_kernel(job, [&](const auto& kernel) { return kernel.stacks(job.device.index); });
  const std::int64_t most = std::min<std::int64_t>(
      {cuda::how_many_fit(job.device, cuda::Memory{8 * numbers, stacks}), job.count, std::int64_t{1} << 18});
  MotionRows rows(job, most);
  for (std::int64_t first = 0; first < job.count; first += most) {
    const std::int64_t count = std::min(most, job.count - first);
    with_kernel(job, [&](const auto& kernel) { simulate_chunk(kernel, job, rows, first, count); });
  }
}

}  // namespace garra::platform

template struct garra::batch::Kernels<garra::platform::MotionJob>;
template struct garra::batch::Kernels<garra::platform::DeviceMotionJob>;
