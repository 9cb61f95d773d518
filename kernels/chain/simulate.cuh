// Simulations on the GPU: a batch in chunks, whose arrays are copied there and back. For files that nvcc compiles.
#pragma once

#include <algorithm>

#include "chain/simulate/setup.hpp"
#include "garra/batch/on_device.cuh"

namespace garra::chain {

namespace simulate_cuda {

using Numbers = cuda::Buffer<double>;

/// An array of the host, copied. A null pointer stays one.
class Input {
 public:
  Input(const double* host, std::int64_t count) : buffer_(host == nullptr ? 0 : count), there_(host != nullptr) {
    if (there_ && count > 0) buffer_.upload(host);
  }
  [[nodiscard]] const double* data() const { return there_ ? buffer_.data() : nullptr; }

 private:
  Numbers buffer_;
  bool there_;
};

template <class Body>
void simulate_chunk(const SimulateJob& job, SimulateRows& rows, std::int64_t first, std::int64_t count) {
  SimulateArrays a = rows.take(first, count);
  const std::int64_t numbers = count * job.robot.joints, stops = a.stops.count;
  const Input q(a.q, numbers), qd(a.qd, numbers), damping(a.damping, numbers), amplitude(a.amplitude, numbers);
  const Input t(a.stops.t, stops), h(a.stops.h, stops), steps(a.stops.steps, stops), output(a.stops.output, stops);
  const Input points(job.torque.points.data(), static_cast<std::int64_t>(job.torque.points.size()));
  const Input values(job.column_values.data(), static_cast<std::int64_t>(job.column_values.size()));
  cuda::Buffer<Column> columns(a.column_count);
  if (a.column_count > 0) columns.upload(a.columns);
  Numbers trajectory(static_cast<std::int64_t>(rows.trajectory().size())),
      summary(static_cast<std::int64_t>(rows.summary().size()));
  if (!rows.trajectory().empty()) trajectory.upload(rows.trajectory().data());
  a.q = q.data();
  a.qd = qd.data();
  a.damping = damping.data();
  a.amplitude = amplitude.data();
  // Columns of values run over all samples of the job; the chunk begins at its first one.
  a.values = values.data() == nullptr ? nullptr : values.data() + first;
  a.columns = columns.data();
  a.stops = {a.stops.count, t.data(), h.data(), steps.data(), output.data()};
  a.trajectory = trajectory.data();
  a.summary = summary.data();
  Body body{setup_of<Body::J>(job), a};
  // The law keeps a pointer into host memory, which the device cannot read.
  body.setup.law.points = points.data();
  cuda::for_each(a.count, body);
  if (!rows.trajectory().empty()) trajectory.download(rows.trajectory().data());
  summary.download(rows.summary().data());
  rows.give_back();
}

template <class Body>
void simulate_all(const SimulateJob& job) {
  const int n = job.robot.joints;
  const auto outputs = static_cast<std::uint64_t>(job.options.times.size());
  const std::uint64_t bytes =
      // Doubles of outputs, summary and four inputs (q, qd, damping, amplitude) per joint.
      8 * (outputs * trajectory_fields(n) + summary_fields(n) + 4 * n);
  // At most 2^18 samples, so that the host's rows of a chunk stay small, too.
  const std::int64_t fit = std::min<std::int64_t>(
      cuda::how_many_fit(job.device, cuda::Memory{bytes, cuda::stacks_of<Body>(job.device.index)}),
      std::int64_t{1} << 18);
  const std::int64_t chunk = std::min(fit, job.in.count);
  SimulateRows rows(job, chunk);
  for (std::int64_t first = 0; first < job.in.count; first += chunk)
    simulate_chunk<Body>(job, rows, first, std::min(chunk, job.in.count - first));
}

/// Chains of up to six joints, by a kernel for each method.
template <Joints K, bool kVaries>
void simulate_six(const SimulateJob& job) {
  switch (job.options.method) {
    case Integrator::kRk4:
      return simulate_all<SimulateBody<6, K, kVaries, Integrator::kRk4>>(job);
    case Integrator::kDopri5:
      return simulate_all<SimulateBody<6, K, kVaries, Integrator::kDopri5>>(job);
    case Integrator::kImplicit1:
      return simulate_all<SimulateBody<6, K, kVaries, Integrator::kImplicit1>>(job);
    case Integrator::kImplicit2:
      return simulate_all<SimulateBody<6, K, kVaries, Integrator::kImplicit2>>(job);
  }
}

}  // namespace simulate_cuda

/// Chains of up to six joints of any kind, with numbers per sample; and of up to kMaxJoints (see cmake/cuda.cmake).
void simulate_varying(const SimulateJob& job);
void simulate_large(const SimulateJob& job);

}  // namespace garra::chain
