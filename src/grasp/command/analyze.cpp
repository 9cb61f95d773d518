// `garra grasp analyze`: reads instants of a grasp, writes contact modes, forces and accelerations.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "cli/robot_argument.hpp"
#include "cli/terminal.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"
#include "garra/io/scenario.hpp"
#include "grasp/command/analysis_answer.hpp"
#include "grasp/command/matrices.hpp"
#include "grasp/command/propose.hpp"
#include "grasp/command/rank.hpp"
#include "grasp/command/touch.hpp"
#include "grasp/files/states_file.hpp"

namespace garra::cli {
namespace {

struct AnalyzeArguments : BatchFlags {
  std::string effort;
  std::string scenario, input, group, output;  ///< no input: the nominal grasp; no output: nothing is written
  std::vector<std::string> overrides;
};

void check_arguments(const AnalyzeArguments& a) {
  if (a.input.empty() && !a.group.empty())
    throw Error(ExitCode::kUsage, "--group without a file of states", "Name the file behind the scenario.");
  check_output(a.input, a.output, "the states");
}

/// Errors in the states are the file's, but these were checked when they were read.
void run_analyze(const AnalyzeArguments& a) {
  check_arguments(a);
  AnalysisAnswer answer;
  // Before the scenario, so that a missing device is reported at once.
  Device device = parse_device_for_arrays(a.device, a.threads, core_seconds::kCopying);
  std::vector<std::string> overrides = a.overrides;
  if (!a.effort.empty()) overrides.push_back("solver.effort=" + a.effort);
  const grasp::Scenario scenario = io::read_scenario(a.scenario, overrides);
  print_warnings(scenario.warnings);
  const grasp::GraspStates states =
      a.input.empty() ? grasp::GraspStates{} : io::read_grasp_states(a.input, scenario, a.group);
  device = parse_device_for_arrays(a.device, a.threads, core_seconds::instants(states.count));
  const auto start = std::chrono::steady_clock::now();
  answer.analysis = grasp::analyze(scenario, states, device);
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  answer.title = scenario.title;
  answer.limited = states.tau.empty() && std::ranges::any_of(scenario.fingers, [](const grasp::Finger& f) {
                     return !f.torque_limit.empty();
                   });
  answer.device = describe(device);
  answer.output = a.output;
  if (!a.output.empty())
    io::write_analysis(a.output, answer.analysis,
                       {{"scenario", scenario.title}, {"device", answer.device}, {"version", version()}});
  std::fputs((a.format == "json" ? analysis_json(answer) : printable(analysis_text(answer))).c_str(), stdout);
  std::fflush(stdout);
  const std::int64_t n = std::ssize(answer.analysis.status), unsolved = n - count_solved(answer.analysis);
  check_unsolved(a.max_unsolved, {unsolved, n}, "instants are not solved",
                 "`status` names the reason for each; --max-unsolved allows more.");
}

}  // namespace

void add_grasp_commands(Command app) {
  Command grasp = app.add_subcommand("grasp", "Grasps: contact forces at one instant; propose and rank candidates");
  grasp.footer(
      "Examples:\n"
      "  garra grasp propose part.stl --fingers 3 -n 10000 -o set.h5\n"
      "  garra grasp rank set.h5 -o ranking.h5\n"
      "  garra grasp analyze data/scenarios/papers_hand.toml");
  grasp.require_subcommand();
  Command command =
      grasp.add_subcommand("analyze", "Which contacts roll, slide, stick or break; forces, accelerations");
  const auto a = std::make_shared<AnalyzeArguments>();
  command.add_option("scenario", a->scenario, "scenario file (.toml) with job = \"grasp\"")
      .required()
      .type_name("SCENARIO");
  command
      .add_option("input", a->input, "states (HDF5: position, velocity, finger_0/q, ...); not given: the nominal grasp")
      .type_name("IN.h5");
  command.add_option("-o,--output", a->output, "result file").type_name("OUT.h5");
  command.add_option("--group", a->group, "group of IN.h5 that holds the states, as `nominal` of a motion.h5");
  add_overrides(command, a->overrides, "replace a value of the scenario, for example contacts.friction=0.3");
  add_effort(command, a->effort);
  add_batch_flags(command, *a, "is not solved");
  command.footer(
      "Examples:\n"
      "  garra grasp analyze data/scenarios/three_puma_sphere.toml\n"
      "  garra grasp analyze data/scenarios/three_puma_sphere.toml states.h5 -o forces.h5");
  command.callback([a] { run_analyze(*a); });
  add_matrices_command(grasp);
  add_propose_command(grasp);
  add_touch_command(grasp);
  add_rank_command(grasp);
  add_compare_command(grasp);
}

}  // namespace garra::cli
