// `garra chain path`: a robot and the poses or joint values of a path in, every branch of joint values along it out.
#include "chain/command/path_command.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "chain/command/file_command.hpp"
#include "garra/chain_generate.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PathArguments : FileArguments {
  std::string kind = "straight", best;
  chain::PathOptions options;
};

struct PathFile {
  std::vector<double> pose, q, time, q0;
};

PathFile read_path(const std::string& path, std::uint64_t joints) {
  const io::Hdf5Reader file(path,
                            "A file for a path holds pose [k,4,4] or q [k,j], and, if wanted, time [k] and q0 [j].");
  PathFile out;
  const bool of_joints = file.has("q");
  const std::uint64_t poses = of_joints ? file.rows("q", {joints}) : file.rows("pose", {4, 4});
  (of_joints ? out.q : out.pose) = file.doubles(of_joints ? "q" : "pose");
  if (file.has("time")) {
    file.require_shape("time", {poses});
    out.time = file.doubles("time");
  }
  if (file.has("q0")) {
    file.require_shape("q0", {joints});
    out.q0 = file.doubles("q0");
  }
  return out;
}

void write_branches(const std::string& path, const chain::Robot& robot, const chain::PathCheck& found) {
  std::vector<double> q, sigma, sigma_bound, limit_distance, limit_bound, speed_share, cost;
  std::vector<std::int64_t> first, rows = {0};
  std::vector<std::int32_t> begin, end;
  for (const chain::PathBranch& b : found.branch) {
    q.insert(q.end(), b.q.begin(), b.q.end());
    sigma.insert(sigma.end(), b.sigma.begin(), b.sigma.end());
    first.push_back(b.first);
    rows.push_back(static_cast<std::int64_t>(sigma.size()));
    sigma_bound.push_back(b.sigma_bound);
    limit_distance.push_back(b.limit_distance);
    limit_bound.push_back(b.limit_bound);
    speed_share.push_back(b.speed_share);
    cost.push_back(b.cost);
    begin.push_back(static_cast<std::int32_t>(b.begin));
    end.push_back(static_cast<std::int32_t>(b.end));
  }
  const std::uint64_t count = first.size();
  io::Hdf5Writer file;
  file.write("s", {found.s.size()}, found.s);
  file.write("undecided", {found.undecided.size() / 2, 2}, found.undecided);
  file.write("rows", {count + 1}, rows);
  file.write("first", {count}, first);
  file.write("q", {sigma.size(), static_cast<std::uint64_t>(found.joints)}, q);
  file.write("sigma", {sigma.size()}, sigma);
  file.write("sigma_bound", {count}, sigma_bound);
  file.write("limit_distance", {count}, limit_distance);
  file.write("limit_bound", {count}, limit_bound);
  file.write("speed_share", {count}, speed_share);
  file.write("cost", {count}, cost);
  file.write("begin", {count}, begin);
  file.write("end", {count}, end);
  const std::vector<std::string> names = {"path_end", "singular", "undecided"};
  file.attribute("begin", "names", names);
  file.attribute("end", "names", names);
  file.attribute("/", "model", robot.name);
  file.attribute("/", "version", version());
  file.commit(path);
}

Json make_summary(const PathArguments& a, const chain::Robot& robot, const chain::PathCheck& found) {
  const auto passing =
      std::count_if(found.branch.begin(), found.branch.end(), [](const auto& b) { return b.passes(); });
  Json out = {{"model", robot.name},
              {"samples", found.s.size()},
              {"branches", found.branch.size()},
              {"passing", passing},
              {"undecided_intervals", found.undecided.size() / 2},
              {"best", found.best}};
  if (found.best >= 0) {
    const chain::PathBranch& best = found.branch[static_cast<std::size_t>(found.best)];
    out["sigma_bound"] = best.sigma_bound;
    out["limit_distance"] = best.limit_distance;
    out["limit_joint"] = best.limit_joint;
    out["speed_share"] = best.speed_share;
  }
  out["output"] = output_json(a.output);
  return out;
}

chain::PathCheck check(const PathArguments& a, const chain::Robot& robot, const PathFile& file, const Device& device) {
  const auto kind = [&]<class Kind>(Kind) {
    if (const auto named = value_named<Kind>(a.kind)) return *named;
    throw Error(ExitCode::kUsage, "--kind " + a.kind + (file.q.empty() ? " of poses" : " of joint values"),
                file.q.empty() ? "There are straight, screw, spline." : "There are straight, spline.");
  };
  if (!file.q.empty()) {
    const chain::JointPath path = {kind(chain::JointPath::Kind{}), file.q, file.time};
    return name_file(
        a.input, [&] { return check_path(robot, path, a.options, device); }, true);
  }
  const chain::AllSolutions solver(robot);
  const chain::ToolPath path = {kind(chain::ToolPath::Kind{}), file.pose, file.time};
  return name_file(
      a.input, [&] { return solver.check_path(path, a.options, device); }, true);
}

void run_path(PathArguments a) {
  check_output(a.input, a.output, "the path");
  const chain::Robot robot = read_fixed_model(a);
  const PathFile file = read_path(a.input, static_cast<std::uint64_t>(robot.joints));
  a.options.q0 = file.q0;
  const Device device =
      parse_device_for_arrays(a.device == "auto" ? "cpu" : a.device, a.threads, core_seconds::kCopying);
  chain::PathCheck found = check(a, robot, file, device);
  const auto best = file.q0.empty() ? chain::PathCriterion::kSigma : chain::PathCriterion::kStart;
  choose_best(robot, value_named<chain::PathCriterion>(a.best).value_or(best), file.q0, found);
  if (!a.output.empty()) write_branches(a.output, robot, found);
  const Json summary = make_summary(a, robot, found);
  print_summary(summary, a.format, 20);
  if (found.best < 0 && a.max_unsolved < 1)
    throw Error(ExitCode::kTooManyUnsolved, "no branch passes the whole path within limits and speeds",
                "The result file names where each branch ends.");
}

}  // namespace

void add_chain_path_command(Command chain) {
  Command command = chain.add_subcommand(
      "path", "Every branch of joint values along a path of the tool, or a path of joint values, with bounds");
  const auto a = std::make_shared<PathArguments>();
  add_file_options(command, *a, "pose [k,4,4] or q [k,j]; time [k] [s] and q0 [j], if wanted (HDF5)");
  command.add_option("--kind", a->kind, "straight (line, fixed axis of rotation) or spline; poses also screw")
      .check(one_of({"straight", "screw", "spline"}))
      .capture_default_str();
  command.add_option("--best", a->best, "largest sigma or distance to limits, least travel or speed, start at q0")
      .check(one_of({"sigma", "limits", "travel", "speed", "start"}));
  add_fix_option(command, *a);
  command.add_option("--near", a->options.near_singular, "a branch ends at a singularity where sigma <= this")
      .capture_default_str();
  command.add_option("--samples", a->options.samples, "at first, along the whole path").capture_default_str();
  command.add_option("--refinements", a->options.refinements, "largest number of bisections of an interval")
      .capture_default_str();
  add_batch_flags(command, *a, "is not passed");
  command.footer("Examples:\n  garra chain path ur5 path.h5 -o branches.h5");
  command.callback([a] { run_path(*a); });
}

}  // namespace garra::cli
