// `garra chain ik`: a robot that moves at most six joints, and a file of tool poses in, all joint values out.
#include "chain/command/ik_command.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "chain/command/file_command.hpp"
#include "garra/chain_generate.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;

struct IkArguments : FileArguments {
  bool no_limits = false, windings = false, no_proofs = false;
  std::string task = "pose";
};

struct PoseFile {
  std::uint64_t count = 0;
  std::vector<double> pose, q0;
};

PoseFile read_poses(const std::string& path, std::uint64_t joints) {
  const io::Hdf5Reader file(path, "A file for inverse kinematics holds pose [n,4,4] and, if wanted, q0 [n,j].");
  PoseFile out{file.rows("pose", {4, 4}), file.doubles("pose"), {}};
  if (file.has("q0")) {
    file.require_shape("q0", {out.count, joints});
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
  file.write("family", {m}, std::vector<std::int32_t>(found.family.begin(), found.family.end()));
  file.write("distance", {n}, found.distance);
  file.write("complete", {n}, std::vector<std::int32_t>(found.complete.begin(), found.complete.end()));
  write_origin(file, robot.name, found.status);
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
          {"families", std::count(found.family.begin(), found.family.end(), 1)},
          {"largest_residual",
           found.residual.empty() ? 0.0 : *std::max_element(found.residual.begin(), found.residual.end())},
          {"output", output_json(a.output)}};
}

void run_ik(const IkArguments& a) {
  check_output(a.input, a.output, "the poses");
  const chain::Robot robot = read_fixed_model(a);
  const PoseFile file = read_poses(a.input, chain::coordinates(robot).size());
  const Device device =
      parse_device_for_arrays(a.device == "auto" ? "cpu" : a.device, a.threads, core_seconds::kCopying);
  const chain::AllSolutions solver(robot, value_named<chain::ToolTask>(a.task).value());
  const chain::AllSolutionsOptions options = {
      .limits = !a.no_limits, .windings = a.windings, .proofs = !a.no_proofs, .q0 = file.q0};
  const chain::AllSolutionsResult found = name_file(
      a.input, [&] { return solver.solve(file.pose, options, device); }, true);
  if (!a.output.empty()) write_solutions(a, robot, found);
  const Json summary = make_summary(a, robot, found);
  print_summary(summary, a.format);
  const auto all = static_cast<std::int64_t>(file.count);
  check_unsolved(a.max_unsolved, {all - summary["reached"].get<std::int64_t>(), all}, "poses have no solution",
                 "`status` in the result file names them; --max-unsolved allows more.");
}

}  // namespace

void add_chain_ik_command(Command chain) {
  Command command = chain.add_subcommand("ik", "All joint values for every tool pose in a file");
  const auto a = std::make_shared<IkArguments>();
  add_file_options(command, *a, "pose [n,4,4], and q0 [n,j] to sort by distance from (HDF5)");
  add_fix_option(command, *a);
  command.add_option("--task", a->task, "what counts of a pose").check(one_of<chain::ToolTask>()).capture_default_str();
  command.add_flag("--no-limits", a->no_limits, "also solutions outside of the joint limits");
  command.add_flag("--windings", a->windings, "every turn of a joint within its limits as a solution of its own");
  command.add_flag("--no-proofs", a->no_proofs, "faster, without certificates and search for continuous families");
  add_batch_flags(command, *a, "has no solution");
  command.footer(
      "Examples:\n  garra chain ik ur5 poses.h5 -o solutions.h5\n"
      "  garra chain ik iiwa14 poses.h5 -o solutions.h5 --fix 2=0.3\n"
      "  garra chain ik iiwa14 poses.h5 -o solutions.h5 --task point_axis --fix 2=0.3 --fix 6=0");
  command.callback([a] { run_ik(*a); });
}

}  // namespace garra::cli
