// `garra chain rates`: a robot and a file of q and tool twists in, joint rates and a summary out.
#include "chain/command/rates_command.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "chain/command/file_command.hpp"
#include "chain/files/jacobian_form.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/core/error.hpp"

namespace garra::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RatesArguments : FileArguments {
  std::string rows = "linear-first", axes = "world", euler = "none";
  std::vector<double> point, weights;
  chain::RatePlace place;
};

/// q and twist of a file.
struct RateStates {
  std::uint64_t count = 0;
  std::vector<double> q, twist;
};

RateStates read_rate_states(const std::string& path, std::uint64_t joints) {
  const io::Hdf5Reader file(path, "A file for joint rates holds q [n,j] and twist [n,6].");
  const std::uint64_t count = file.rows("q", {joints});
  file.require_shape("twist", {count, 6});
  return {count, file.doubles("q"), file.doubles("twist")};
}

void write_rates(const RatesArguments& a, const chain::Robot& robot, const RateStates& states,
                 const chain::JointRates& rates, const std::vector<double>& analytic) {
  const std::uint64_t n = states.count, j = static_cast<std::uint64_t>(rates.joints);
  io::Hdf5Writer file;
  file.write("joint_rates", {n, j}, rates.qd);
  file.write("rates_damping", {n}, rates.damping);
  file.write("rates_residual", {n, 6}, rates.residual);
  if (!analytic.empty()) file.write("analytic_jacobian", {n, 6, j}, analytic);
  write_origin(file, robot.name, rates.status);
  file.attribute("/", "rows", a.rows);
  file.attribute("/", "axes", a.axes);
  file.commit(a.output);
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double x : values)
    if (std::isfinite(x)) most = std::max(most, std::abs(x));
  return most;
}

Json make_summary(const RatesArguments& a, const chain::Robot& robot, const chain::JointRates& rates) {
  const auto of_status = [&](Status s) { return std::count(rates.status.begin(), rates.status.end(), s); };
  return {{"model", robot.name},
          {"joints", rates.joints},
          {"states", rates.status.size()},
          {"converged", of_status(Status::kConverged)},
          {"invalid_input", of_status(Status::kInvalidInput)},
          {"damped", std::count_if(rates.damping.begin(), rates.damping.end(), [](double x) { return x > 0; })},
          {"largest_rate", largest(rates.qd)},
          {"largest_residual", largest(rates.residual)},
          {"device", describe(a.place.device)},
          {"output", output_json(a.output)}};
}

void run_rates(RatesArguments a) {
  check_output(a.input, a.output, "the states");
  a.model.options.takes_coupled = true;
  const chain::Robot robot = read_model(a.model);
  const std::size_t joints = chain::coordinates(robot).size();
  if (!a.weights.empty() && a.weights.size() != joints)
    throw Error(ExitCode::kUsage, "--weights has " + std::to_string(a.weights.size()) + " numbers",
                "Give one for each of the " + std::to_string(joints) + " joints.");
  std::copy(a.weights.begin(), a.weights.end(), a.place.rates.weight);
  chain::EvalOptions& rows = a.place.jacobian;
  rows.form = value_named<chain::JacobianForm>(a.rows).value();
  rows.body_axes = a.axes == "tool";
  std::copy(a.point.begin(), a.point.end(), rows.point.m);
  a.place.device = parse_device_for_arrays(a.device, a.threads, core_seconds::kCopying);
  const RateStates states = read_rate_states(a.input, joints);
  const chain::JointRates rates = chain::joint_rates(robot, states.q, states.twist, a.place);
  std::vector<double> analytic;
  if (const auto sequence = value_named<chain::EulerAngles>(a.euler))
    analytic = chain::analytic_jacobian(robot, states.q, *sequence, {rows, a.place.device});
  if (!a.output.empty()) write_rates(a, robot, states, rates, analytic);
  const Json summary = make_summary(a, robot, rates);
  print_summary(summary, a.format);
  check_unsolved(
      a.max_unsolved, {summary["invalid_input"].get<std::int64_t>(), static_cast<std::int64_t>(states.count)},
      "states hold a number that is not finite", "`status` in the result file names them; --max-unsolved allows more.");
}

}  // namespace

void add_chain_rates_command(Command chain) {
  Command command = chain.add_subcommand("rates", "Joint rates of tool twists: least norm, damped near a singularity");
  const auto a = std::make_shared<RatesArguments>();
  add_file_options(command, *a, "q [n,j] and twist [n,6] (HDF5)");
  command.add_option("--rows", a->rows,
                     "of the twist: linear-first, angular-first, or screws (about the world's origin)",
                     one_of<chain::JacobianForm>());
  command.add_option("--axes", a->axes, "of the twist: world or tool", one_of({"world", "tool"}));
  command.add_option("--point", a->point, "tool point in the tool frame [m]").expected(3).type_name("X Y Z");
  command
      .add_option("--weights", a->weights,
                  "one per joint: of redundant solutions, sum weight qd^2 is least; default: 1")
      .delimiter(',')
      .type_name("W,...");
  chain::RateOptions& rates = a->place.rates;
  command.add_option("--length", rates.length, "an error of this many m/s counts as much as one of 1 rad/s [m]")
      .capture_default_str();
  command
      .add_option("--near", rates.near,
                  "damped where the smallest singular value is below this share of the largest; 0: never")
      .capture_default_str();
  command.add_option("--damping", rates.damping, "lambda at a loss of rank, over the largest singular value")
      .capture_default_str();
  command.add_option("--analytic", a->euler, "also write the Jacobian with rates of Euler angles",
                     one_of({"none", "euler-zyx", "euler-zyz"}));
  add_batch_flags(command, *a, "has numbers that are not finite");
  command.footer("Examples:\n  garra chain rates iiwa14 states.h5 -o rates.h5 --weights 4,4,1,1,1,1,1 --near 0.01");
  command.callback([a] { run_rates(*a); });
}

}  // namespace garra::cli
