// Common parts of the commands of `garra platform`: model, files, device, one sample on the command
// line, summary.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/flags.hpp"
#include "garra/batch/device.hpp"
#include "garra/platform.hpp"
#include "platform/files/rows_file.hpp"

namespace garra::cli {

struct PlatformArguments : BatchFlags {
  std::string model;
  std::vector<std::string> overrides;
  std::string input, output;  ///< empty: one sample from the flags; nothing is written
  std::string at, lengths, force, velocity, acceleration, wrench;  ///< one sample
  std::string tool;  ///< point that positions are of; empty: the center of mass

  [[nodiscard]] bool json() const { return format == "json"; }
};

/// MODEL [IN.h5] -o OUT.h5 --at --set --device --threads --max-unsolved --format
void add_platform_options(Command command, PlatformArguments& arguments);
/// The same without IN.h5.
void add_platform_model_options(Command command, PlatformArguments& arguments);
/// --tool of the commands of kinematics.
void add_tool(Command command, PlatformArguments& arguments);
/// A flag of six numbers for one sample.
void add_six(Command command, const std::string& flag, std::string& text, const std::string& help);

/// --characteristic-length
void add_length_scale(Command command, double& length);

/// Units of the first three of six numbers, and of the last three.
struct SixUnits {
  io::Dimension first, last;
};
/// Six quantities between blanks or commas. Throws Error(kUsage) naming the flag.
[[nodiscard]] std::vector<FlagQuantity> six_quantities(const std::string& flag, const std::string& text,
                                                       const SixUnits& units);

/// "x y z, roll pitch yaw": meters without a unit; an angle has one, or is 0.
[[nodiscard]] platform::Place<double> parse_place(const std::string& flag, const std::string& text);

/// Model, device and samples of one run.
struct PlatformRun {
  platform::Platform platform;
  io::PlatformRows rows;
  Device device;
  bool single = false;  ///< one sample from the flags: its numbers are shown
};
/// Reads model, device and samples; the pose of one sample is --at, else home.
[[nodiscard]] PlatformRun begin_platform(const PlatformArguments& arguments, const io::PlatformNeeds& needs,
                                         bool forces_over_time = false);

/// Attributes of the result file: model, device, version and others.
[[nodiscard]] io::PlatformAttributes make_attributes(const PlatformRun& run, io::PlatformAttributes more = {});

/// Summary of a command.
struct PlatformSummary {
  std::string command;
  std::int64_t samples = 0, solved = 0;
  std::vector<std::pair<std::string, std::int64_t>> by_status;
  double seconds = 0;
  nlohmann::ordered_json more = nlohmann::ordered_json::object();  ///< for --format json
  std::string lines;                                               ///< for people
};

/// Counts the statuses; `solved` decides which count as solved.
template <class State>
void count_statuses(const std::vector<State>& status, int states, const std::function<bool(State)>& solved,
                    PlatformSummary& s) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(states));
  for (const State one : status) {
    ++count[static_cast<std::size_t>(one)];
    if (solved(one)) ++s.solved;
  }
  s.samples = static_cast<std::int64_t>(status.size());
  for (int i = 0; i < states; ++i)
    s.by_status.emplace_back(to_string(static_cast<State>(i)), count[static_cast<std::size_t>(i)]);
}

/// The arrays of a result that are not empty, but for the status.
template <class Result>
nlohmann::ordered_json arrays_json(const Result& r) {
  nlohmann::ordered_json out;
  platform::each_array(r, [&]<class T>(const char* name, const std::vector<T>& values, platform::Axes) {
    if constexpr (!std::is_enum_v<T>)
      if (!values.empty()) out[name] = values;
  });
  return out;
}
/// Largest |value| of the finite ones.
[[nodiscard]] double largest_value(const std::vector<double>& values);

/// Converged, certified or not.
[[nodiscard]] bool is_solved(platform::PoseStatus status);

/// Seconds that `work` takes; its errors about the samples name the file.
[[nodiscard]] double timed(const PlatformArguments& arguments, const std::function<void()>& work);

/// Result of a computation on rows, whose statuses are counted.
template <class Compute>
auto compute_rows(const PlatformArguments& arguments, const char* command, PlatformSummary& s, const Compute& compute) {
  std::invoke_result_t<Compute> r;
  s.command = command;
  s.seconds = timed(arguments, [&] { r = compute(); });
  count_statuses<platform::PoseStatus>(r.status, platform::kPoseStatuses, is_solved, s);
  return r;
}

/// Prints, then throws Error(kTooManyUnsolved) above --max-unsolved.
void finish_platform(const PlatformArguments& arguments, const PlatformRun& run, const PlatformSummary& s);

/// "name   value" as in all summaries.
[[nodiscard]] std::string summary_line(const std::string& name, const std::string& text);
/// Number for display: 0 instead of 1e-17 or -0.
[[nodiscard]] double without_noise(double x);
/// "1.234 -0.5 3": `count` numbers from `values`.
[[nodiscard]] std::string number_row(const double* values, int count, const char* pattern = " %11.6g");

/// A degree [rad].
inline constexpr double kDegree = M_PI / 180;
/// Roll, pitch, yaw of a quaternion [deg].
[[nodiscard]] Vec3<double> to_degrees(const double* quaternion);
/// Legs with something in a mask: "leg 2 too long; legs 0, 5 universal joint beyond its cone", legs from 0.
[[nodiscard]] std::string violations(std::uint32_t mask);

// The commands; each registers its own.
void add_platform_inverse_command(Command platform);
void add_platform_forward_command(Command platform);
void add_platform_modes_command(Command platform);
void add_platform_path_command(Command platform);
void add_platform_inverse_dynamics_command(Command platform);
void add_platform_forward_dynamics_command(Command platform);
void add_platform_simulate_command(Command platform);

}  // namespace garra::cli
