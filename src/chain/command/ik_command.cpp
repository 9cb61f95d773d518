// `garra chain ik`: a robot of six joints, or of seven with one fixed, and a file of tool poses in, all joint values
// out.
#include "chain/command/ik_command.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "base/files/hdf5.hpp"
#include "chain/command/fixed_joints.hpp"
#include "cli/flags.hpp"
#include "cli/robot_argument.hpp"
#include "garra/chain_generate.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;

struct IkArguments : BatchFlags {
  ModelArguments model;
  std::string input, output;
  std::vector<std::string> fixed;
  bool no_limits = false, windings = false;
};

struct PoseFile {
  std::uint64_t count = 0;
  std::vector<double> pose, q0;
};

PoseFile read_poses(const std::string& path, std::uint64_t joints) {
  const io::Hdf5Reader file(path, "A file for inverse kinematics holds pose [n,4,4] and, if wanted, q0 [n,j].");
  const io::Shape shape = file.shape("pose");
  if (shape.size() != 3 || shape[1] != 4 || shape[2] != 4)
    file.refuse("pose", "expected shape [n, 4, 4], found " + io::to_string(shape));
  PoseFile out{shape[0], file.doubles("pose"), {}};
  if (file.has("q0")) {
    file.require_shape("q0", {shape[0], joints});
    out.q0 = file.doubles("q0");
  }
  return out;
}

void write_solutions(const IkArguments& a, const chain::Robot& robot, const chain::AllSolutionsResult& found) {
  const std::uint64_t n = found.status.size(), m = found.residual.size();
  io::Hdf5Writer file;
  file.write("first", {n + 1}, found.first);
  file.write("q", {m, static_cast<std::uint64_t>(found.joints)}, found.q);
  file.write("residual", {m}, found.residual);
  file.write("unique", {m}, found.unique);
  file.write("limit_distance", {m}, found.limit_distance);
  file.write("complete", {n}, std::vector<std::int32_t>(found.complete.begin(), found.complete.end()));
  std::vector<std::int32_t> status;
  for (const Status s : found.status) status.push_back(static_cast<std::int32_t>(s));
  file.write("status", {n}, status);
  std::vector<std::string> names;
  for (int i = 0; i < kStatusCount; ++i) names.emplace_back(to_string(static_cast<Status>(i)));
  file.attribute("status", "names", names);
  file.attribute("/", "model", robot.name);
  file.attribute("/", "version", version());
  file.commit(a.output);
}

Json make_summary(const IkArguments& a, const chain::Robot& robot, const chain::AllSolutionsResult& found) {
  const auto of_status = [&](Status s) { return std::count(found.status.begin(), found.status.end(), s); };
  std::int64_t most = 0;
  for (std::size_t n = 0; n < found.status.size(); ++n) most = std::max(most, found.first[n + 1] - found.first[n]);
  return {{"model", robot.name},
          {"poses", found.status.size()},
          {"reached", of_status(Status::kConverged)},
          {"out_of_reach", of_status(Status::kOutOfReach)},
          {"invalid_input", of_status(Status::kInvalidInput)},
          {"solutions", found.residual.size()},
          {"most_of_a_pose", most},
          {"complete", std::count(found.complete.begin(), found.complete.end(), 1)},
          {"proven_unique", std::count_if(found.unique.begin(), found.unique.end(), [](double x) { return x > 0; })},
          {"largest_residual",
           found.residual.empty() ? 0.0 : *std::max_element(found.residual.begin(), found.residual.end())},
          {"output", a.output.empty() ? Json(nullptr) : Json(a.output)}};
}

void run_ik(const IkArguments& a) {
  check_output(a.input, a.output, "the poses");
  chain::Robot robot = read_model(a.model);
  for (const std::string& text : a.fixed) robot = with_fixed_joint(robot, text);
  const PoseFile file = read_poses(a.input, static_cast<std::uint64_t>(robot.joints));
  const Device device =
      parse_device_for_arrays(a.device == "auto" ? "cpu" : a.device, a.threads, core_seconds::kCopying);
  const chain::AllSolutionsResult found = chain::AllSolutions(robot).solve(
      file.pose, {.limits = !a.no_limits, .windings = a.windings, .q0 = file.q0}, device);
  if (!a.output.empty()) write_solutions(a, robot, found);
  const Json summary = make_summary(a, robot, found);
  if (a.format == "json")
    std::printf("%s\n", summary.dump(2).c_str());
  else
    for (const auto& [key, value] : summary.items())
      std::printf("%-18s %s\n", key.c_str(), (value.is_string() ? value.get<std::string>() : value.dump()).c_str());
  std::fflush(stdout);
  const auto without = static_cast<double>(file.count) - static_cast<double>(summary["reached"].get<std::int64_t>());
  if (without > a.max_unsolved * static_cast<double>(file.count))
    throw Error(ExitCode::kTooManyUnsolved,
                std::to_string(static_cast<std::int64_t>(without)) + " poses have no solution",
                "`status` in the result file names them; --max-unsolved allows more.");
}

}  // namespace

chain::Robot with_fixed_joint(const chain::Robot& robot, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  int joint = -1;
  for (int i = 0; i < robot.joints; ++i)
    if (name == std::to_string(i) || name == robot.joint[static_cast<std::size_t>(i)].name) joint = i;
  if (equals == std::string::npos || joint < 0)
    throw Error(ExitCode::kUsage, "--fix " + text + ": not JOINT=VALUE with a joint of the robot",
                "Joints have the names and numbers of `garra check`; values are in rad or m.");
  return chain::lock_joint(
      robot, joint,
      number_or_refuse(text.substr(equals + 1), "--fix " + text + ": not a finite number", "Give rad or m."));
}

void add_chain_ik_command(Command chain) {
  Command command = chain.add_subcommand("ik", "All joint values of six joints for every tool pose in a file");
  const auto a = std::make_shared<IkArguments>();
  add_model_options(command, a->model);
  command.add_option("input", a->input, "pose [n,4,4], and q0 [n,j] to sort by distance from (HDF5)")
      .required()
      .type_name("IN.h5");
  command.add_option("-o,--output", a->output, "result file").type_name("OUT.h5");
  command.add_option("--fix", a->fixed, "fixed joint, as of an arm of seven: name or number = value [rad or m]")
      .type_name("JOINT=VALUE");
  command.add_flag("--no-limits", a->no_limits, "also solutions outside of the joint limits");
  command.add_flag("--windings", a->windings, "every turn of a joint within its limits as a solution of its own");
  add_batch_flags(command, *a, "has no solution");
  command.footer(
      "Examples:\n  garra chain ik ur5 poses.h5 -o solutions.h5\n"
      "  garra chain ik iiwa14 poses.h5 -o solutions.h5 --fix 2=0.3");
  command.callback([a] { run_ik(*a); });
}

}  // namespace garra::cli
