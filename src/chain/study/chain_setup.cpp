// Inputs of samples, and designs put together that one batch can simulate.
#include "chain/study/chain_setup.hpp"

#include <tuple>

#include "chain/eval/evaluate_kernel.hpp"
#include "chain/study/chain_outcomes.hpp"
#include "garra/core/philox.hpp"

namespace garra::chain {

namespace {

using study::Distribution;

/// visit(slot, distribution) of every input of a design; a draw that is common to all joints comes once.
template <class Visit>
void for_each_input(const Design& d, const Visit& visit) {
  const auto joints = [&](int slot, const JointInputs& in) {
    // One draw for all joints stands in the first one's slot.
    for (std::size_t j = 0; j < (in.common ? 1 : in.value.size()); ++j) visit(slot + static_cast<int>(j), in.value[j]);
  };
  joints(kSlotQ, d.q);
  joints(kSlotQd, d.qd);
  joints(kSlotDamping, d.damping);
  visit(kSlotMass, d.mass);
  visit(kSlotSize, d.size);
  visit(kSlotAmplitude, d.amplitude);
}

/// What is common to all joints goes to each of them.
void share_common(const Design& d, int joints, Drawn& x) {
  const auto share = [&](int slot, const JointInputs& in) {
    for (int j = 1; in.common && j < joints; ++j)
      x[static_cast<std::size_t>(slot + j)] = x[static_cast<std::size_t>(slot)];
  };
  share(kSlotQ, d.q);
  share(kSlotQd, d.qd);
  share(kSlotDamping, d.damping);
}

// By all that a simulation reads; a forgotten member would put different designs into one batch.
bool same(const TorqueInput& a, const TorqueInput& b) {
  const auto all = [](const TorqueInput& t) {
    return std::tie(t.kind, t.amplitude, t.start, t.end, t.frequency, t.phase, t.points, t.interval, t.set_point, t.kp,
                    t.kd, t.compensate_gravity, t.limit, t.motor.stall_torque, t.motor.no_load_speed, t.motor.voltage,
                    t.motor.rated_voltage, t.expression);
  };
  return all(a) == all(b);
}

bool same(const SimulateOptions& a, const SimulateOptions& b) {
  const auto vector = [](const Vec3<double>& v) { return std::array{v[0], v[1], v[2]}; };
  const auto all = [&](const SimulateOptions& o) {
    const ToolForceInput& f = o.tool;
    const FrictionInput& d = o.friction;
    return std::tuple_cat(
        std::tie(f.kind, f.points, f.interval, f.stiffness, f.damping, f.play, d.coulomb, d.breakaway, d.stribeck,
                 d.smooth),
        std::tuple{vector(f.force), vector(f.moment), vector(f.place), vector(f.normal)},
        std::tie(o.method, o.step, o.duration, o.times, o.tolerance.relative, o.tolerance.absolute, o.first_step,
                 o.max_step, o.max_steps, o.limits, o.limit_tolerance, o.settle_speed, o.settle_at, o.settle_band));
  };
  return all(a) == all(b);
}

/// Damping is part of the chain that a controller believes in only where it computes torques from it; the samples have
/// theirs anyway.
std::vector<double> believed_damping(const Design& design) {
  std::vector<double> out;
  if (design.torque.kind == TorqueKind::kComputed)
    for (const Distribution& d : design.damping.value) out.push_back(d.nominal());
  return out;
}

// Exact comparison: designs of one sweep have the same bits or are different.
bool belongs(const Design& design, const Group& group, const Design& first) {
  return design.mass.nominal() == group.mass && design.size.nominal() == group.size &&
         same(design.torque, group.torque) && same(design.options, group.options) &&
         believed_damping(design) == believed_damping(first);
}

Group make_group(const Scenario& s, const Design& design) {
  Group g{similar_robot(s.robot, design.size.nominal(), design.mass.nominal()),
          design.mass.nominal(),
          design.size.nominal(),
          false,
          false,
          false,
          design.torque,
          design.options,
          {}};
  const std::vector<double> damping = believed_damping(design);
  // Only where the controller computes with it; else the group would split for nothing.
  for (std::size_t j = 0; j < damping.size(); ++j) g.robot.form[j].damping = damping[j];
  return g;
}

}  // namespace

Drawn draw_inputs(const Design& design, int joints, std::uint64_t seed, std::uint64_t draw) {
  Drawn x{};
  // By draw, not by sample: designs share the random numbers of equal draws.
  const auto index = SampleIndex<double>::consecutive(draw);
  for_each_input(design, [&](int slot, const Distribution& d) {
    double& value = x[static_cast<std::size_t>(slot)];
    if (d.is_constant()) {
      value = d.a;
      return;
    }
    double u[2];
    // Slot, not count: what else is uncertain does not change this input's number.
    uniform_pair<double>(seed, index, static_cast<std::uint32_t>(slot / 2), u[0], u[1]);
    value = study::quantile(d, u[slot % 2]);
  });
  share_common(design, joints, x);
  return x;
}

Drawn nominal_inputs(const Design& design, int joints) {
  Drawn x{};
  for_each_input(design, [&](int slot, const Distribution& d) { x[static_cast<std::size_t>(slot)] = d.nominal(); });
  share_common(design, joints, x);
  return x;
}

Robot similar_robot(Robot robot, double size, double mass) {
  for (std::size_t j = 0; j < robot.form.size(); ++j) {
    scale_size(robot.form[j], size);
    scale_mass(robot.form[j], mass);
    robot.link[j].offset.p = size * robot.link[j].offset.p;
  }
  for (Body& body : robot.body) {
    // A similar body: mass with the cube of lengths, inertia with the fifth power.
    const double m = size * size * size * mass;
    body.mass *= m;
    body.com = size * body.com;
    body.inertia = (size * size * m) * body.inertia;
  }
  robot.tool.p = size * robot.tool.p;
  return robot;
}

std::vector<Group> group_designs(const Scenario& s) {
  std::vector<Group> groups;
  for (std::size_t d = 0; d < s.designs.size(); ++d) {
    const Design& design = s.designs[d];
    Group* home = nullptr;
    for (Group& g : groups)
      if (belongs(design, g, s.designs[static_cast<std::size_t>(g.designs.front())])) home = &g;
    if (home == nullptr) home = &groups.emplace_back(make_group(s, design));
    home->designs.push_back(static_cast<int>(d));
    home->varies_mass |= !design.mass.is_constant();
    home->varies_size |= !design.size.is_constant();
    home->varies_amplitude |= !(design.amplitude.is_constant() && design.amplitude.a == 1);
  }
  return groups;
}

Samples make_samples(const Group& g, const std::vector<Drawn>& inputs) {
  const auto joints = static_cast<std::size_t>(g.robot.joints);
  Samples out;
  out.count = static_cast<std::int64_t>(inputs.size());
  std::vector<double> mass, size;
  for (const Drawn& x : inputs) {
    const auto at = [&](int slot) { return x.begin() + slot; };
    out.q.insert(out.q.end(), at(kSlotQ), at(kSlotQ) + g.robot.joints);
    out.qd.insert(out.qd.end(), at(kSlotQd), at(kSlotQd) + g.robot.joints);
    out.damping.insert(out.damping.end(), at(kSlotDamping), at(kSlotDamping) + g.robot.joints);
    for (std::size_t j = 0; g.varies_amplitude && j < joints; ++j)
      out.amplitude.push_back(x[kSlotAmplitude] * g.torque.amplitude[j]);
    // Relative to what the group's robot has already.
    mass.push_back(x[kSlotMass] / g.mass);
    size.push_back(x[kSlotSize] / g.size);
  }
  for (int j = 0; j < g.robot.joints; ++j) {
    if (g.varies_size) out.parameters.push_back({j, Quantity::kSize, Change::kScale, size});
    if (g.varies_mass) out.parameters.push_back({j, Quantity::kMass, Change::kScale, mass});
  }
  return out;
}

std::vector<double> output_times(const Design& design, double duration) {
  std::vector<double> times;
  for (int k = 0; k < design.outputs; ++k) times.push_back(duration * k / (design.outputs - 1));
  return times;
}

namespace {

void keep_first_half(Trajectories& t) {
  const auto halve = [](auto&... lists) { (lists.resize(lists.size() / 2), ...); };
  t.count /= 2;
  halve(t.q, t.qd, t.tip, t.kinetic, t.potential, t.dissipated, t.work, t.stop_loss, t.balance, t.end_time, t.end_q,
        t.end_qd, t.peak_speed, t.peak_torque, t.settling_time, t.end_dissipated, t.end_work, t.end_stop_loss,
        t.end_balance, t.worst_balance, t.steps, t.rejected, t.status);
}

}  // namespace

Trajectories simulate_group(const Group& group, std::vector<Drawn> inputs, const std::vector<double>& times,
                            const Device& device) {
  SimulateOptions options = group.options;
  options.times = times;
  // simulate() takes damping of a single sample for what all samples share and controllers know: it must not differ
  // from that in a larger batch.
  if (inputs.size() > 1) return simulate(group.robot, make_samples(group, inputs), group.torque, options, device);
  // Twice the same sample, of which the first is kept.
  inputs.push_back(inputs.front());
  Trajectories twice = simulate(group.robot, make_samples(group, inputs), group.torque, options, device);
  keep_first_half(twice);
  return twice;
}

std::vector<Input> uncertain_inputs(const Scenario& s) {
  // Over all designs: an input counts as uncertain where it is so in any of them.
  std::array<bool, kStudySlots> drawn{}, common{};
  for (const Design& design : s.designs) {
    for_each_input(design,
                   [&](int slot, const Distribution& d) { drawn[static_cast<std::size_t>(slot)] |= !d.is_constant(); });
    common[kSlotQ] |= design.q.common;
    common[kSlotQd] |= design.qd.common;
    common[kSlotDamping] |= design.damping.common;
  }
  const struct {
    int slot;
    const char *name, *turning, *sliding;
  } kinds[] = {{kSlotQ, "start q", "rad", "m"},
               {kSlotQd, "start qd", "rad/s", "m/s"},
               {kSlotDamping, "damping", "N m s/rad", "N s/m"}};
  std::vector<Input> inputs;
  for (const auto& kind : kinds)
    for (int j = 0; j < s.robot.joints; ++j) {
      if (!drawn[static_cast<std::size_t>(kind.slot + j)]) continue;
      const bool one = common[static_cast<std::size_t>(kind.slot)];
      const char* unit = s.robot.joint[static_cast<std::size_t>(j)].prismatic ? kind.sliding : kind.turning;
      inputs.push_back({kind.name + (one ? std::string() : " " + std::to_string(j)), unit, kind.slot + j});
    }
  const std::pair<int, const char*> factors[] = {
      {kSlotMass, "mass factor"}, {kSlotSize, "size factor"}, {kSlotAmplitude, "amplitude factor"}};
  for (const auto& [slot, name] : factors)
    if (drawn[static_cast<std::size_t>(slot)]) inputs.push_back({name, "1", slot});
  return inputs;
}

const char* to_string(StudyOutcome outcome) { return study::name_at(kOutcomeWords, static_cast<int>(outcome)); }

}  // namespace garra::chain
