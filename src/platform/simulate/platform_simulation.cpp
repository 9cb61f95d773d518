// Trajectories of many platforms (garra/platform_simulate.hpp).
#include <algorithm>
#include <cmath>

#include "garra/core/names.hpp"
#include "garra/platform_kinematics.hpp"
#include "garra/platform_simulate.hpp"
#include "platform/batch/poses.hpp"
#include "platform/batch/rows_run.hpp"
#include "platform/simulate/simulate_on_device.hpp"

namespace garra::platform {

constexpr auto names_of(Integrator) { return names("rk4", "rk8", "hybrid"); }
constexpr auto names_of(MotionStatus) {
  return names("completed", "stroke_limit", "cone_limit", "collision", "singular", "lost_constraints", "non_finite",
               "invalid_input");
}

const char* to_string(Integrator method) { return name_of(method); }
const char* to_string(MotionStatus status) { return name_of(status); }

Integrator parse_platform_integrator(const std::string& name) {
  if (const auto method = value_named<Integrator>(name)) return *method;
  throw Error(ExitCode::kUsage, "no method \"" + name + "\" of integration", "Choose rk4, rk8 or hybrid.");
}

namespace {

void require(bool holds, const char* what, const char* remedy) {
  if (!holds) throw Error(ExitCode::kUsage, what, remedy);
}

/// True for finite numbers above 0; false for NaN.
bool positive(double x) { return x > 0 && std::isfinite(x); }
bool not_negative(double x) { return x >= 0 && std::isfinite(x); }

void check_options(const SimulateOptions& o) {
  require(positive(o.step), "the step of a simulation is not positive", "Give it in seconds.");
  require(not_negative(o.duration), "the end of a simulation is negative or not finite", "Give it in seconds.");
  require(not_negative(o.near_singular), "the limit of singularity is negative", "Give 0 for none.");
  require(not_negative(o.characteristic_length), "the characteristic length is negative",
          "Give it in meters, or 0 for the platform's own.");
  // Only times with equal bits are duplicates: close but different times are two outputs.
  for (std::size_t k = 0; k < o.times.size(); ++k) {
    require(o.times[k] >= 0 && o.times[k] <= o.duration, "a time of output lies outside the simulation",
            "Give times from 0 to its end.");
    require(k == 0 || o.times[k - 1] < o.times[k], "the times of output do not ascend", "Sort them, each once.");
  }
}

void check_actuators(const ForceInput& f) {
  require(not_negative(f.viscous) && not_negative(f.coulomb), "a coefficient of friction is negative",
          "Friction brakes.");
  require(positive(f.coulomb_speed), "the speed that smooths Coulomb friction is not positive", "Give it in m/s.");
  require(not_negative(f.interval), "the interval of the forces is negative", "Give 0 for constant forces.");
  require(f.interval == 0 || f.samples > 0, "forces over time have no samples", "Say how many there are.");
}

void check_force(const ForceInput& f, std::int64_t count) {
  // Without an interval the forces are constant: one row.
  const std::int64_t numbers = (f.interval > 0 ? f.samples : 1) * kLegs,
                     given = static_cast<std::int64_t>(f.force.size());
  if (given != numbers && given != count * numbers) {
    throw Error(ExitCode::kUsage,
                "the forces are " + std::to_string(given) + " numbers, neither " + std::to_string(numbers) + " nor " +
                    std::to_string(count) + " x " + std::to_string(numbers),
                "Give six per moment, for all samples or for each.");
  }
  // Shared forces that are not finite invalidate all samples: an error. Forces of one sample only
  // end that sample.
  if (given == numbers) {
    require(std::all_of(f.force.begin(), f.force.end(), [](double x) { return std::isfinite(x); }),
            "a force is not finite", "Give forces in N.");
  }
}

MotionJob make_job(const Platforms& platforms, const ForceInput& force, const SimulateOptions& options,
                   std::int64_t count) {
  require_masses(platforms);
  MotionJob job;
  job.count = count;
  const std::vector<Model<double>> models = models_for(platforms, count);
  job.plants.resize(models.size());
  for (std::size_t k = 0; k < models.size(); ++k) job.plants[k] = {models[k], make_limits(platforms[k])};
  job.force = &force;
  job.force_rows = force.interval > 0 ? force.samples : 1;
  // With one sample its own forces and shared ones are the same array: shared is right for both.
  job.own_force = static_cast<std::int64_t>(force.force.size()) != job.force_rows * kLegs;
  job.spans = motion_spans(options, force);
  job.setup = {job.plants.empty() ? MotionPlant<double>{} : job.plants.front(),
               options.method == Integrator::kRk4 ? runge_kutta4() : runge_kutta8(),
               {force.viscous, force.coulomb, force.coulomb_speed},
               {options.near_singular, characteristic_length(platforms, options.characteristic_length)},
               options.watch_limits,
               !options.times.empty() && options.times.front() == 0,
               options.method == Integrator::kHybrid,
               options.baumgarte,
               options.correct_above};
  return job;
}

template <bool kOwn>
void run_chunk(const MotionJob& job, const MotionArrays& arrays) {
  if (job.setup.full) return run_full_chunk<kOwn>(job, arrays);
  batch::for_each(job.device.executor, arrays.count,
                  Interruptible<MotionKernel<MotionRun, kOwn>>{{{job.setup, arrays}}});
}

void run_job(const MotionJob& job) {
  // Samples at once: enough to share, few enough to spread over the threads.
  const batch::Blocks chunks{job.count, 64};
  batch::for_blocks(
      solve_threads(job.device), chunks, [&] { return MotionRows(job, chunks.largest()); },
      [&](MotionRows& rows, std::int64_t first, std::int64_t count) {
        const MotionArrays arrays = rows.take(first, count);
        if (job.own_plants())
          run_chunk<true>(job, arrays);
        else
          run_chunk<false>(job, arrays);
        rows.give_back(first, count);
      });
}

}  // namespace

Trajectories simulate(const Platforms& platforms, const Starts& starts, const ForceInput& force,
                      const SimulateOptions& options, const Device& device) {
  const auto count = static_cast<std::int64_t>(starts.pose.quaternion.size() / 4);
  check_rows("position", starts.pose.position, count, 3);
  check_rows("quaternion", starts.pose.quaternion, count, 4);
  check_rows("velocity", starts.velocity, count, 6, true);
  check_rows("wrench", starts.wrench, count, 6, true);
  check_options(options);
  check_actuators(force);
  check_force(force, count);
  MotionJob job = make_job(platforms, force, options, count);
  Trajectories out = motion_room(count, options);
  job.starts = &starts;
  job.device = device;
  job.out = &out;
  if (count == 0) return out;
  if (device.executor == Executor::kCuda)
    batch::on_device(device, job);
  else
    run_job(job);
  return out;
}

// --- starts that are on the GPU -------------------------------------------------------------------------------------

namespace {

/// If `needed` is not null: sets it and runs nothing.
void simulate_there(const Platform& platform, const DeviceStarts& starts, const ForceInput& force,
                    const SimulateOptions& options, const DeviceTrajectories& to, const DeviceCall& call,
                    std::size_t* needed) {
  using batch::device_column;
  const std::int64_t count = starts.pose.count;
  require(count >= 0, "the number of starts is negative", "");
  check_options(options);
  check_actuators(force);
  const bool own = starts.force.data != nullptr;
  if (own)
    require(force.force.empty(), "the forces are given twice", "Give them on the GPU or on the host.");
  else
    check_force(force, 1);
  if (count == 0) return;
  require(starts.pose.position.data != nullptr, "position is a null pointer", "");
  require(starts.pose.quaternion.data != nullptr, "quaternion is a null pointer", "");
  Trajectories times;
  times.times = options.times;
  MotionJob job = make_job({platform}, force, options, count);
  job.own_force = own;
  job.device = {Executor::kCuda, 0, call.device};
  job.out = &times;
  const int t = static_cast<int>(options.times.size());
  const DeviceMotionJob there{
      job,
      device_column(starts.pose.position, 3),
      device_column(starts.pose.quaternion, 4),
      device_column(starts.velocity, 6),
      device_column(starts.wrench, 6),
      device_column(starts.force, static_cast<int>(job.force_rows) * kLegs),
      // In the order of MotionField and of MotionEndField.
      {device_column(to.position, 3 * t), device_column(to.quaternion, 4 * t), device_column(to.velocity, 6 * t),
       device_column(to.lengths, 6 * t), device_column(to.kinetic, t), device_column(to.potential, t),
       device_column(to.work, t), device_column(to.balance, t), device_column(to.drift, t)},
      {device_column(to.end_position, 3), device_column(to.end_quaternion, 4), device_column(to.end_velocity, 6),
       device_column(to.end_time, 1), device_column(to.end_balance, 1), device_column(to.worst_balance, 1),
       device_column(to.worst_drift, 1), device_column(to.steps, 1), device_column(to.corrections, 1),
       device_column(to.status, 1)},
      call,
      needed};
  batch::on_device(job.device, there);
}

}  // namespace

void simulate(const Platform& platform, const DeviceStarts& starts, const ForceInput& force,
              const SimulateOptions& options, const DeviceTrajectories& to, const DeviceCall& call) {
  simulate_there(platform, starts, force, options, to, call, nullptr);
}

std::size_t workspace_bytes(const Platform& platform, const DeviceStarts& starts, const ForceInput& force,
                            const SimulateOptions& options, const DeviceTrajectories& to, int device) {
  std::size_t bytes = 0;
  simulate_there(platform, starts, force, options, to, {.device = device}, &bytes);
  return bytes;
}

}  // namespace garra::platform
