// `garra platform inverse-dynamics` and `forward-dynamics`.
#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/answer_parts.hpp"
#include "garra/platform_dynamics.hpp"
#include "platform/command/shared.hpp"

namespace garra::cli {
namespace {

struct DynamicsArguments {
  PlatformArguments common;
  std::string form = "minimal";

  [[nodiscard]] platform::Form equations() const {
    return form == "full" ? platform::Form::kFull : platform::Form::kMinimal;
  }
};

/// Missing motions are zero: the platform is at rest.
std::vector<double> or_zero(const std::vector<double>& rows, std::int64_t count) {
  return rows.empty() ? std::vector<double>(static_cast<std::size_t>(6 * count)) : rows;
}

void check_inverse(const platform::InverseDynamics& r, PlatformSummary& s) {
  s.more["largest_force"] = largest_value(r.force);
  const bool known = std::any_of(r.force.begin(), r.force.end(), [](double x) { return std::isfinite(x); });
  s.lines += summary_line("forces", known ? format("at most %.5g N", largest_value(r.force))
                                          : std::string("not determined: the pose is singular"));
  if (known && !r.power_balance.empty()) {
    s.more["worst_power_balance"] = largest_value(r.power_balance);
    s.lines += summary_line("power", format("off by at most %.3g W", largest_value(r.power_balance)));
  }
}

std::string force_table(const platform::InverseDynamics& r) {
  std::string out = "\nleg  actuator [N]       spherical joint on leg [N]\n";
  for (std::size_t i = 0; i < 6; ++i) {
    out += format("%3d  %12.6g", static_cast<int>(i), r.force[i]);
    if (!r.spherical_force.empty()) out += "  " + number_row(r.spherical_force.data() + 3 * i, 3);
    out += "\n";
  }
  return out + "\n";
}

void run_inverse(const DynamicsArguments& a) {
  const PlatformRun run = begin_platform(a.common, {.pose = true});
  const platform::Motion motion = {or_zero(run.rows.velocity, run.rows.count),
                                   or_zero(run.rows.acceleration, run.rows.count)};
  PlatformSummary s;
  const auto r = compute_rows(a.common, "inverse-dynamics", s, [&] {
    return platform::inverse_dynamics(run.rows.platforms, run.rows.pose, motion, run.rows.wrench, a.equations(),
                                      run.device);
  });
  if (run.single) {
    s.more["result"] = arrays_json(r);
    s.lines = force_table(r);
  }
  check_inverse(r, s);
  if (!a.common.output.empty())
    io::write_platform_results(a.common.output, r, make_attributes(run, {{"form", a.form}}));
  finish_platform(a.common, run, s);
}

void run_forward(const DynamicsArguments& a) {
  const PlatformRun run = begin_platform(a.common, {.pose = true, .force = true});
  const std::vector<double> velocity = or_zero(run.rows.velocity, run.rows.count);
  PlatformSummary s;
  const auto r = compute_rows(a.common, "forward-dynamics", s, [&] {
    return platform::forward_dynamics(run.rows.platforms, run.rows.pose, velocity, run.rows.force, run.rows.wrench,
                                      a.equations(), run.device);
  });
  if (run.single) {
    s.more["result"] = {{"acceleration", r.acceleration}, {"kinetic", r.kinetic}, {"potential", r.potential}};
    s.lines += summary_line("acceleration", number_row(r.acceleration.data(), 3, " %.9g") + " m/s^2");
    s.lines += summary_line("turning", number_row(r.acceleration.data() + 3, 3, " %.9g") + " rad/s^2");
    if (!r.kinetic.empty())
      s.lines += summary_line("energy", format("kinetic %.9g J, potential %.9g J", r.kinetic[0], r.potential[0]));
  }
  if (!a.common.output.empty())
    io::write_platform_results(a.common.output, r, make_attributes(run, {{"form", a.form}}));
  finish_platform(a.common, run, s);
}

void add_options(Command command, DynamicsArguments& a) {
  add_platform_options(command, a.common);
  add_six(command, "--velocity", a.common.velocity, "of one sample: v [m/s], angular velocity [rad/s], base axes");
  add_six(command, "--wrench", a.common.wrench, "on the platform of one sample: force at C [N], moment [N m]");
  command.add_option("--form", a.form, "minimal (Newton-Euler) or full (the paper's 91 coordinates)",
                     one_of({"minimal", "full"}));
}

}  // namespace

void add_platform_inverse_dynamics_command(Command platform) {
  Command command = platform.add_subcommand("inverse-dynamics", "Actuator forces and joint reactions of given motions");
  const auto a = std::make_shared<DynamicsArguments>();
  add_options(command, *a);
  add_six(command, "--acceleration", a->common.acceleration, "of one sample [m/s^2, rad/s^2], base axes");
  command.footer(
      "Examples:\n"
      "  garra platform inverse-dynamics trepa_like --at \"0 0 1.3, 10deg 0 0\" --wrench \"0 0 -100 0 0 0\"\n"
      "  garra platform inverse-dynamics trepa_like motion.h5 -o forces.h5 --form full");
  command.callback([a] { run_inverse(*a); });
}

void add_platform_forward_dynamics_command(Command platform) {
  Command command = platform.add_subcommand("forward-dynamics", "Accelerations under given actuator forces");
  const auto a = std::make_shared<DynamicsArguments>();
  add_options(command, *a);
  add_six(command, "--force", a->common.force, "of the actuators of one sample [N]; positive extends a leg");
  command.footer(
      "Examples:\n"
      "  garra platform forward-dynamics trepa_like --force \"75 75 75 75 75 75\"\n"
      "  garra platform forward-dynamics trepa_like states.h5 -o accelerations.h5");
  command.callback([a] { run_forward(*a); });
}

}  // namespace garra::cli
