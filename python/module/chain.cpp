// Serial chains: descriptions, kinematics and dynamics of many states, trajectories.
#include "garra/chain.hpp"

#include <algorithm>

#include "arrays.hpp"
#include "chain/files/jacobian_form.hpp"
#include "garra/chain_eval.hpp"
#include "garra/chain_generate.hpp"
#include "garra/chain_simulate.hpp"
#include "garra/core/error.hpp"
#include "garra/io/robot.hpp"
#include "on_gpu.hpp"

namespace garra::python {

namespace {

using chain::Robot;

Robot read(const std::string& path, const std::string& base, const std::string& tip,
           const std::vector<std::string>& overrides, const std::vector<std::pair<std::string, std::string>>& locks) {
  io::RobotOptions options{base, tip, overrides, {}};
  for (const auto& [joint, value] : locks) options.locks.push_back({joint, value});
  options.takes_coupled = true;
  return io::read_robot(path, options);
}

Vec3<double> to_vec3(const std::vector<double>& v) {
  if (v.size() != 3) throw Error(ExitCode::kUsage, "a point has 3 numbers, not " + std::to_string(v.size()));
  return {{v[0], v[1], v[2]}};
}

Pose<double> pose_at(const double* p) {
  Pose<double> out;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) out.R(r, c) = p[4 * r + c];
    out.p[r] = p[4 * r + 3];
  }
  return out;
}

/// A joint of any description, as Chain.from_joints() has its arrays.
Robot from_joints(const std::string& name, const std::vector<std::string>& names, const std::vector<bool>& prismatic,
                  const Numbers& placement, const Numbers& axis, const Numbers& inertia, const Numbers& limits,
                  const Numbers& armature, const Numbers& damping, const Numbers& tool,
                  const std::vector<double>& gravity) {
  chain::RobotData data;
  data.name = name;
  data.source = "Python";
  data.tool = pose_at(tool.data());
  data.gravity = to_vec3(gravity);
  std::vector<chain::GeneralJoint> joints;
  for (std::size_t i = 0; i < names.size(); ++i) {
    chain::GeneralJoint j;
    j.placement = pose_at(placement.data() + 16 * i);
    j.axis = {{axis.data()[3 * i], axis.data()[3 * i + 1], axis.data()[3 * i + 2]}};
    j.link.frame = names[i];
    j.link.joint.name = names[i];
    j.link.joint.prismatic = prismatic[i];
    const double* l = limits.data() + 4 * i;
    j.link.joint.lower = l[0];
    j.link.joint.upper = l[1];
    j.link.joint.velocity_limit = l[2];
    j.link.joint.effort_limit = l[3];
    const double* body = inertia.data() + 13 * i;
    j.link.body.mass = body[0];
    j.link.body.com = {{body[1], body[2], body[3]}};
    for (int k = 0; k < 9; ++k) j.link.body.inertia.m[k] = body[4 + k];
    j.link.armature = armature.data()[i];
    j.link.damping = damping.data()[i];
    joints.push_back(j);
  }
  return chain::from_joints(data, joints);
}

std::vector<std::size_t> shape_with_rows(std::size_t rows, const std::vector<int>& rest) {
  std::vector<std::size_t> shape = {rows};
  for (const int d : rest) shape.push_back(static_cast<std::size_t>(d));
  return shape;
}

chain::EvalOptions eval_options(const std::string& form, bool body_axes, const std::vector<double>& point) {
  chain::EvalOptions options;
  const auto known = value_named<chain::JacobianForm>(form);
  if (!known)
    throw Error(ExitCode::kUsage, "form = \"" + form + "\"",
                "there are linear-first, angular-first, screws; of jacobian() also euler-zyx, euler-zyz");
  options.form = *known;
  options.body_axes = body_axes;
  options.point = to_vec3(point);
  return options;
}

/// `how`: form, body axes and point of the twist; near, damping, length, weights.
chain::RatePlace rate_place(const nb::tuple& how) {
  chain::RatePlace place;
  place.jacobian =
      eval_options(nb::cast<std::string>(how[0]), nb::cast<bool>(how[1]), nb::cast<std::vector<double>>(how[2]));
  place.rates.near = nb::cast<double>(how[3]);
  place.rates.damping = nb::cast<double>(how[4]);
  place.rates.length = nb::cast<double>(how[5]);
  const auto weights = nb::cast<std::vector<double>>(how[6]);
  std::copy_n(weights.begin(), std::min<std::size_t>(weights.size(), chain::kMaxJoints), place.rates.weight);
  return place;
}

