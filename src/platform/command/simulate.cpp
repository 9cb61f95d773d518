// `garra platform simulate`.
#include <memory>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "cli/answer_parts.hpp"
#include "cli/flags.hpp"
#include "garra/platform_simulate.hpp"
#include "platform/command/shared.hpp"

namespace garra::cli {
namespace {

using platform::MotionStatus;

struct SimulateArguments {
  PlatformArguments common;
  std::string method = "rk8";
  double every = 0;
  platform::ForceInput force;
  platform::SimulateOptions options;
};

platform::SimulateOptions make_simulate_options(const SimulateArguments& a) {
  platform::SimulateOptions o = a.options;
  o.method = platform::parse_platform_integrator(a.method);
  set_output_times(a.every, o);
  return o;
}

void check_trajectories(const platform::Trajectories& t, const platform::SimulateOptions& options, PlatformSummary& s) {
  std::int64_t steps = 0, corrections = 0;
  for (const std::int64_t n : t.steps) steps += n;
  for (const std::int64_t n : t.corrections) corrections += n;
  s.more["duration"] = options.duration;
  s.more["outputs"] = options.times.size();
  s.more["method"] = to_string(options.method);
  s.more["worst_balance"] = largest_value(t.worst_balance);
  s.more["worst_drift"] = largest_value(t.worst_drift);
  s.more["steps"] = steps;
  s.more["corrections"] = corrections;
  s.lines += summary_line("method", format("%s, %lld steps to t = %g s", to_string(options.method),
                                           static_cast<long long>(steps), options.duration));
  s.lines += summary_line("energy", format("off by at most %.3g J", largest_value(t.worst_balance)));
  s.lines += summary_line(
      "drift", format("at most %.3g", largest_value(t.worst_drift)) +
                   (corrections > 0 ? format(", %lld corrections", static_cast<long long>(corrections)) : ""));
}

void show_end(const platform::Trajectories& t, PlatformSummary& s) {
  s.more["result"] = {{"end_time", t.end_time[0]},
                      {"end_position", t.end_pose.position},
                      {"end_quaternion", t.end_pose.quaternion},
                      {"end_velocity", t.end_velocity}};
  s.lines += summary_line("end", format("t = %g s", t.end_time[0]));
  s.lines += summary_line("position", number_row(t.end_pose.position.data(), 3, " %.9g") + " m");
  s.lines += summary_line("quaternion", number_row(t.end_pose.quaternion.data(), 4, " %.9g"));
  s.lines += summary_line("velocity", number_row(t.end_velocity.data(), 6, " %.6g"));
}

void run_simulate(const SimulateArguments& a) {
  const bool over_time = a.force.interval > 0;
  if (over_time && a.common.input.empty())
    throw Error(ExitCode::kUsage, "--interval without a file", "Forces over time are `force` [k,6] in IN.h5.");
  PlatformRun run = begin_platform(a.common, {.pose = true, .force = true}, over_time);
  const platform::SimulateOptions options = make_simulate_options(a);
  run.device = parse_device_for_arrays(a.common.device, a.common.threads,
                                       core_seconds::platform_motions(run.rows.count, options.duration, options.step));
  platform::ForceInput force = a.force;
  force.force = run.rows.force;
  force.samples = run.rows.force_points;
  const platform::Starts starts = {run.rows.pose, run.rows.velocity, run.rows.wrench};
  platform::Trajectories t;
  PlatformSummary s;
  s.command = "simulate";
  s.seconds = timed(a.common, [&] { t = platform::simulate(run.rows.platforms, starts, force, options, run.device); });
  count_statuses<MotionStatus>(
      t.status, platform::kMotionStatuses, [](MotionStatus m) { return m == MotionStatus::kCompleted; }, s);
  check_trajectories(t, options, s);
  if (run.single) show_end(t, s);
  if (!a.common.output.empty())
    io::write_platform_results(a.common.output, t, run.rows.platforms,
                               make_attributes(run, {{"method", to_string(options.method)}}));
  finish_platform(a.common, run, s);
}

void add_options(Command command, SimulateArguments& a) {
  command.add_option("--method", a.method, "rk8, rk4, or hybrid: the paper's, on 91 coordinates",
                     one_of({"rk8", "rk4", "hybrid"}));
  command.add_option("--step", a.options.step, "[s], shortened to meet outputs", positive_number());
  add_output_times(command, a.options, a.every);
  command.add_option("--interval", a.force.interval, "between the points of `force` [k,6] or [n,k,6] in IN.h5 [s]")
      .check(positive_number());
  command.add_option("--viscous", a.force.viscous, "friction of every actuator [N s/m]").capture_default_str();
  command.add_option("--coulomb", a.force.coulomb, "friction of every actuator [N]").capture_default_str();
  command.add_option("--coulomb-speed", a.force.coulomb_speed, "at which it has risen to 76 % [m/s]",
                     positive_number());
  command.add_flag("--watch-limits", a.options.watch_limits, "a sample ends where it breaks a limit of its joints");
  command.add_option("--near-singular", a.options.near_singular, "ends below this smallest singular value")
      .capture_default_str();
  add_length_scale(command, a.options.characteristic_length);
  command.add_option("--baumgarte", a.options.baumgarte, "hybrid: alpha = beta [1/s]").capture_default_str();
  command.add_option("--correct-above", a.options.correct_above, "hybrid: constraint error that is corrected",
                     positive_number());
}

}  // namespace

void add_platform_simulate_command(Command platform) {
  Command command = platform.add_subcommand("simulate", "Trajectories of many samples under actuator forces");
  const auto a = std::make_shared<SimulateArguments>();
  add_platform_options(command, a->common);
  add_six(command, "--force", a->common.force, "of the actuators of one sample [N]; positive extends a leg");
  add_six(command, "--velocity", a->common.velocity, "start of one sample; not given: at rest");
  add_six(command, "--wrench", a->common.wrench, "on the platform of one sample: force at C [N], moment [N m]");
  add_options(command, *a);
  command.footer(
      "Examples:\n"
      "  garra platform simulate trepa_like --force \"75 75 75 75 75 75\" --output-interval 0.05 -o rise.h5\n"
      "  garra platform simulate trepa_like starts.h5 --method hybrid --step 1e-3 -o paths.h5 --format json");
  command.callback([a] { run_simulate(*a); });
}

}  // namespace garra::cli
