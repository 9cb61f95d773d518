#include "platform/command/shared.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "base/files/suggest.hpp"
#include "cli/answer_parts.hpp"
#include "cli/flags.hpp"
#include "cli/robot_argument.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"
#include "garra/io/platform_file.hpp"
#include "garra/platform_kinematics.hpp"
#include "platform/files/parts.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr io::Dimension kAngularAcceleration{.s = -2, .rad = 1};

/// Six numbers, or none where the flag was not given.
std::vector<double> parse_six(const std::string& flag, const std::string& text, const SixUnits& units) {
  std::vector<double> out;
  if (!text.empty())
    for (const FlagQuantity& q : six_quantities(flag, text, units)) out.push_back(q.value);
  return out;
}

/// Outside of its stroke by more than the stroke.
bool is_far(const platform::Leg& leg, double length) {
  return std::fmax(leg.length_min - length, length - leg.length_max) > leg.length_max - leg.length_min;
}

/// Lengths of one sample. A length far outside its leg's stroke gets a warning, the first of them for all.
std::vector<double> parse_lengths(const std::string& text, const platform::Platform& platform) {
  std::vector<double> out;
  if (text.empty()) return out;
  std::string warning;
  for (const FlagQuantity& q : six_quantities("--lengths", text, {io::kLength, io::kLength})) {
    const platform::Leg& leg = platform.leg[out.size()];
    out.push_back(q.value);
    if (!warning.empty() || !is_far(leg, q.value)) continue;
    warning = format("--lengths: leg %d is %.6g m long, far outside its stroke %.6g to %.6g m",
                     static_cast<int>(out.size()) - 1, q.value, leg.length_min, leg.length_max);
    if (!q.has_unit && !is_far(leg, 1e-3 * q.value))
      warning += format(". Without a unit it is in meters: %.6g mm would be %.6g m", q.value, 1e-3 * q.value);
  }
  if (!warning.empty()) print_warnings({warning});
  return out;
}

Vec3<double> parse_tool(const std::string& text) {
  const std::vector<std::string> words = one_per_quantity({text});
  if (words.size() != 3)
    throw Error(ExitCode::kUsage, "--tool has " + std::to_string(words.size()) + " numbers, not 3",
                "Write them in quotes: --tool \"0 0 0.2\".");
  Vec3<double> out;
  for (int i = 0; i < 3; ++i)
    out[i] =
        flag_quantity(words[static_cast<std::size_t>(i)], io::kLength, "--tool " + io::quoted(text) + ": not a point")
            .value;
  return out;
}

io::PlatformRows rows_of_flags(const PlatformArguments& arguments, const platform::Platform& platform,
                               const io::PlatformNeeds& needs) {
  io::PlatformRows rows;
  rows.count = 1;
  rows.platforms = {platform};
  const platform::Place<double> place =
      arguments.at.empty() ? platform::home_place(platform) : parse_place("--at", arguments.at);
  rows.pose.position.assign(place.r.m, place.r.m + 3);
  rows.pose.quaternion.assign(place.p.m, place.p.m + 4);
  rows.lengths = parse_lengths(arguments.lengths, platform);
  rows.force = parse_six("--force", arguments.force, {io::kForce, io::kForce});
  rows.velocity = parse_six("--velocity", arguments.velocity, {io::kVelocity, io::kAngularVelocity});
  rows.acceleration = parse_six("--acceleration", arguments.acceleration, {io::kAcceleration, kAngularAcceleration});
  rows.wrench = parse_six("--wrench", arguments.wrench, {io::kForce, io::kTorque});
  const char* flag = needs.lengths && rows.lengths.empty() ? "--lengths"
                     : needs.force && rows.force.empty()   ? "--force"
                                                           : nullptr;
  if (flag != nullptr)
    throw Error(ExitCode::kUsage, std::string("neither a file of samples nor ") + flag,
                std::string("Give IN.h5, or ") + flag + " with six numbers for one sample.");
  return rows;
}

void refuse_flags_with_file(const PlatformArguments& a) {
  const std::pair<const char*, const std::string*> flags[] = {{"--at", &a.at},
                                                              {"--lengths", &a.lengths},
                                                              {"--force", &a.force},
                                                              {"--velocity", &a.velocity},
                                                              {"--acceleration", &a.acceleration},
                                                              {"--wrench", &a.wrench}};
  for (const auto& [name, text] : flags)
    if (!text->empty())
      throw Error(ExitCode::kUsage, std::string("both a file of samples and ") + name, "Give one of them.");
}