nb::dict rates(const Robot& robot, const Numbers& q, const Numbers& twist, const nb::tuple& how,
               const std::string& device, int threads) {
  chain::RatePlace place = rate_place(how);
  auto found = compute([&] {
    place.device = make_device(device, threads, core_seconds::kCopying);
    return chain::joint_rates(robot, to_span(q), to_span(twist), place);
  });
  const std::size_t n = q.shape(0);
  nb::dict out;
  out["qd"] = taken(std::move(found.qd), {n, q.shape(1)});
  out["damping"] = taken(std::move(found.damping), {n});
  out["residual"] = taken(std::move(found.residual), {n, 6});
  out["status"] = taken_as<std::int32_t>(std::move(found.status), {n});
  return out;
}

nb::dict derivatives(const Robot& robot, bool forward, const Numbers& q, const Numbers& qd, const Numbers& last,
                     const std::string& device, int threads) {
  const std::size_t n = q.shape(0), j = q.shape(1);
  auto found = compute([&] {
    const Device on = make_device(device, threads, core_seconds::kCopying);
    const auto count = static_cast<std::int64_t>(n);
    return forward ? chain::forward_dynamics_derivatives(robot, {count, to_span(q), to_span(qd), {}, to_span(last)}, on)
                   : chain::inverse_dynamics_derivatives(robot, {count, to_span(q), to_span(qd), to_span(last)}, on);
  });
  nb::dict out;
  out[forward ? "dqdd_dq" : "dtau_dq"] = taken(std::move(found.by_q), {n, j, j});
  out[forward ? "dqdd_dqd" : "dtau_dqd"] = taken(std::move(found.by_qd), {n, j, j});
  out[forward ? "dqdd_dtau" : "mass_matrix"] = taken(std::move(found.by_input), {n, j, j});
  if (forward) out["qdd"] = taken(std::move(found.qdd), {n, j});
  out["status"] = taken_as<std::int32_t>(std::move(found.status), {n});
  return out;
}

nb::object analytic_jacobian(const Robot& robot, const Numbers& q, const std::string& sequence,
                             const std::vector<double>& point, const std::string& device, int threads) {
  auto found = compute([&] {
    return chain::analytic_jacobian(robot, to_span(q), value_named<chain::EulerAngles>(sequence).value(),
                                    {{.point = to_vec3(point)}, make_device(device, threads, core_seconds::kCopying)});
  });
  return nb::cast(taken(std::move(found), {q.shape(0), 6, q.shape(1)}));
}

nb::dict evaluate(const Robot& robot, const Numbers& q, const std::optional<Numbers>& qd,
                  const std::optional<Numbers>& qdd, const std::optional<Numbers>& tau,
                  const std::optional<Numbers>& wrench, const std::vector<std::string>& outputs,
                  const std::string& form, bool body_axes, const std::vector<double>& point, const std::string& device,
                  int threads) {
  chain::Outputs wanted;
  for (const std::string& name : outputs) wanted.add(chain::parse_output(name));
  const chain::EvalOptions options = eval_options(form, body_axes, point);
  const auto count = static_cast<std::int64_t>(q.shape(0));
  chain::Results results;
  {
    const Computing computing;
    chain::evaluate(robot, {count, to_span(q), to_span(qd), to_span(qdd), to_span(tau), to_span(wrench)}, wanted,
                    {options, make_device(device, threads, core_seconds::kCopying)}, results);
  }
  nb::dict out;
  for (int i = 0; i < chain::kOutputCount; ++i) {
    const auto output = static_cast<chain::Output>(i);
    if (wanted.has(output))
      out[to_string(output)] =
          taken(std::move(results[output]),
                shape_with_rows(q.shape(0), chain::output_shape(output, results.joints, results.links)));
  }
  out["status"] = taken_as<std::int32_t>(std::move(results.status), {q.shape(0)});
  return out;
}

