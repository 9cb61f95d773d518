// Simulations on the GPU: a batch in chunks, whose arrays are copied there and back, or are there already. For files
// that nvcc compiles.
#pragma once

#include <algorithm>

#include "chain/simulate/simulate_on_device.hpp"
#include "chain/simulate/simulate_setup.hpp"
#include "garra/batch/on_device.cuh"
#include "garra/batch/packed.cuh"

namespace garra::chain {

inline const SimulateJob& shared_job(const SimulateJob& job) { return job; }
inline const SimulateJob& shared_job(const DeviceSimulateJob& there) { return there.job; }

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

/// Tables that the laws point to, copied: the device cannot read the memory of the host.
class LawTables {
 public:
  explicit LawTables(const SimulateJob& job)
      : points_(make_input(job.torque.points)),
        wrenches_(make_input(job.options.tool.points)),
        code_(make_input(job.code)) {}
  template <class Setup>
  void put_into(Setup& setup) const {
    setup.law.points = points_.data();
    setup.tool.points = wrenches_.data();
    setup.law.code = code_.data();
  }

 private:
  static Input make_input(const std::vector<double>& values) {
    return {values.data(), static_cast<std::int64_t>(values.size())};
  }
  Input points_, wrenches_, code_;
};

template <class Body>
void simulate_chunk(const SimulateJob& job, SimulateRows& rows, std::int64_t first, std::int64_t count) {
  SimulateArrays a = rows.take(first, count);
  const std::int64_t number_count = count * job.robot.joints, stops = a.stops.count;
  const Input q(a.q, number_count), qd(a.qd, number_count), damping(a.damping, number_count),
      amplitude(a.amplitude, number_count);
  const Input t(a.stops.t, stops), h(a.stops.h, stops), steps(a.stops.steps, stops), output(a.stops.output, stops);
  const LawTables tables(job);
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
  Body body{make_setup<Body::J>(job), a};
  tables.put_into(body.setup);
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
      cuda::how_many_fit(job.device, cuda::Memory{bytes, cuda::measure_stack<Body>(job.device.index)}),
      std::int64_t{1} << 18);
  const std::int64_t chunk = std::min(fit, job.in.count);
  SimulateRows rows(job, chunk);
  for (std::int64_t first = 0; first < job.in.count; first += chunk)
    simulate_chunk<Body>(job, rows, first, std::min(chunk, job.in.count - first));
}

// --- samples that are on the GPU ------------------------------------------------------------------------------------

/// What the bodies of a chunk work on, in the caller's workspace.
class SimulateWorkspace {
 public:
  SimulateWorkspace(const DeviceSimulateJob& there, std::int64_t most)
      : there_(there),
        most_(most),
        n_(there.job.robot.joints),
        outputs_(static_cast<std::int64_t>(there.job.options.times.size())),
        q_(number_count(there.q)),
        qd_(number_count(there.qd)),
        damping_(number_count(there.damping)),
        amplitude_(number_count(there.amplitude)),
        values_(most * static_cast<std::int64_t>(there.values.size())),
        trajectory_(most * outputs_ * trajectory_fields(n_)),
        summary_(most * summary_fields(n_)) {}

  /// Rows of the samples at hand, outputs all NaN.
  void take(const batch::RowRange& rows, SimulateArrays& a) const {
    a.count = rows.count;
    a.q = packed(there_.q, rows, q_);
    a.qd = packed(there_.qd, rows, qd_);
    a.damping = packed(there_.damping, rows, damping_);
    a.amplitude = packed(there_.amplitude, rows, amplitude_);
    for (std::size_t c = 0; c < there_.values.size(); ++c)
      batch::pack(there_.values[c], rows, {values_.data() + static_cast<std::int64_t>(c) * most_, 1, 1, 0});
    a.values = values_.data();
    a.values_stride = most_;
    a.trajectory = trajectory_.data();
    a.summary = summary_.data();
    batch::fill_with_nan(trajectory_.data(), rows.count * outputs_ * trajectory_fields(n_));
  }
  void give_back(const batch::RowRange& rows) const {
    batch::unpack_parts(trajectory_.data(), outputs_, trajectory_fields(n_), rows, there_.trajectory);
    batch::unpack_parts(summary_.data(), 1, summary_fields(n_), rows, there_.summary);
  }

 private:
  [[nodiscard]] std::int64_t number_count(const batch::DeviceColumn& column) const {
    return column.data == nullptr ? 0 : most_ * n_;
  }
  const double* packed(const batch::DeviceColumn& column, const batch::RowRange& rows, const Numbers& to) const {
    batch::pack(column, rows, {to.data(), n_, n_, 0});
    return column.data == nullptr ? nullptr : to.data();
  }

  const DeviceSimulateJob& there_;
  std::int64_t most_;
  int n_;
  std::int64_t outputs_;
  Numbers q_, qd_, damping_, amplitude_, values_, trajectory_, summary_;
};

template <class Body>
void simulate_all(const DeviceSimulateJob& there) {
  const SimulateJob& job = there.job;
  const batch::ResidentCall call(there.call, there.needed);
  const auto outputs = static_cast<std::int64_t>(job.options.times.size());
  const std::int64_t most = batch::samples_at_once(
      job.in.count, outputs * trajectory_fields(job.robot.joints) + summary_fields(job.robot.joints));
  const auto stops = static_cast<std::int64_t>(job.stop_time.size());
  const Input t(job.stop_time.data(), stops), h(job.stop_step.data(), stops), steps(job.stop_steps.data(), stops),
      output(job.stop_output.data(), stops);
  const LawTables tables(job);
  cuda::Buffer<Column> columns(static_cast<std::int64_t>(job.columns.size()));
  if (!job.columns.empty()) columns.upload(job.columns.data());
  const SimulateWorkspace workspace(there, most);
  SimulateArrays a{};
  a.columns = columns.data();
  a.column_count = static_cast<int>(job.columns.size());
  a.stops = {static_cast<int>(stops), t.data(), h.data(), steps.data(), output.data()};
  a.outputs = static_cast<int>(outputs);
  for (std::int64_t first = 0; first < job.in.count; first += most) {
    const batch::RowRange rows{first, std::min(most, job.in.count - first)};
    workspace.take(rows, a);
    Body body{make_setup<Body::J>(job), a};
    tables.put_into(body.setup);
    cuda::for_each(rows.count, body);
    workspace.give_back(rows);
  }
}

/// Chains of up to six joints, by a kernel for each method; the job is a SimulateJob, or one on the GPU.
template <Joints K, bool kVaries, class Job>
void simulate_six(const Job& job) {
  switch (shared_job(job).options.method) {
    case Integrator::kRk4:
      return simulate_all<SimulateKernel<6, K, kVaries, Integrator::kRk4>>(job);
    case Integrator::kDopri5:
      return simulate_all<SimulateKernel<6, K, kVaries, Integrator::kDopri5>>(job);
    case Integrator::kImplicit1:
      return simulate_all<SimulateKernel<6, K, kVaries, Integrator::kImplicit1>>(job);
    case Integrator::kImplicit2:
      return simulate_all<SimulateKernel<6, K, kVaries, Integrator::kImplicit2>>(job);
  }
}

}  // namespace simulate_cuda

/// Chains of up to six joints of any kind, with numbers per sample; and of up to kMaxJoints.
void simulate_varying(const SimulateJob& job);
void simulate_varying(const DeviceSimulateJob& job);
void simulate_large(const SimulateJob& job);
void simulate_large(const DeviceSimulateJob& job);

}  // namespace garra::chain
