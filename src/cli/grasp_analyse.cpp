// `garra grasp analyse`: instants of a grasp in, modes, forces and accelerations out.
#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/flags.hpp"
#include "cli/grasp_analysis_answer.hpp"
#include "garra/core/error.hpp"
#include "garra/io/scenario.hpp"
#include "io/atomic_file.hpp"
#include "io/grasp_states_file.hpp"

namespace garra::cli {
namespace {

namespace fs = std::filesystem;

struct AnalyseArguments {
  std::string scenario, input, group, output;  ///< no input: the nominal grasp; no output: nothing is written
  std::vector<std::string> overrides;
  std::string device = "auto", format = "human";
  int threads = 0;
  double max_unsolved = 1;
};

void check_arguments(const AnalyseArguments& a) {
  if (a.input.empty() && !a.group.empty())
    throw Error(ExitCode::kUsage, "--group without a file of states", "Name the file behind the scenario.");
  if (a.output.empty()) return;
  std::error_code ignored;
  if (fs::equivalent(a.input, a.output, ignored))
    throw Error(ExitCode::kUsage, a.output + ": the results would overwrite the states", "Choose another -o.");
  io::require_writable(a.output);
}

/// What is wrong with the states is the file's fault, but they have been checked when they were read.
void run_analyse(const AnalyseArguments& a) {
  check_arguments(a);
  AnalysisAnswer answer;
  const Device device = parse_device(a.device, a.threads);
  const grasp::Scenario scenario = io::read_scenario(a.scenario, a.overrides);
  const grasp::GraspStates states =
      a.input.empty() ? grasp::GraspStates{} : io::read_grasp_states(a.input, scenario, a.group);
  const auto start = std::chrono::steady_clock::now();
  answer.analysis = grasp::analyse(scenario, states, device);
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  answer.title = scenario.title;
  answer.device = describe(device);
  answer.output = a.output;
  if (!a.output.empty())
    io::write_analysis(a.output, answer.analysis,
                       {{"scenario", scenario.title}, {"device", answer.device}, {"version", GARRA_VERSION}});
  std::fputs((a.format == "json" ? analysis_json(answer) : analysis_text(answer)).c_str(), stdout);
  std::fflush(stdout);
  const std::int64_t n = std::ssize(answer.analysis.status), unsolved = n - solved(answer.analysis);
  if (static_cast<double>(unsolved) > a.max_unsolved * static_cast<double>(n))
    throw Error(ExitCode::kTooManyUnsolved,
                std::to_string(unsolved) + " of " + std::to_string(n) + " instants are not solved",
                "`status` names the reason for each; --max-unsolved allows more.");
}

}  // namespace

void add_grasp_commands(CLI::App& app) {
  CLI::App* grasp = app.add_subcommand("grasp", "Grasps: one instant (the papers' problem)");
  grasp->require_subcommand(1);
  CLI::App* command =
      grasp->add_subcommand("analyse", "Which contacts roll, slide, stick or break; forces, accelerations");
  const auto a = std::make_shared<AnalyseArguments>();
  command->add_option("scenario", a->scenario, "scenario file (.toml) with job = \"grasp\"")
      ->required()
      ->type_name("SCENARIO");
  command
      ->add_option("input", a->input,
                   "states (HDF5: position, velocity, finger_1/q, ...); not given: the nominal grasp")
      ->type_name("IN.h5");
  command->add_option("-o,--output", a->output, "result file")->type_name("OUT.h5");
  command->add_option("--group", a->group, "group of IN.h5 that holds the states, as `nominal` of a motion.h5");
  command->add_option("--set", a->overrides, "replace a value of the scenario, for example contacts.friction=0.3")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--device", a->device, "auto, cpu, scalar, cuda or cuda:1")->capture_default_str();
  command->add_option("--threads", a->threads, "processor threads, 0 for all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--max-unsolved", a->max_unsolved, "exit code 4 where a larger share is not solved")
      ->check(share())
      ->capture_default_str();
  command->add_option("--format", a->format, "human or json")
      ->check(CLI::IsMember({"human", "json"}))
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  garra grasp analyse data/scenarios/three_puma_sphere.toml\n"
      "  garra grasp analyse data/scenarios/three_puma_sphere.toml states.h5 -o forces.h5");
  command->callback([a] { run_analyse(*a); });
}

}  // namespace garra::cli