/// Queues the evaluation of states on a GPU: `given` has q and what else there is, `out` an array for each wanted
/// output and the status.
void evaluate_on_gpu(const Robot& robot, const nb::dict& given, const nb::dict& out, const std::string& form,
                     bool body_axes, const std::vector<double>& point, std::uintptr_t stream,
                     const nb::callable& allocate) {
  const auto q = nb::cast<OnGpu<const double>>(given["q"]);
  chain::DeviceStates states;
  states.count = static_cast<std::int64_t>(q.shape(0));
  states.q = make_view<const double>(q);
  if (given.contains("qd")) take<const double>(given, "qd", states.qd);
  if (given.contains("qdd")) take<const double>(given, "qdd", states.qdd);
  if (given.contains("tau")) take<const double>(given, "tau", states.tau);
  if (given.contains("wrench")) take<const double>(given, "wrench", states.wrench);
  chain::DeviceResults to;
  take<std::int32_t>(out, "status", to.status);
  for (int i = 0; i < chain::kOutputCount; ++i) {
    const auto output = static_cast<chain::Output>(i);
    if (out.contains(to_string(output))) take<double>(out, to_string(output), to[output]);
  }
  const chain::EvalOptions options = eval_options(form, body_axes, point);
  run_gpu_call(
      {q.device_id(), stream, allocate},
      [&](const DeviceCall& call) {
        return chain::workspace_bytes(robot, states, {options, call}, to);
      },
      [&](const DeviceCall& call) {
        chain::evaluate(robot, states, {options, call}, to);
      });
}

/// Queues rates() of states that are on a GPU.
void rates_on_gpu(const Robot& robot, const nb::dict& given, const nb::dict& out, const nb::tuple& how,
                  std::uintptr_t stream, const nb::callable& allocate) {
  const auto q = nb::cast<OnGpu<const double>>(given["q"]);
  chain::DeviceTwists in{static_cast<std::int64_t>(q.shape(0)), make_view<const double>(q), {}};
  take<const double>(given, "twist", in.twist);
  chain::DeviceRates to;
  take<double>(out, "qd", to.qd);
  take<double>(out, "damping", to.damping);
  take<double>(out, "residual", to.residual);
  take<std::int32_t>(out, "status", to.status);
  const chain::RatePlace place = rate_place(how);
  run_gpu_call(
      {q.device_id(), stream, allocate},
      [&](const DeviceCall& call) { return chain::workspace_bytes(robot, in, place, to, call.device); },
      [&](const DeviceCall& call) { chain::joint_rates(robot, in, place, to, call); });
}

/// Value of a key, where it is there; other keys are checked in Python.
template <class T>
void take_key(const nb::dict& from, const char* key, T& to) {
  if (from.contains(key)) to = nb::cast<T>(from[key]);
}
void take_key(const nb::dict& from, const char* key, Vec3<double>& to) {
  if (from.contains(key)) to = to_vec3(nb::cast<std::vector<double>>(from[key]));
}

chain::ToolForceInput tool_force(const nb::dict& from) {
  chain::ToolForceInput tool;
  std::string kind = name_of(tool.kind);
  take_key(from, "kind", kind);
  const auto known = value_named<chain::ToolForceKind>(kind);
  if (!known)
    throw Error(ExitCode::kUsage, "tool: no kind \"" + kind + "\"", "there are constant, sampled, wall, spring");
  tool.kind = *known;
  take_key(from, "force", tool.force);
  take_key(from, "moment", tool.moment);
  take_key(from, "points", tool.points);
  take_key(from, "interval", tool.interval);
  take_key(from, "place", tool.place);
  take_key(from, "normal", tool.normal);
  take_key(from, "stiffness", tool.stiffness);
  take_key(from, "damping", tool.damping);
  take_key(from, "play", tool.play);
  return tool;
}

chain::TorqueInput torque_law(const nb::dict& from) {
  chain::TorqueInput law;
  std::string kind = to_string(law.kind);
  take_key(from, "kind", kind);
  law.kind = chain::parse_torque_kind(kind);
  const std::pair<const char*, std::vector<double>*> lists[] = {{"amplitude", &law.amplitude},
                                                                {"frequency", &law.frequency},
                                                                {"phase", &law.phase},
                                                                {"points", &law.points},
                                                                {"set_point", &law.set_point},
                                                                {"kp", &law.kp},
                                                                {"kd", &law.kd},
                                                                {"limit", &law.limit},
                                                                {"stall_torque", &law.motor.stall_torque},
                                                                {"no_load_speed", &law.motor.no_load_speed}};
  for (const auto& [key, to] : lists) take_key(from, key, *to);
  take_key(from, "start", law.start);
  take_key(from, "end", law.end);
  take_key(from, "interval", law.interval);
  take_key(from, "compensate_gravity", law.compensate_gravity);
  take_key(from, "expression", law.expression);
  return law;
}

