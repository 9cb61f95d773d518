// `garra chain eval`: a robot and a file of states in, a file of kinematics and dynamics and a summary out.
#include <array>
#include <cstdio>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "base/files/suggest.hpp"
#include "chain/command/file_command.hpp"
#include "chain/command/generate_command.hpp"
#include "chain/command/ik_command.hpp"
#include "chain/command/path_command.hpp"
#include "chain/command/rates_command.hpp"
#include "chain/command/simulate_command.hpp"
#include "chain/files/jacobian_form.hpp"
#include "chain/files/stream.hpp"
#include "cli/blocks.hpp"
#include "cli/commands.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"

namespace garra::cli {
namespace {

using chain::Output;
using chain::Outputs;
using Json = nlohmann::json;

struct EvalArguments : FileArguments {
  std::vector<std::string> outputs;
  std::string jacobian = "linear-first";
  std::string axes = "world";
  std::vector<double> point;
};

struct Summary {
  std::string model, device, output;
  int joints = 0;
  std::int64_t states = 0;
  std::vector<std::string> outputs, left_out;  ///< left out: not named, and an array that they need is missing
  std::array<std::int64_t, kStatusCount> by_status{};
  double seconds = 0;  ///< in evaluate, without reading and writing
  double elapsed = 0;  ///< [s] with them
};

/// What is computed unless --outputs says otherwise, as far as the file has what it reads.
const Outputs kUsual = {Output::kPose,    Output::kJacobian,        Output::kMassMatrix,     Output::kBias,
                        Output::kGravity, Output::kInverseDynamics, Output::kForwardDynamics};

bool can_be_had(Output output, const chain::Needs& present) {
  const chain::Needs n = needs(output);
  return (!n.qd || present.qd) && (!n.qdd || present.qdd) && (!n.tau || present.tau) && (!n.wrench || present.wrench);
}

std::vector<std::string> output_names() {
  std::vector<std::string> names = {"all"};
  for (int i = 0; i < chain::kOutputCount; ++i) names.emplace_back(to_string(static_cast<Output>(i)));
  return names;
}

Output parse_output(const std::string& name) {
  const std::vector<std::string> names = output_names();
  for (std::size_t i = 1; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Output>(i - 1);
  throw Error(ExitCode::kUsage, "--outputs " + io::quoted(name) + ": there is no such output",
              io::suggest(name, names, "Outputs"));
}

/// Named outputs are wanted whatever the file has, others where it has what they read.
Outputs wanted_outputs(const EvalArguments& arguments, const io::StateStream& states, Summary& summary) {
  Outputs named, wanted, found;
  bool all = false;
  for (const std::string& name : arguments.outputs) {
    if (name == "all")
      all = true;
    else
      named.add(parse_output(name));
  }
  if (all)
    wanted = Outputs::all();
  else if (named.empty())
    wanted = kUsual;
  for (int i = 0; i < chain::kOutputCount; ++i) {
    const auto output = static_cast<Output>(i);
    // Of no states every output can be had.
    if (named.has(output) || (wanted.has(output) && (states.count() == 0 || can_be_had(output, states.present())))) {
      found.add(output);
      summary.outputs.emplace_back(to_string(output));
    } else if (wanted.has(output)) {
      summary.left_out.emplace_back(to_string(output));
    }
  }
  return found;
}

chain::EvalOptions make_eval_options(const EvalArguments& arguments) {
  chain::EvalOptions options;
  options.form = value_named<chain::JacobianForm>(arguments.jacobian).value();
  options.body_axes = arguments.axes == "tool";
  for (std::size_t k = 0; k < arguments.point.size(); ++k) options.point[static_cast<int>(k)] = arguments.point[k];
  return options;
}

chain::Needs collect_needs(const Outputs& wanted) {
  chain::Needs all;
  for (int i = 0; i < chain::kOutputCount; ++i) {
    if (!wanted.has(static_cast<Output>(i))) continue;
    const chain::Needs n = needs(static_cast<Output>(i));
    all = {all.qd || n.qd, all.qdd || n.qdd, all.tau || n.tau, all.wrench || n.wrench};
  }
  return all;
}

/// States per block: what a thread reads, computes and writes stays in its L2 cache. A GPU takes as many as it can use.
std::int64_t choose_block_size(const Device& device) {
  return device.executor == Executor::kCuda ? std::int64_t{1} << 18 : 512;
}

/// Reading, evaluating and writing of one file, by threads of which each has a block in hand.
struct FileJob {
  const EvalArguments& arguments;
  const chain::Robot& robot;
  const io::StateStream& in;
  io::ResultStream* out;  ///< null: nothing is written
  const Outputs& wanted;
  Summary& summary;
  std::mutex mutex = {};  ///< of the summary

  [[nodiscard]] auto worker(const Device& device) {
    return [this, place = chain::EvalPlace{make_eval_options(arguments), device}, needed = collect_needs(wanted),
            states = chain::States{}, results = chain::Results{}](std::int64_t first, std::int64_t count) mutable {
      in.read(first, count, needed, states);
      const double seconds = measure_seconds([&] { evaluate(states, place, results); });
      if (out != nullptr) out->write(first, results);
      const std::scoped_lock lock(mutex);
      summary.seconds += seconds;
      for (const Status status : results.status) ++summary.by_status[static_cast<std::size_t>(status)];
    };
  }

  /// Sizes and missing arrays are the file's fault: say which file.
  void evaluate(const chain::States& states, const chain::EvalPlace& place, chain::Results& results) const {
    name_file(arguments.input, [&] { chain::evaluate(robot, states, wanted, place, results); });
  }
};

void evaluate_file(const EvalArguments& arguments, const chain::Robot& robot, const io::StateStream& in,
                   const Device& device, Summary& summary) {
  const Outputs wanted = wanted_outputs(arguments, in, summary);
  std::optional<io::ResultStream> out;
  if (!arguments.output.empty())
    out.emplace(arguments.output, io::ResultStream::Plan{summary.joints, robot.joints, in.count(), wanted});
  const bool one_thread = device.executor == Executor::kCuda;  // it feeds the GPU; the packing has all threads
  const Blocks blocks{in.count(), choose_block_size(device), one_thread ? 1 : solve_threads(device)};
  Device of_block = device;
  if (!one_thread) of_block.threads = 1;
  FileJob job{arguments, robot, in, out ? &*out : nullptr, wanted, summary};
  blocks.run([&] { return job.worker(of_block); });
  // Seconds of all workers together, over their number: what the wall has seen.
  summary.seconds /= blocks.workers();  // each evaluated its share at the same time
  if (out) out->commit({robot.name, make_eval_options(arguments), summary.device, version()});
}

std::optional<double> total_rate(const Summary& s) {
  if (s.states == 0 || s.seconds <= 0) return std::nullopt;
  return static_cast<double>(s.states) / s.seconds;
}

void print_json(const Summary& s) {
  Json status = Json::object();
  for (int i = 0; i < kStatusCount; ++i)
    status[to_string(static_cast<Status>(i))] = s.by_status[static_cast<std::size_t>(i)];
  const auto rate = total_rate(s);
  const Json out = {{"model", s.model},
                    {"joints", s.joints},
                    {"states", s.states},
                    {"outputs", s.outputs},
                    {"left_out", s.left_out},
                    {"status", status},
                    {"seconds", s.seconds},
                    {"seconds_in_all", s.elapsed},
                    {"states_per_second", rate ? Json(*rate) : Json(nullptr)},
                    {"device", s.device},
                    {"output", output_json(s.output)}};
  std::printf("%s\n", out.dump(2).c_str());
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void print_human(const Summary& s) {
  const auto line = [](const char* name, const std::string& text) { std::printf("%-12s %s\n", name, text.c_str()); };
  line("model", s.model + ", " + std::to_string(s.joints) + (s.joints == 1 ? " joint" : " joints"));
  line("states", std::to_string(s.states));
  for (int i = 0; i < kStatusCount; ++i) {
    const std::int64_t count = s.by_status[static_cast<std::size_t>(i)];
    if (count > 0 && count < s.states) line(to_string(static_cast<Status>(i)), std::to_string(count));
    if (count > 0 && count == s.states) line("status", std::string("all ") + to_string(static_cast<Status>(i)));
  }
  line("outputs", joined(s.outputs));
  if (!s.left_out.empty()) line("left out", joined(s.left_out) + " (the file has not all that they read)");
  if (const auto rate = total_rate(s))
    std::printf("%-12s %.4g states/s (%.3g s, %.3g s with reading and writing)\n", "throughput", *rate, s.seconds,
                s.elapsed);
  line("device", s.device);
  line("results", s.output.empty() ? "not written (-o FILE keeps them)" : s.output);
}

void run_eval(const EvalArguments& arguments) {
  check_output(arguments.input, arguments.output, "the states");
  const Device device = parse_device_for_arrays(arguments.device, arguments.threads, core_seconds::kCopying);
  ModelArguments model = arguments.model;
  model.options.takes_coupled = true;
  const chain::Robot robot = read_model(model);
  const auto coordinates = static_cast<int>(chain::coordinates(robot).size());
  const io::StateStream states(arguments.input, coordinates);
  Summary summary;
  summary.model = robot.name;
  summary.joints = coordinates;
  summary.states = states.count();
  summary.device = describe(device);
  summary.output = arguments.output;
  summary.elapsed = measure_seconds([&] { evaluate_file(arguments, robot, states, device, summary); });
  if (arguments.format == "json")
    print_json(summary);
  else
    print_human(summary);
  std::fflush(stdout);
  const std::int64_t converged = summary.by_status[static_cast<std::size_t>(Status::kConverged)];
  check_unsolved(arguments.max_unsolved, {summary.states - converged, summary.states}, "states gave no numbers",
                 "`status` in the result file names the reason for each; --max-unsolved allows more.");
}

void add_eval_options(Command command, EvalArguments& arguments) {
  add_file_options(command, arguments, "state file (HDF5: q; qd, qdd, tau, wrench, parameters where needed)");
  command.add_option("--outputs", arguments.outputs, joined(output_names())).delimiter(',').type_name("NAME,...");
  command.add_option("--jacobian", arguments.jacobian, "rows: linear-first, angular-first or screws",
                     one_of<chain::JacobianForm>());
  command.add_option("--axes", arguments.axes, "of jacobian and tool_velocity: world or tool",
                     one_of({"world", "tool"}));
  command.add_option("--point", arguments.point, "tool point in the tool frame [m]").expected(3).type_name("X Y Z");
  add_batch_flags(command, arguments, "gave no numbers");
}

}  // namespace

void add_chain_commands(Command app) {
  Command chain = app.add_subcommand("chain", "Serial chains: kinematics and dynamics of many states");
  chain.require_subcommand();
  chain.footer("Examples:\n  garra chain eval puma560 states.h5 -o results.h5");
  Command eval = chain.add_subcommand("eval", "Poses, Jacobians, inertia and torques of every state in a file");
  const auto arguments = std::make_shared<EvalArguments>();
  add_eval_options(eval, *arguments);
  eval.footer(
      "Examples:\n"
      "  garra chain eval data/robots/iiwa14.urdf states.h5 -o results.h5 --outputs mass_matrix,gravity\n"
      "  garra chain eval puma560 states.h5 -o results.h5 --outputs all --format json");
  eval.callback([arguments] { run_eval(*arguments); });
  add_chain_ik_command(chain);
  add_chain_path_command(chain);
  add_chain_rates_command(chain);
  add_chain_simulate_command(chain);
  add_chain_generate_command(chain);
}

}  // namespace garra::cli
