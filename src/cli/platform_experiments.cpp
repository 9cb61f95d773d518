// `garra platform experiments`: the paper's three experiments on any platform.
#include "systems/platform_experiments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/answer_parts.hpp"
#include "cli/platform_command.hpp"
#include "garra/io/platform_file.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;
using platform::Experiments;
using platform::ForwardFlops;
using platform::FreeMotionExperiment;
using platform::PathExperiment;

struct ExperimentArguments {
  std::string model, format = "human";
  std::vector<std::string> overrides;
};

Json json_of(const ForwardFlops& f) { return {{"full", f.full}, {"dense", f.dense}, {"minimal", f.minimal}}; }

Json json_of(const PathExperiment& e) {
  return {{"segments", e.segments},     {"space", e.joint_space ? "joint" : "pose"},
          {"iterations_full", e.full},  {"iterations_minimal", e.minimal},
          {"difference", e.difference}, {"converged", e.converged},
          {"flops", json_of(e.flops)}};
}

Json json_of(const platform::Trajectories& t) {
  return {{"status", to_string(t.status[0])},       {"steps", t.steps[0]},
          {"corrections", t.corrections[0]},        {"worst_drift", t.worst_drift[0]},
          {"worst_balance", t.worst_balance[0]},    {"end_position", t.end_pose.position},
          {"end_quaternion", t.end_pose.quaternion}};
}

Json json_of(const FreeMotionExperiment& e) {
  return {{"force", e.force},          {"until", e.until},           {"hybrid", json_of(e.full)},
          {"rk4", json_of(e.minimal)}, {"difference", e.difference}, {"flops_per_evaluation", json_of(e.flops)}};
}

/// "4", or "4 to 5" where the segments differ.
std::string range_of(const std::vector<int>& iterations) {
  if (iterations.empty()) return "-";
  const auto [least, most] = std::minmax_element(iterations.begin(), iterations.end());
  return *least == *most ? std::to_string(*least) : std::to_string(*least) + " to " + std::to_string(*most);
}

std::string path_line(const PathExperiment& e) {
  return format("%8d  %-6s  %12s  %12s  %10.2g%s\n", e.segments, e.joint_space ? "joint" : "pose",
                range_of(e.full).c_str(), range_of(e.minimal).c_str(), e.difference,
                e.converged ? "" : "  NOT CONVERGED");
}

/// As the paper's figures 3 and 5, whose 91 equations a general solver eliminates.
std::string flops_line(const char* what, const ForwardFlops& f) {
  return format("  flops    %s: 91 dense %.4g, 91 leg by leg %.4g, minimal %.4g (%.0f : %.1f : 1)\n", what, f.dense,
                f.full, f.minimal, f.dense / f.minimal, f.full / f.minimal);
}

std::string motion_line(const char* name, const platform::Trajectories& t) {
  return format("  %-8s %s, %lld steps, %lld corrections, drift %.3g, energy off by %.3g J\n", name,
                words(to_string(t.status[0])).c_str(), static_cast<long long>(t.steps[0]),
                static_cast<long long>(t.corrections[0]), t.worst_drift[0], t.worst_balance[0]);
}

std::string human(const platform::Platform& platform, const Experiments& all) {
  const char* head = "segments  space   91 coord.      minimal     difference\n";
  std::string out = summary_line("model", platform.name);
  out += "\n400 mm along z with 45 degrees about x: Newton steps per segment\n";
  out += head;
  for (const PathExperiment& e : all.move) out += path_line(e);
  out += "\nThe whole stroke of the legs: Newton steps per segment\n";
  out += head + path_line(all.stroke);
  out += flops_line("whole path", all.stroke.flops);
  const FreeMotionExperiment& free = all.free_motion;
  out += format("\nConstant forces of 1.2 times those at rest for %g s\n", free.until);
  out += motion_line("hybrid", free.full) + motion_line("rk4", free.minimal);
  out += flops_line("one evaluation of the accelerations", free.flops);
  return out + format("  %-8s %.3g apart at the end\n", "forms", free.difference);
}

void run_experiments(const ExperimentArguments& a) {
  const platform::Platform platform = io::read_platform(a.model, a.overrides);
  const Experiments all = platform::experiments(platform);
  if (a.format == "human") {
    std::fputs(human(platform, all).c_str(), stdout);
    return;
  }
  Json move = Json::array();
  for (const PathExperiment& e : all.move) move.push_back(json_of(e));
  const Json out = {{"command", "experiments"},
                    {"model", platform.name},
                    {"move", move},
                    {"stroke", json_of(all.stroke)},
                    {"free_motion", json_of(all.free_motion)}};
  std::printf("%s\n", out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace

void add_platform_experiments_command(CLI::App& platform) {
  CLI::App* command = platform.add_subcommand("experiments", "The paper's experiments: iterations, agreement, drift");
  const auto a = std::make_shared<ExperimentArguments>();
  command->add_option("model", a->model, "platform file (.toml), or the name of one in data/platforms")
      ->required()
      ->type_name("MODEL");
  command->add_option("--set", a->overrides, "replace a value of the model, for example platform.mass=30")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--format", a->format, "human or json")
      ->check(CLI::IsMember({"human", "json"}))
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  garra platform experiments trepa_like\n"
      "  garra platform experiments trepa_like --format json");
  command->callback([a] { run_experiments(*a); });
}

}  // namespace garra::cli