/// `how`: method, step, force on the tool, dry friction.
chain::SimulateOptions simulate_options(const std::vector<double>& times, double duration, const nb::tuple& how) {
  const auto method = nb::cast<std::string>(how[0]);
  const auto step = nb::cast<double>(how[1]);
  const auto friction = nb::cast<nb::dict>(how[3]);
  chain::SimulateOptions options;
  options.tool = tool_force(nb::cast<nb::dict>(how[2]));
  take_key(friction, "coulomb", options.friction.coulomb);
  take_key(friction, "breakaway", options.friction.breakaway);
  take_key(friction, "stribeck", options.friction.stribeck);
  take_key(friction, "smooth", options.friction.smooth);
  options.method = chain::parse_integrator(method);
  options.step = step;
  options.duration = duration;
  options.times = times;
  return options;
}

nb::dict simulate(const Robot& robot, const Numbers& q, const Numbers& qd, const std::optional<Numbers>& torque,
                  const std::optional<Numbers>& damping, const std::vector<double>& times, double duration,
                  const nb::dict& law, const nb::tuple& how, const std::string& device, int threads) {
  chain::Samples samples;
  samples.count = static_cast<std::int64_t>(q.shape(0));
  samples.q = copied(q);
  samples.qd = copied(qd);
  if (torque) samples.amplitude = copied(*torque);
  if (damping) samples.damping = copied(*damping);
  const chain::TorqueInput input = torque_law(law);
  const chain::SimulateOptions options = simulate_options(times, duration, how);
  auto t = compute([&] {
    return chain::simulate(
        robot, samples, input, options,
        make_device(device, threads, core_seconds::motions(samples.count, robot.joints, duration, options.step)));
  });
  const std::size_t n = q.shape(0), j = q.shape(1), k = times.size();
  nb::dict out;
  out["q"] = taken(std::move(t.q), {n, k, j});
  out["qd"] = taken(std::move(t.qd), {n, k, j});
  out["tip"] = taken(std::move(t.tip), {n, k, 3});
  out["kinetic_energy"] = taken(std::move(t.kinetic), {n, k});
  out["potential_energy"] = taken(std::move(t.potential), {n, k});
  out["balance"] = taken(std::move(t.balance), {n, k});
  out["status"] = taken_as<std::int32_t>(std::move(t.status), {n});
  return out;
}

/// Queues the simulation of states on a GPU: `given` has q and what else there is, `out` what simulate() gives.
void simulate_on_gpu(const Robot& robot, const nb::dict& given, const nb::dict& out, const std::vector<double>& times,
                     double duration, const nb::dict& law, const nb::tuple& how, std::uintptr_t stream,
                     const nb::callable& allocate) {
  const auto q = nb::cast<OnGpu<const double>>(given["q"]);
  chain::DeviceSamples samples;
  samples.count = static_cast<std::int64_t>(q.shape(0));
  samples.q = make_view<const double>(q);
  if (given.contains("qd")) take<const double>(given, "qd", samples.qd);
  if (given.contains("torque")) take<const double>(given, "torque", samples.amplitude);
  if (given.contains("damping")) take<const double>(given, "damping", samples.damping);
  chain::DeviceTrajectories to;
  take<double>(out, "q", to.q);
  take<double>(out, "qd", to.qd);
  take<double>(out, "tip", to.tip);
  take<double>(out, "kinetic_energy", to.kinetic);
  take<double>(out, "potential_energy", to.potential);
  take<double>(out, "balance", to.balance);
  take<std::int32_t>(out, "status", to.status);
  const chain::TorqueInput input = torque_law(law);
  const chain::SimulateOptions options = simulate_options(times, duration, how);
  run_gpu_call(
      {q.device_id(), stream, allocate},
      [&](const DeviceCall& call) { return chain::workspace_bytes(robot, samples, input, options, to, call.device); },
      [&](const DeviceCall& call) { chain::simulate(robot, samples, input, options, to, call); });
}

