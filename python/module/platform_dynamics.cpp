// Dynamics and motions of six-legged platforms, of arrays on the host and on a GPU.
#include "garra/platform_dynamics.hpp"

#include "arrays.hpp"
#include "garra/platform_simulate.hpp"
#include "platform_on_gpu.hpp"

namespace garra::python {

namespace {

using platform::Form;
using platform::Platform;
using platform::Poses;

Form parse_form(const std::string& name) {
  if (name != "minimal" && name != "full")
    throw Error(ExitCode::kUsage, "form = \"" + name + "\"", "there are minimal and full");
  return name == "full" ? Form::kFull : Form::kMinimal;
}

nb::dict inverse(const Platform& p, const Numbers& position, const Numbers& quaternion, const Numbers& velocity,
                 const Numbers& acceleration, const Numbers& wrench, const std::string& form, const std::string& device,
                 int threads) {
  const std::size_t n = position.shape(0);
  const Poses poses{copied(position), copied(quaternion)};
  const platform::Motion motion{copied(velocity), copied(acceleration)};
  auto r = compute([&] {
    return platform::inverse_dynamics({p}, poses, motion, copied(wrench), parse_form(form),
                                      make_device(device, threads, core_seconds::kCopying));
  });
  return to_dict(std::move(r), n);
}

nb::dict forward(const Platform& p, const Numbers& position, const Numbers& quaternion, const Numbers& velocity,
                 const Numbers& force, const Numbers& wrench, const std::string& form, const std::string& device,
                 int threads) {
  const std::size_t n = position.shape(0);
  const Poses poses{copied(position), copied(quaternion)};
  auto r = compute([&] {
    return platform::forward_dynamics({p}, poses, copied(velocity), copied(force), copied(wrench), parse_form(form),
                                      make_device(device, threads, core_seconds::kCopying));
  });
  return to_dict(std::move(r), n);
}

platform::SimulateOptions make_simulate_options(const std::vector<double>& times, const std::string& method,
                                                double step, bool watch_limits) {
  platform::SimulateOptions options;
  options.method = platform::parse_platform_integrator(method);
  options.step = step;
  options.times = times;
  options.duration = times.back();
  options.watch_limits = watch_limits;
  return options;
}

nb::dict simulate(const Platform& p, const Numbers& position, const Numbers& quaternion, const Numbers& velocity,
                  const Numbers& force, const Numbers& wrench, const std::vector<double>& times,
                  const std::string& method, double step, bool watch_limits, const std::string& device, int threads) {
  const std::size_t n = position.shape(0);
  const platform::Starts starts{{copied(position), copied(quaternion)}, copied(velocity), copied(wrench)};
  platform::ForceInput input;
  input.force = copied(force);
  auto r = compute([&] {
    const auto samples = static_cast<std::int64_t>(n);
    return platform::simulate(
        {p}, starts, input, make_simulate_options(times, method, step, watch_limits),
        make_device(device, threads, core_seconds::platform_motions(samples, times.back(), step)));
  });
  return to_dict(std::move(r), n);
}

// --- on a GPU: `given` has an array for each name, `out` one for each answer ----------------------------------------

void take_if(const nb::dict& given, const char* name, DeviceArray<const double>& to) {
  if (given.contains(name)) take<const double>(given, name, to);
}

void inverse_on_gpu(const Platform& p, const nb::dict& given, const nb::dict& out, const std::string& form,
                    std::uintptr_t stream, const nb::callable& allocate) {
  const PosesOnGpu there = poses_on_gpu(given, stream, allocate);
  platform::DeviceMotion motion;
  DeviceArray<const double> wrench;
  take_if(given, "velocity", motion.velocity);
  take_if(given, "acceleration", motion.acceleration);
  take_if(given, "wrench", wrench);
  platform::DeviceForces to;
  platform::each_array(to, TakeResult{out});
  run_gpu_call(
      there.place,
      [&](const DeviceCall& call) {
        return platform::workspace_bytes(p, there.poses, motion, wrench, to, call.device, parse_form(form));
      },
      [&](const DeviceCall& call) {
        platform::inverse_dynamics(p, there.poses, motion, wrench, to, call, parse_form(form));
      });
}

void forward_on_gpu(const Platform& p, const nb::dict& given, const nb::dict& out, const std::string& form,
                    std::uintptr_t stream, const nb::callable& allocate) {
  const PosesOnGpu there = poses_on_gpu(given, stream, allocate);
  DeviceArray<const double> velocity, force, wrench;
  take_if(given, "velocity", velocity);
  take_if(given, "force", force);
  take_if(given, "wrench", wrench);
  platform::DeviceAccelerations to;
  platform::each_array(to, TakeResult{out});
  run_gpu_call(
      there.place,
      [&](const DeviceCall& call) {
        return platform::workspace_bytes(p, there.poses, velocity, force, wrench, to, call.device, parse_form(form));
      },
      [&](const DeviceCall& call) {
        platform::forward_dynamics(p, there.poses, velocity, force, wrench, to, call, parse_form(form));
      });
}

void simulate_on_gpu(const Platform& p, const nb::dict& given, const nb::dict& out, const std::vector<double>& times,
                     const std::string& method, double step, bool watch_limits, std::uintptr_t stream,
                     const nb::callable& allocate) {
  const PosesOnGpu there = poses_on_gpu(given, stream, allocate);
  platform::DeviceStarts starts{there.poses};
  take_if(given, "velocity", starts.velocity);
  take_if(given, "force", starts.force);
  take_if(given, "wrench", starts.wrench);
  platform::DeviceTrajectories to;
  platform::each_array(to, TakeResult{out});
  const platform::SimulateOptions options = make_simulate_options(times, method, step, watch_limits);
  run_gpu_call(
      there.place,
      [&](const DeviceCall& call) { return platform::workspace_bytes(p, starts, {}, options, to, call.device); },
      [&](const DeviceCall& call) { platform::simulate(p, starts, {}, options, to, call); });
}

}  // namespace

void add_platform_dynamics(nb::module_& m) {
  m.attr("motion_statuses") = to_tuple<platform::MotionStatus>(platform::kMotionStatuses);
  m.def("platform_inverse_dynamics", inverse);
  m.def("platform_inverse_dynamics_on_gpu", inverse_on_gpu);
  m.def("platform_forward_dynamics", forward);
  m.def("platform_forward_dynamics_on_gpu", forward_on_gpu);
  m.def("platform_simulate", simulate);
  m.def("platform_simulate_on_gpu", simulate_on_gpu);
}

}  // namespace garra::python
