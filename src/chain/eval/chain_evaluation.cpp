// chain::evaluate, on arrays of the host and of the GPU: everything that can be misuse is refused here, then the
// instance for the chain's size runs.
#include <algorithm>
#include <array>
#include <string>

#include "base/room.hpp"
#include "chain/eval/buffer.hpp"
#include "chain/eval/coupled.hpp"
#include "chain/eval/evaluate_cuda.hpp"
#include "garra/batch/on_device.hpp"
#include "garra/batch/parallel.hpp"
#include "garra/chain_eval.hpp"
#include "garra/core/error.hpp"

namespace garra::chain {

namespace {

void check_robot(const Robot& robot) {
  if (robot.joints < 1 || robot.joints > kMaxJoints)
    throw Error(ExitCode::kInvalidFile, "the chain has " + std::to_string(robot.joints) + " joints",
                "between 1 and " + std::to_string(kMaxJoints) + " joints are supported");
  const auto n = static_cast<std::size_t>(robot.joints);
  if (robot.joint.size() != n || robot.form.size() != n || robot.link.size() != n)
    throw Error(ExitCode::kUsage, "the robot \"" + robot.name + "\" does not describe each of its joints");
  for (const Coupling& c : robot.coupled)
    if (c.leader == c.joint) require_uncoupled(robot, "evaluate");  // singularity::merge_helical()
  for (std::size_t i = 0; i < n; ++i)
    // Bodies and outputs go by joints: link frame i is taken to move with joint i.
    if (robot.link[i].joint != static_cast<int>(i))
      throw Error(ExitCode::kUsage, "the robot \"" + robot.name + "\": link frame " + std::to_string(i) +
                                        " is not fixed to what joint " + std::to_string(i) + " moves");
}

void check_array(const char* name, std::span<const double> values, std::int64_t count, int fields) {
  if (values.size() == static_cast<std::size_t>(count * fields)) return;
  throw Error(ExitCode::kInvalidFile, std::string(name) + " has " + std::to_string(values.size()) +
                                          " numbers, not [n,k] of n = " + std::to_string(count) +
                                          ", k = " + std::to_string(fields));
}

void check_needed(Output output, const char* name, std::span<const double> values) {
  if (values.empty())
    throw Error(ExitCode::kInvalidFile,
                std::string("output ") + to_string(output) + " needs " + name + ", which is missing",
                std::string("give ") + name + " for every state, or leave this output out");
}

void check_states(const StateView& in, const Outputs& wanted, int joints) {
  if (in.count < 0) throw Error(ExitCode::kInvalidFile, "the number of states is negative");
  check_array("q", in.q, in.count, joints);
  // No state, nothing missing.
  if (in.count == 0) return;
  for (int i = 0; i < kOutputCount; ++i) {
    const auto output = static_cast<Output>(i);
    if (!wanted.has(output)) continue;
    const Needs n = needs(output);
    if (n.qd) check_needed(output, "qd", in.qd);
    if (n.qdd) check_needed(output, "qdd", in.qdd);
    if (n.tau) check_needed(output, "tau", in.tau);
    if (n.wrench) check_needed(output, "wrench", in.wrench);
  }
  if (!in.qd.empty()) check_array("qd", in.qd, in.count, joints);
  if (!in.qdd.empty()) check_array("qdd", in.qdd, in.count, joints);
  if (!in.tau.empty()) check_array("tau", in.tau, in.count, joints);
  if (!in.wrench.empty()) check_array("wrench", in.wrench, in.count, 6);
}

bool scales(Quantity quantity) {
  switch (quantity) {
    case Quantity::kAlpha:
    case Quantity::kTheta:
    case Quantity::kComX:
    case Quantity::kComY:
    case Quantity::kComZ:
      return false;
    default:
      return true;
  }
}

/// Of a Parameter or DeviceParameter.
template <class P>
std::string parameter_name(const P& p) {
  return std::string("parameter ") + to_string(p.quantity) + " of joint " + std::to_string(p.joint);
}

template <class P>
void check_parameter(const P& p, const Robot& robot) {
  const std::string name = parameter_name(p);
  if (p.joint < 0 || p.joint >= robot.joints)
    throw Error(ExitCode::kInvalidFile, name + ": the chain has joints 0 to " + std::to_string(robot.joints - 1));
  if (p.change == Change::kScale && !scales(p.quantity))
    throw Error(ExitCode::kInvalidFile, name + " cannot be scaled", "give what is to be added to it");
  if (p.quantity == Quantity::kSize && p.change == Change::kAdd)
    throw Error(ExitCode::kInvalidFile, name + " is a factor", "scale it");
  // Moments grow in proportion to the mass, and 0 has no proportion.
  if (p.quantity == Quantity::kMass && p.change == Change::kAdd &&
      robot.form[static_cast<std::size_t>(p.joint)].mass == 0)
    throw Error(ExitCode::kInvalidFile, name + ": a link without mass has no inertia that could grow in proportion",
                "give the link a mass in its description");
}

/// Which way the center of mass moves, in the axes of the kernel frame.
Vec3<double> parameter_direction(Quantity quantity, int joint, const Robot& robot) {
  const int axis = static_cast<int>(quantity) - static_cast<int>(Quantity::kComX);
  if (axis < 0 || axis > 2) return Vec3<double>::zero();
  // Offsets are given in the described link frame, the kernels move centers in their own.
  return column(robot.link[static_cast<std::size_t>(joint)].offset.R, axis);
}

template <class Parameters>
std::vector<Column> checked_columns(const Parameters& parameters, const Robot& robot) {
  if (parameters.size() > kMaxParameters)
    throw Error(ExitCode::kInvalidFile, std::to_string(parameters.size()) + " parameters differ from state to state",
                "at most " + std::to_string(kMaxParameters) + " are supported");
  std::vector<Column> columns;
  for (const auto& p : parameters) {
    check_parameter(p, robot);
    columns.push_back(
        {p.joint, p.quantity, p.change, parameter_direction(p.quantity, p.joint, robot), p.joint + 1 == robot.joints});
  }
  return columns;
}

}  // namespace

std::vector<Column> make_columns(const StateView& in, const Robot& robot) {
  std::vector<Column> columns = checked_columns(in.parameters, robot);
  for (const Parameter& p : in.parameters) check_array(parameter_name(p).c_str(), p.value, in.count, 1);
  return columns;
}

std::vector<Column> make_columns(std::span<const DeviceParameter> parameters, const Robot& robot) {
  std::vector<Column> columns = checked_columns(parameters, robot);
  for (const DeviceParameter& p : parameters)
    if (p.value.data == nullptr) throw Error(ExitCode::kUsage, parameter_name(p) + " is a null pointer");
  return columns;
}

namespace {

/// Two to seven joints have instances of their own on lanes: a fifth to a third faster for two to five.
void evaluate_shared(const EvalJob& job) {
  if (job.device.executor == Executor::kScalar) return evaluate_on_scalar(job);
  static constexpr std::array<void (*)(const EvalJob&), 6> exact = {evaluate_on_lanes<2>, evaluate_on_lanes<3>,
                                                                    evaluate_on_lanes<4>, evaluate_on_lanes<5>,
                                                                    evaluate_on_lanes<6>, evaluate_on_lanes<7>};
  const int joints = job.robot.joints;
  if (joints >= 2 && joints <= 7)
    exact[static_cast<std::size_t>(joints - 2)](job);
  else
    evaluate_on_lanes<kAnyJoints>(job);
}

/// use(array, whether a wanted output needs it, its name, its width), in the order of ChainRows.
template <class States, class Use>
void for_each_input(const States& states, const Needs& needed, int joints, const Use& use) {
  use(states.q, true, "q", joints);
  use(states.qd, needed.qd, "qd", joints);
  use(states.qdd, needed.qdd, "qdd", joints);
  use(states.tau, needed.tau, "tau", joints);
  use(states.wrench, needed.wrench, "wrench", 6);
}

void evaluate_on_gpu(const EvalJob& job, const std::vector<Column>& columns) {
  using batch::in_column, batch::out_column;
  const int joints = job.robot.joints;
  batch::Rows rows{job.in.count, {}, {}, job.device};
  for_each_input(job.in, collect_needs(job.wanted), joints,
                 [&](StateView::Array values, bool is_needed, const char*, int width) {
                   rows.in.push_back(in_column(is_needed ? values : StateView::Array(), width));
                 });
  for (const Parameter& p : job.in.parameters) rows.in.push_back(in_column(p.value, 1));
  for (int i = 0; i < kOutputCount; ++i) {
    const auto output = static_cast<Output>(i);
    rows.out.push_back(out_column(job.out[output], output_size(output, joints)));
  }
  rows.out.push_back(out_column(job.out.status));
  batch::on_device(job.device, HostChain{job.robot, job.options, columns, rows});
}

}  // namespace

void evaluate(const Robot& robot, const StateView& states, const Outputs& wanted, const EvalPlace& place,
              Results& out) {
  check_robot(robot);
  const auto coordinates = static_cast<int>(static_cast<std::size_t>(robot.joints) - robot.coupled.size());
  check_states(states, wanted, coordinates);
  if (!robot.coupled.empty()) return evaluate_coupled(robot, states, wanted, place, out);
  const std::vector<Column> columns = make_columns(states, robot);
  out.joints = out.links = robot.joints;
  out.count = states.count;
  out.status.assign(static_cast<std::size_t>(states.count), Status::kConverged);
  for (int i = 0; i < kOutputCount; ++i) {
    const auto output = static_cast<Output>(i);
    const std::int64_t numbers = wanted.has(output) ? states.count * output_size(output, robot.joints) : 0;
    make_room_for(out[output], static_cast<std::size_t>(numbers), solve_threads(place.device));
  }
  // After sizes and checks: from here on nothing is misuse.
  const EvalJob job{robot, states, wanted, place.options, place.device, out};
  if (states.count == 0) return;
  if (place.device.executor == Executor::kCuda)
    evaluate_on_gpu(job, columns);
  else if (!columns.empty())
    evaluate_varying(job, columns);
  else
    evaluate_shared(job);
}

Results evaluate(const Robot& robot, const StateView& states, const Outputs& wanted, const EvalOptions& options,
                 const Device& device) {
  Results out;
  evaluate(robot, states, wanted, {options, device}, out);
  return out;
}

namespace {

Outputs requested_outputs(const DeviceResults& to) {
  Outputs wanted;
  for (int i = 0; i < kOutputCount; ++i)
    if (const auto output = static_cast<Output>(i); to[output].data != nullptr) wanted.add(output);
  return wanted;
}

batch::ResidentRows make_rows(const Robot& robot, const DeviceStates& states, const DeviceResults& to) {
  batch::ResidentRows rows;
  rows.count = states.count;
  for_each_input(states, collect_needs(requested_outputs(to)), robot.joints,
                 [&](const DeviceArray<const double>& array, bool is_needed, const char* name, int width) {
                   if (is_needed && array.data == nullptr)
                     throw Error(ExitCode::kUsage, std::string(name) + " is a null pointer",
                                 "a wanted output needs it");
                   rows.in.push_back(batch::device_column(is_needed ? array : DeviceArray<const double>(), width));
                 });
  for (const DeviceParameter& p : states.parameters) rows.in.push_back(batch::device_column(p.value, 1));
  for (int i = 0; i < kOutputCount; ++i) {
    const auto output = static_cast<Output>(i);
    rows.out.push_back(batch::device_column(to[output], output_size(output, robot.joints)));
  }
  rows.out.push_back(batch::device_column(to.status, 1));
  return rows;
}

/// Sets `needed` and runs nothing, where it is not null.
void run(const Robot& robot, const DeviceStates& states, const DevicePlace& place, const DeviceResults& to,
         std::size_t* needed) {
  check_robot(robot);
  require_uncoupled(robot, "states on a GPU");
  if (states.count < 0) throw Error(ExitCode::kUsage, "the number of states is negative");
  if (states.count == 0) return;
  DeviceChain chain{robot, place.options, make_columns(states.parameters, robot), make_rows(robot, states, to)};
  chain.rows.call = place.call;
  chain.rows.needed = needed;
  batch::on_device({Executor::kCuda, 0, place.call.device}, chain);
}

}  // namespace

void evaluate(const Robot& robot, const DeviceStates& states, const DevicePlace& place, const DeviceResults& to) {
  run(robot, states, place, to, nullptr);
}

std::size_t workspace_bytes(const Robot& robot, const DeviceStates& states, const DevicePlace& place,
                            const DeviceResults& to) {
  std::size_t bytes = 0;
  run(robot, states, place, to, &bytes);
  return bytes;
}

}  // namespace garra::chain