nb::dict inverse_kinematics(const Robot& robot, const Numbers& pose, const std::optional<Numbers>& q0, double tolerance,
                            const std::vector<int>& most, std::uint64_t seed) {
  const chain::InverseKinematicsOptions options{tolerance, most.at(0), most.at(1), seed};
  auto found = compute([&] { return chain::inverse_kinematics(robot, to_span(pose), to_span(q0), options); });
  const std::size_t count = pose.shape(0);
  nb::dict out;
  out["q"] = taken(std::move(found.q), {count, chain::coordinates(robot).size()});
  out["success"] = taken(std::move(found.success), {count});
  out["position_error"] = taken(std::move(found.position_error), {count});
  out["rotation_error"] = taken(std::move(found.rotation_error), {count});
  out["iterations"] = taken(std::move(found.steps), {count});
  return out;
}

nb::dict all_solutions(const chain::AllSolutions& solver, const Numbers& pose, const std::optional<Numbers>& q0,
                       bool limits, bool windings, bool proofs, const std::string& device, int threads) {
  auto found = compute([&] {
    return solver.solve(to_span(pose), {limits, windings, proofs, to_span(q0)},
                        make_device(device, threads, core_seconds::kCopying));
  });
  const std::size_t n = pose.shape(0), m = found.residual.size();
  nb::dict out;
  out["first"] = taken_as<std::int64_t>(std::move(found.first), {n + 1});
  out["q"] = taken(std::move(found.q), {m, static_cast<std::size_t>(found.joints)});
  out["residual"] = taken(std::move(found.residual), {m});
  out["unique"] = taken(std::move(found.unique), {m});
  out["limit_distance"] = taken(std::move(found.limit_distance), {m});
  out["family"] = taken(std::move(found.family), {m});
  out["complete"] = taken(std::move(found.complete), {n});
  out["distance"] = taken(std::move(found.distance), {n});
  out["status"] = taken_as<std::int32_t>(std::move(found.status), {n});
  return out;
}

template <class T>
T path_word(const nb::handle& word) {
  const auto text = nb::cast<std::string>(word);
  if (const auto named = value_named<T>(text)) return *named;
  std::string all;
  for (const char* name : names_of(T{})) all += (all.empty() ? "" : ", ") + std::string(name);
  throw Error(ExitCode::kUsage, "path: there is no \"" + text + "\"", "There are " + all + ".");
}

/// `how`: near_singular, samples, refinements, kind, criterion, unit.
template <class Check>
nb::dict path(const Robot& robot, const std::optional<Numbers>& q0, const nb::tuple& how, const Check& check) {
  const chain::PathOptions options{nb::cast<double>(how[0]), nb::cast<int>(how[1]), nb::cast<int>(how[2]), to_span(q0),
                                   nb::cast<double>(how[5])};
  auto found = compute([&] { return check(options); });
  choose_best(robot, path_word<chain::PathCriterion>(how[4]), to_span(q0), found);
  nb::list all;
  const auto joints = static_cast<std::size_t>(found.joints);
  for (chain::PathBranch& b : found.branch) {
    nb::dict branch;
    const std::size_t m = b.sigma.size();
    branch["first"] = b.first;
    branch["q"] = taken(std::move(b.q), {m, joints});
    branch["sigma"] = taken(std::move(b.sigma), {m});
    branch["sigma_bound"] = b.sigma_bound;
    branch["limit_distance"] = b.limit_distance;
    branch["limit_joint"] = b.limit_joint;
    branch["limit_bound"] = b.limit_bound;
    branch["speed_share"] = b.speed_share;
    branch["cost"] = b.cost;
    branch["begin"] = std::string(name_of(b.begin));
    branch["end"] = std::string(name_of(b.end));
    all.append(branch);
  }
  nb::dict out;
  const std::size_t t = found.s.size(), m = found.undecided.size() / 2;
  out["branches"] = all;
  out["unit"] = found.unit;
  out["s"] = taken(std::move(found.s), {t});
  out["undecided"] = taken(std::move(found.undecided), {m, 2});
  return out;
}

nb::dict check_path(const chain::AllSolutions& solver, const Robot& robot, const Numbers& pose,
                    const std::optional<Numbers>& time, const std::optional<Numbers>& q0, const nb::tuple& how,
                    const std::string& device, int threads) {
  const auto kind = path_word<chain::ToolPath::Kind>(how[3]);
  return path(robot, q0, how, [&](const chain::PathOptions& options) {
    return solver.check_path({kind, to_span(pose), to_span(time)}, options,
                             make_device(device, threads, core_seconds::kCopying));
  });
}

