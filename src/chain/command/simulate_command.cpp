// `garra chain simulate`: a robot and initial states in, trajectories and a summary out.
#include "chain/command/simulate_command.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "chain/files/trajectory_file.hpp"
#include "cli/flags.hpp"
#include "cli/robot_argument.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"

namespace garra::cli {
namespace {

using chain::SimulationStatus;
using Json = nlohmann::ordered_json;

struct SimulateArguments : BatchFlags {
  ModelArguments model;
  std::string input, output;  ///< empty: q0 and qd0; nothing is written
  std::vector<std::string> q0;
  std::vector<double> qd0, damping;
  std::string method = "implicit", torque_kind = "constant", limits = "ignore";
  double every = 0;
  std::vector<double> force, moment, wall, spring;
  chain::TorqueInput torque;
  chain::SimulateOptions options;
};

/// One number per joint, or one for all.
std::vector<double> for_joints(const char* flag, const std::vector<double>& values, int joints) {
  const auto n = static_cast<std::size_t>(joints);
  if (values.size() == 1) return std::vector<double>(n, values[0]);
  if (values.empty() || values.size() == n) return values;
  throw Error(ExitCode::kUsage, std::string(flag) + " has " + std::to_string(values.size()) + " numbers",
              "Give one for each of the " + std::to_string(joints) + " joints, or one for all.");
}

chain::Samples make_samples(const SimulateArguments& arguments, const chain::Robot& robot) {
  const auto joints = static_cast<int>(chain::coordinates(robot).size());
  chain::Samples samples;
  if (!arguments.input.empty()) {
    if (!arguments.q0.empty() || !arguments.qd0.empty())
      throw Error(ExitCode::kUsage, "both a file of initial states and --q0 or --qd0", "Give one of them.");
    samples = io::read_samples(arguments.input, joints);
  } else {
    samples.count = 1;
    samples.q = for_joints("--q0", joint_values("--q0", arguments.q0, robot), joints);
    if (samples.q.empty()) samples.q.assign(static_cast<std::size_t>(joints), 0);
    samples.qd = for_joints("--qd0", arguments.qd0, joints);
  }
  if (!arguments.damping.empty()) samples.damping = for_joints("--damping", arguments.damping, joints);
  return samples;
}

/// The force on the tool that flags or the file ask for: at most one.
void set_tool_force(const SimulateArguments& a, chain::ToolForceInput& tool) {
  using chain::ToolForceKind;
  const auto put = [](const std::vector<double>& from, std::size_t first, Vec3<double>& to) {
    for (std::size_t k = 0; k < 3 && first + k < from.size(); ++k) to[static_cast<int>(k)] = from[first + k];
  };
  const std::vector<double> points = a.input.empty() ? std::vector<double>{} : io::read_tool_wrenches(a.input);
  const bool constant = !a.force.empty() || !a.moment.empty();
  if (constant + !a.wall.empty() + !a.spring.empty() + !points.empty() > 1)
    throw Error(ExitCode::kUsage, "more than one force on the tool",
                "Give --force and --moment, --wall, --spring, or tool_wrench [k,6] in the file.");
  put(a.force, 0, tool.force);
  put(a.moment, 0, tool.moment);
  put(a.wall.empty() ? a.spring : a.wall, 0, tool.place);
  if (!a.wall.empty()) put(a.wall, 3, tool.normal);
  tool.points = points;
  tool.interval = a.torque.interval;
  tool.kind = constant            ? ToolForceKind::kConstant
              : !a.wall.empty()   ? ToolForceKind::kWall
              : !a.spring.empty() ? ToolForceKind::kSpring
              : !points.empty()   ? ToolForceKind::kSampled
                                  : ToolForceKind::kNone;
}

chain::SimulateOptions make_simulate_options(const SimulateArguments& arguments) {
  chain::SimulateOptions o = arguments.options;
  o.method = chain::parse_integrator(arguments.method);
  o.limits = value_named<chain::LimitRule>(arguments.limits).value_or(o.limits);
  set_output_times(arguments.every, o);
  set_tool_force(arguments, o.tool);
  return o;
}

struct Summary {
  std::string model, device, method, torque, output;
  std::int64_t samples = 0, outputs = 0, settled = 0;
  std::array<std::int64_t, chain::kSimulationStatusCount> by_status{};
  double duration = 0, seconds = 0, steps = 0, worst_balance = 0, slowest = 0, peak_speed = 0, peak_torque = 0;
};

void check_samples(const chain::Trajectories& t, Summary& s) {
  for (std::size_t i = 0; i < t.status.size(); ++i) {
    ++s.by_status[static_cast<std::size_t>(t.status[i])];
    // Rejected steps cost as much as accepted ones.
    s.steps += static_cast<double>(t.steps[i] + t.rejected[i]);
    // What has not reached the end has no balance to compare.
    if (t.status[i] != SimulationStatus::kCompleted) continue;
    s.worst_balance = std::max(s.worst_balance, t.worst_balance[i]);
    if (std::isinf(t.settling_time[i])) continue;
    ++s.settled;
    s.slowest = std::max(s.slowest, t.settling_time[i]);
  }
  for (const double v : t.peak_speed) s.peak_speed = std::max(s.peak_speed, v);
  for (const double v : t.peak_torque) s.peak_torque = std::max(s.peak_torque, v);
}

void print_json(const Summary& s) {
  Json status = Json::object();
  for (int i = 0; i < chain::kSimulationStatusCount; ++i)
    status[to_string(static_cast<SimulationStatus>(i))] = s.by_status[static_cast<std::size_t>(i)];
  const bool timed = s.seconds > 0 && s.samples > 0;
  const Json out = {{"model", s.model},
                    {"samples", s.samples},
                    {"duration", s.duration},
                    {"outputs", s.outputs},
                    {"method", s.method},
                    {"torque", s.torque},
                    {"status", status},
                    {"settled", s.settled},
                    {"slowest_settling_time", s.settled > 0 ? Json(s.slowest) : Json(nullptr)},
                    {"worst_balance", s.worst_balance},
                    {"peak_speed", s.peak_speed},
                    {"peak_torque", s.peak_torque},
                    {"steps", s.steps},
                    {"seconds", s.seconds},
                    {"samples_per_second", timed ? Json(static_cast<double>(s.samples) / s.seconds) : Json(nullptr)},
                    {"device", s.device},
                    {"output", s.output.empty() ? Json(nullptr) : Json(s.output)}};
  std::printf("%s\n", out.dump(2).c_str());
}

void print_human(const Summary& s) {
  const auto line = [](const char* name, const std::string& text) { std::printf("%-12s %s\n", name, text.c_str()); };
  line("model", s.model);
  std::printf("%-12s %lld to t = %g s, %s, torque %s\n", "samples", static_cast<long long>(s.samples), s.duration,
              s.method.c_str(), s.torque.c_str());
  for (int i = 0; i < chain::kSimulationStatusCount; ++i) {
    const std::int64_t count = s.by_status[static_cast<std::size_t>(i)];
    if (count > 0) line(to_string(static_cast<SimulationStatus>(i)), std::to_string(count));
  }
  std::printf("%-12s %lld", "settled", static_cast<long long>(s.settled));
  if (s.settled > 0) std::printf(", the slowest at %.4g s", s.slowest);
  std::printf("\n%-12s speed %.4g, torque %.4g\n", "peaks", s.peak_speed, s.peak_torque);
  std::printf("%-12s off by at most %.3g J\n", "energy", s.worst_balance);
  if (s.seconds > 0 && s.samples > 0)
    std::printf("%-12s %.4g samples/s, %.4g steps/s (%.3g s)\n", "throughput",
                static_cast<double>(s.samples) / s.seconds, s.steps / s.seconds, s.seconds);
  line("device", s.device);
  line("results", s.output.empty() ? "not written (-o FILE keeps them)" : s.output);
}

void run_simulate(const SimulateArguments& arguments) {
  check_output(arguments.input, arguments.output, "the initial states");
  ModelArguments model = arguments.model;
  model.options.takes_coupled = true;
  const chain::Robot robot = read_model(model);
  const chain::Samples samples = make_samples(arguments, robot);
  const chain::SimulateOptions options = make_simulate_options(arguments);
  const Device device =
      parse_device_for_arrays(arguments.device, arguments.threads,
                              core_seconds::motions(samples.count, robot.joints, options.duration, options.step));
  chain::TorqueInput torque = arguments.torque;
  torque.kind = chain::parse_torque_kind(arguments.torque_kind);
  if (torque.kind == chain::TorqueKind::kSampled && !arguments.input.empty())
    torque.points = io::read_torque_points(arguments.input, static_cast<int>(chain::coordinates(robot).size()));
  Summary s;
  s.model = robot.name;
  s.device = describe(device);
  s.method = to_string(options.method);
  s.torque = to_string(torque.kind);
  s.output = arguments.output;
  s.samples = samples.count;
  s.outputs = static_cast<std::int64_t>(options.times.size());
  s.duration = options.duration;
  const auto start = std::chrono::steady_clock::now();
  const chain::Trajectories t = chain::simulate(robot, samples, torque, options, device);
  s.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  check_samples(t, s);
  if (!arguments.output.empty())
    io::write_trajectories(arguments.output, t, {robot.name, s.method, s.torque, s.device, version()});
  if (arguments.format == "json")
    print_json(s);
  else
    print_human(s);
  std::fflush(stdout);
  // by_status[0]: completed.
  check_unsolved(arguments.max_unsolved, {s.samples - s.by_status[0], s.samples}, "samples did not reach the end",
                 "`status` in the result file names the reason for each; --max-unsolved allows more.");
}

void add_numbers(Command command, const std::string& flag, std::vector<double>& values, const std::string& help) {
  command.add_option(flag, values, help).delimiter(',').type_name("X,...");
}

void add_torque_options(Command command, SimulateArguments& a) {
  command.add_option("--torque", a.torque_kind, "constant, step, ramp, sine, sampled, pd, computed or expression",
                     one_of<chain::TorqueKind>());
  add_numbers(command, "--amplitude", a.torque.amplitude,
              "of the torque per joint, or one for all [N m]; factor of pd, computed, sampled");
  command.add_option("--start", a.torque.start, "of a step or ramp [s]").capture_default_str();
  command.add_option("--end", a.torque.end, "of a ramp [s]");
  add_numbers(command, "--frequency", a.torque.frequency, "of a sine [Hz]");
  add_numbers(command, "--phase", a.torque.phase, "of a sine [rad]");
  command.add_option("--interval", a.torque.interval, "between the rows of `torque` [k,j] in IN.h5 [s]");
  add_numbers(command, "--set-point", a.torque.set_point, "of pd and computed [rad or m]");
  add_numbers(command, "--kp", a.torque.kp, "gain of the position");
  add_numbers(command, "--kd", a.torque.kd, "gain of the speed");
  command.add_flag("--compensate-gravity", a.torque.compensate_gravity, "pd: add the torque that holds the chain");
  command
      .add_option("--expression", a.torque.expression,
                  "torque as a formula of t, q0, qd0, ..., of each joint, separated by semicolons, or one for all")
      .delimiter(';')
      .type_name("FORMULA;...");
  add_numbers(command, "--torque-limit", a.torque.limit, "largest |torque| [N m]");
  add_numbers(command, "--stall-torque", a.torque.motor.stall_torque,
              "of the motors, whose torque falls with the speed [N m]");
  add_numbers(command, "--no-load-speed", a.torque.motor.no_load_speed, "of the motors [rad/s]");
}

void add_load_options(Command command, SimulateArguments& a) {
  const auto numbers = [&](const char* flag, std::vector<double>& values, int count, const char* type,
                           const char* help) {
    command.add_option(flag, values, help).delimiter(',').expected(count).type_name(type);
  };
  numbers("--force", a.force, 3, "FX,FY,FZ", "constant force on the tool point, world axes [N]");
  numbers("--moment", a.moment, 3, "MX,MY,MZ", "constant moment on the tool [N m]");
  numbers("--wall", a.wall, 6, "X,Y,Z,NX,NY,NZ", "a point of a wall that the tool may touch [m], and its normal");
  numbers("--spring", a.spring, 3, "X,Y,Z", "middle of a body that a spring holds to the tool, such as a finger [m]");
  command.add_option("--stiffness", a.options.tool.stiffness, "of wall or spring [N/m]");
  command.add_option("--contact-damping", a.options.tool.damping, "of wall or spring [N s/m]");
  command.add_option("--play", a.options.tool.play, "of the spring: no force within this distance [m]");
  add_numbers(command, "--coulomb", a.options.friction.coulomb, "dry friction per joint, or one for all [N m]");
  add_numbers(command, "--breakaway", a.options.friction.breakaway, "friction of a joint that starts to move [N m]");
  add_numbers(command, "--stribeck", a.options.friction.stribeck, "speed at which breakaway falls to Coulomb [rad/s]");
}

void add_method_options(Command command, SimulateArguments& a) {
  command.add_option("--method", a.method, "rk4, dopri5 (adaptive), implicit (damping, order 2) or implicit1 (order 1)",
                     one_of<chain::Integrator>());
  command.add_option("--step", a.options.step, "of all methods but dopri5 [s]", positive_number());
  add_output_times(command, a.options, a.every);
  command.add_option("--relative-tolerance", a.options.tolerance.relative, "dopri5", positive_number());
  command.add_option("--absolute-tolerance", a.options.tolerance.absolute, "dopri5", positive_number());
  command.add_option("--max-steps", a.options.max_steps, "dopri5: per sample", above_zero());
  command.add_option("--limits", a.limits, "joint limits: ignore, finish (a sample ends there) or stop (inelastic)",
                     one_of<chain::LimitRule>());
  command.add_option("--settle-speed", a.options.settle_speed, "settled: every |qd| is below", positive_number());
  command.add_option("--settle-band", a.options.settle_band, "settled: every joint is this near --settle-at",
                     positive_number());
  add_numbers(command, "--settle-at", a.options.settle_at,
              "where to settle; not given: the set point of pd and computed");
}

/// Flags of another torque or method than the chosen one.
void refuse_unused(const Command& command, const SimulateArguments& a) {
  struct Rule {
    std::vector<const char*> flags;
    const char* choice;
    const std::string& chosen;
    std::vector<std::string> of;
  };
  const Rule rules[] = {
      {{"--start"}, "--torque", a.torque_kind, {"step", "ramp"}},
      {{"--end"}, "--torque", a.torque_kind, {"ramp"}},
      {{"--frequency", "--phase"}, "--torque", a.torque_kind, {"sine"}},
      {{"--interval"}, "--torque", a.torque_kind, {"sampled"}},
      {{"--set-point", "--kp", "--kd"}, "--torque", a.torque_kind, {"pd", "computed"}},
      {{"--compensate-gravity"}, "--torque", a.torque_kind, {"pd"}},
      {{"--expression"}, "--torque", a.torque_kind, {"expression"}},
      {{"--relative-tolerance", "--absolute-tolerance", "--max-steps"}, "--method", a.method, {"dopri5"}},
  };
  for (const Rule& rule : rules)
    for (const char* flag : rule.flags) {
      if (!command.option(flag).given() || std::ranges::find(rule.of, rule.chosen) != rule.of.end()) continue;
      std::string others;
      for (const std::string& one : rule.of) others += (others.empty() ? "" : " or ") + one;
      throw Error(ExitCode::kUsage, std::string(flag) + " means nothing with " + rule.choice + " " + rule.chosen,
                  std::string("Give ") + rule.choice + " " + others + ", or leave " + flag + " out.");
    }
}

}  // namespace

void add_chain_simulate_command(Command chain) {
  Command command = chain.add_subcommand("simulate", "Trajectories of many samples under torques and damping");
  const auto a = std::make_shared<SimulateArguments>();
  add_model_options(command, a->model);
  a->model.options.needs_mass = true;
  command
      .add_option("input", a->input,
                  "initial states (HDF5: q; qd, damping, amplitude, torque, tool_wrench, parameters where wanted)")
      .type_name("IN.h5");
  command.add_option("-o,--output", a->output, "result file").type_name("OUT.h5");
  command
      .add_option("--q0", a->q0,
                  "initial joint values [rad, m], or with units, without a file: of each joint, or one for all; not "
                  "given: 0")
      .delimiter(',')
      .type_name("Q,...");
  add_numbers(command, "--qd0", a->qd0, "initial speeds without a file");
  add_numbers(command, "--damping", a->damping,
              "viscous, per joint or one for all [N m s/rad]; not given: the file's, the model's");
  add_method_options(command, *a);
  add_torque_options(command, *a);
  add_load_options(command, *a);
  add_batch_flags(command, *a, "does not reach the end");
  command.footer(
      "Examples:\n"
      "  garra chain simulate exoskeleton --q0 0.1,-0.2,0.3,0.2,-0.1,0.15 --damping 0.05 --output-interval 0.01 -o "
      "fall.h5\n"
      "  garra chain simulate exoskeleton states.h5 --torque pd --kp 2 --kd 0.05 --compensate-gravity --format json\n"
      "  garra chain simulate exoskeleton --q0 0.1 --damping 0.01 --wall=0,0,0.15,0,0,1 --stiffness 500");
  command.callback([a, command] {
    refuse_unused(command, *a);
    run_simulate(*a);
  });
}

}  // namespace garra::cli