void print_json(const PlatformArguments& arguments, const PlatformRun& run, const PlatformSummary& s) {
  Json status = Json::object();
  for (const auto& [name, count] : s.by_status) status[name] = count;
  const bool rated = s.seconds > 0 && s.samples > 0;
  Json out = {{"command", s.command},
              {"model", run.platform.name},
              {"samples", s.samples},
              {"solved", s.solved},
              {"status", status}};
  out.update(s.more);
  out["seconds"] = s.seconds;
  out["samples_per_second"] = rated ? Json(static_cast<double>(s.samples) / s.seconds) : Json(nullptr);
  out["device"] = describe(run.device);
  out["output"] = arguments.output.empty() ? Json(nullptr) : Json(arguments.output);
  std::printf("%s\n", out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

void print_human(const PlatformArguments& arguments, const PlatformRun& run, const PlatformSummary& s) {
  std::string out = summary_line("model", run.platform.name);
  // One sample from flags is shown as such; throughput of one says nothing.
  if (!run.single) out += summary_line("samples", std::to_string(s.samples));
  for (const auto& [name, count] : s.by_status) {
    if (count == 0) continue;
    out += count == s.samples ? summary_line("status", (s.samples == 1 ? "" : "all ") + words(name))
                              : summary_line(words(name), std::to_string(count));
  }
  out += s.lines;
  if (!run.single && s.seconds > 0 && s.samples > 0) {
    out += summary_line("throughput",
                        format("%.4g samples/s (%.3g s)", static_cast<double>(s.samples) / s.seconds, s.seconds));
    out += summary_line("device", describe(run.device));
  }
  if (!run.single || !arguments.output.empty())
    out += summary_line("results", arguments.output.empty() ? "not written (-o FILE keeps them)" : arguments.output);
  std::fputs(out.c_str(), stdout);
}

}  // namespace

void add_six(Command command, const std::string& flag, std::string& text, const std::string& help) {
  command.add_option(flag, text, help).type_name("\"X X X X X X\"");
}

void add_length_scale(Command command, double& length) {
  command.add_option("--characteristic-length", length, "that turns are scaled with [m]; default: the platform's")
      .check(positive_number());
}

void add_tool(Command command, PlatformArguments& arguments) {
  command
      .add_option("--tool", arguments.tool,
                  "point of the platform that positions are of and turns are about [m]; not given: its center of mass")
      .type_name("\"X Y Z\"");
}

void add_platform_options(Command command, PlatformArguments& arguments) {
  add_platform_model_options(command, arguments);
  command.add_option("input", arguments.input, "samples (HDF5); not given: one sample from the flags")
      .type_name("IN.h5");
}

void add_platform_model_options(Command command, PlatformArguments& arguments) {
  command.add_option("model", arguments.model, "platform file (.toml), or the name of one in data/platforms")
      .required()
      .type_name("MODEL");
  command.add_option("-o,--output", arguments.output, "result file").type_name("OUT.h5");
  command
      .add_option("--at", arguments.at,
                  "pose of one sample: meters, and roll, pitch, yaw with a unit (30deg); not given: home")
      .type_name("\"X Y Z, R P Y\"");
  add_overrides(command, arguments.overrides, "replace a value of the model, for example platform.mass=30");
  add_batch_flags(command, arguments, "is not solved");
}

std::vector<FlagQuantity> six_quantities(const std::string& flag, const std::string& text, const SixUnits& units) {
  const std::vector<std::string> words = one_per_quantity({text});
  if (words.size() != 6)
    throw Error(ExitCode::kUsage, flag + " has " + std::to_string(words.size()) + " numbers, not 6",
                "Write them in quotes: " + flag + " \"1 2 3 4 5 6\".");
  std::vector<FlagQuantity> out;
  for (std::size_t i = 0; i < 6; ++i)
    out.push_back(flag_quantity(words[i], i < 3 ? units.first : units.last,
                                flag + " " + io::quoted(text) + ": " + io::quoted(words[i]) + " is no number"));
  return out;
}

platform::Place<double> parse_place(const std::string& flag, const std::string& text) {
  const std::vector<FlagQuantity> n = six_quantities(flag, text, {io::kLength, io::kAngle});
  const char* names[] = {"roll", "pitch", "yaw"};
  // Until 1.0: plain angles were degrees in older versions and would silently be read as radians.
  for (std::size_t i = 3; i < 6; ++i)
    if (!n[i].has_unit && n[i].value != 0)
      throw Error(ExitCode::kUsage, flag + " " + io::quoted(text) + ": " + names[i - 3] + " has no unit",
                  format("Write %gdeg; radians are written %grad.", n[i].value, n[i].value));
  return {{{n[0].value, n[1].value, n[2].value}}, io::quaternion_of_rpy({{n[3].value, n[4].value, n[5].value}})};
}

PlatformRun begin_platform(const PlatformArguments& arguments, const io::PlatformNeeds& needs, bool forces_over_time) {
  // Checked first: a long computation must not fail at a file that cannot be written.
  check_output(arguments.input, arguments.output, "the samples");
  PlatformRun run;
  run.device = parse_device_for_arrays(arguments.device, arguments.threads, core_seconds::kCopying);
  run.platform = io::read_platform(arguments.model, arguments.overrides);
  print_warnings(run.platform.notes);
  run.single = arguments.input.empty();
  if (!run.single) {
    refuse_flags_with_file(arguments);
    run.rows = io::read_platform_rows(arguments.input, run.platform, needs, forces_over_time);
  }
  if (!arguments.tool.empty()) {
    const Vec3<double> tool = parse_tool(arguments.tool);
    run.platform = platform::with_tool(run.platform, tool);
    for (platform::Platform& p : run.rows.platforms) p = platform::with_tool(p, tool);
  }
  if (run.single) run.rows = rows_of_flags(arguments, run.platform, needs);
  return run;
}

io::PlatformAttributes make_attributes(const PlatformRun& run, io::PlatformAttributes more) {
  io::PlatformAttributes all = {{"model", run.platform.name}, {"device", describe(run.device)}, {"version", version()}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

double largest_value(const std::vector<double>& values) {
  double most = 0;
  for (const double x : values)
    if (std::isfinite(x)) most = std::max(most, std::abs(x));
  return most;
}

bool is_solved(platform::PoseStatus status) {
  return status == platform::PoseStatus::kConverged || status == platform::PoseStatus::kCertified;
}

double timed(const PlatformArguments& arguments, const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  name_file(arguments.input, work);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void finish_platform(const PlatformArguments& arguments, const PlatformRun& run, const PlatformSummary& s) {
  if (arguments.json())
    print_json(arguments, run, s);
  else
    print_human(arguments, run, s);
  std::fflush(stdout);
  check_unsolved(arguments.max_unsolved, {s.samples - s.solved, s.samples}, "samples are not solved",
                 "`status` names the reason for each; --max-unsolved allows more.");
}

double without_noise(double x) { return std::abs(x) < 1e-12 ? 0.0 : x; }

std::string summary_line(const std::string& name, const std::string& text) {
  return format("%-14s ", name.c_str()) + text + "\n";
}

std::string number_row(const double* values, int count, const char* pattern) {
  std::string out;
  for (int i = 0; i < count; ++i) out += format(pattern, without_noise(values[i]));
  return out;
}

Vec3<double> to_degrees(const double* p) {
  Vec3<double> rpy = (1 / kDegree) * io::rpy_of_quaternion({{p[0], p[1], p[2], p[3]}});
  // Rounding of the conversion must not read as 1e-15 degrees.
  for (double& angle : rpy.m) angle = without_noise(angle);
  return rpy;
}

std::string violations(std::uint32_t mask) {
  const std::pair<std::uint32_t, const char*> kinds[] = {{platform::kTooShort, "too short"},
                                                         {platform::kTooLong, "too long"},
                                                         {platform::kUniversalCone, "universal joint beyond its cone"},
                                                         {platform::kSphericalCone, "spherical joint beyond its cone"},
                                                         {platform::kCollision, "touches another leg"}};
  std::string out;
  for (const auto& [bit, text] : kinds) {
    std::string legs;
    int count = 0;
    for (int leg = 0; leg < platform::kLegs; ++leg)
      if ((mask & (bit << leg)) != 0) legs += (count++ == 0 ? " " : ", ") + std::to_string(leg);
    if (count > 0) out += (out.empty() ? "" : "; ") + std::string(count == 1 ? "leg" : "legs") + legs + " " + text;
  }
  return out.empty() ? "none broken" : out;
}

}  // namespace garra::cli