nb::dict check_joint_path(const Robot& robot, const Numbers& q, const std::optional<Numbers>& time,
                          const std::optional<Numbers>& q0, const nb::tuple& how, const std::string& device,
                          int threads) {
  const auto kind = path_word<chain::JointPath::Kind>(how[3]);
  return path(robot, q0, how, [&](const chain::PathOptions& options) {
    return chain::check_path(robot, {kind, to_span(q), to_span(time)}, options,
                             make_device(device, threads, core_seconds::kCopying));
  });
}

/// List of a property of the joints that follow no other joint.
template <class Get>
nb::list of_joints(const Robot& robot, const Get& get) {
  nb::list out;
  for (const int i : chain::coordinates(robot)) out.append(get(chain::coordinate_limits(robot, i)));
  return out;
}

/// Joints that follow others: name, leader's name, ratio, offset.
nb::list coupled(const Robot& robot) {
  const auto name = [&](int i) { return robot.joint[static_cast<std::size_t>(i)].name; };
  nb::list out;
  for (const chain::Coupling& c : robot.coupled)
    out.append(nb::make_tuple(name(c.joint), name(c.leader), c.ratio, c.offset));
  return out;
}

}  // namespace

void add_chain(nb::module_& m) {
  nb::class_<Robot>(m, "Robot")
      .def_ro("name", &Robot::name)
      .def_prop_ro("joints", [](const Robot& r) { return chain::coordinates(r).size(); })
      .def_ro("links", &Robot::joints)
      .def_prop_ro("coupled", coupled)
      .def_ro("notes", &Robot::notes)
      .def_ro("warnings", &Robot::warnings)
      .def_prop_ro("joint_names", [](const Robot& r) { return of_joints(r, [](const auto& j) { return j.name; }); })
      .def_prop_ro("prismatic", [](const Robot& r) { return of_joints(r, [](const auto& j) { return j.prismatic; }); })
      .def_prop_ro("lower", [](const Robot& r) { return of_joints(r, [](const auto& j) { return j.lower; }); })
      .def_prop_ro("upper", [](const Robot& r) { return of_joints(r, [](const auto& j) { return j.upper; }); })
      .def_prop_ro("velocity_limit",
                   [](const Robot& r) { return of_joints(r, [](const auto& j) { return j.velocity_limit; }); })
      .def_prop_ro("effort_limit",
                   [](const Robot& r) { return of_joints(r, [](const auto& j) { return j.effort_limit; }); })
      .def_prop_rw(
          "gravity", [](const Robot& r) { return std::vector<double>(r.gravity.m, r.gravity.m + 3); },
          [](Robot& r, const std::vector<double>& g) { r.gravity = to_vec3(g); })
      .def("describe", [](const Robot& r) { return io::describe_robot(r); })
      .def("to_toml", [](const Robot& r) { return io::robot_toml(r); });
  m.def("read_robot", read);
  m.def("robot_from_toml", [](const std::string& text) {
    return io::parse_robot_toml(text, "text", {.base = "", .tip = "", .overrides = {}, .takes_coupled = true});
  });
  m.def("robot_from_joints", from_joints);
  m.def("chain_evaluate", evaluate);
  m.def("chain_rates", rates);
  m.def("chain_rates_on_gpu", rates_on_gpu);
  m.def("chain_derivatives", derivatives);
  m.def("chain_analytic_jacobian", analytic_jacobian);
  m.def("chain_evaluate_on_gpu", evaluate_on_gpu);
  m.def("chain_inverse_kinematics", inverse_kinematics);
  nb::class_<chain::AllSolutions>(m, "AllSolutions")
      .def("__init__",
           [](chain::AllSolutions* to, const Robot& robot, const std::string& task) {
             const auto named = value_named<chain::ToolTask>(task);
             if (!named)
               throw Error(ExitCode::kUsage, "task: no such task", "There are pose, point_axis, point, planar.");
             new (to) chain::AllSolutions(robot, *named);
           })
      .def(nb::init<const Robot&, const chain::AllSolutions&>())
      .def("solve", all_solutions)
      .def("check_path", check_path);
  m.def("chain_check_path", check_joint_path);
  m.def("chain_lock_joint", chain::lock_joint);
  m.def("chain_output_shape",
        [](const std::string& output, int joints) { return chain::output_shape(chain::parse_output(output), joints); });
  m.def("chain_simulate_on_gpu", simulate_on_gpu);
  m.def("chain_simulate", simulate);
}

}  // namespace garra::python
