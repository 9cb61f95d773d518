// A chain study written back as TOML, with everything filled in.
#include <algorithm>

#include "garra/io/chain_scenario.hpp"
#include "io/chain_scenario_parts.hpp"
#include "io/number.hpp"

namespace garra::io {

namespace {

using chain::Design;
using chain::JointInputs;
using chain::Robot;
using chain::TorqueKind;

class Printer {
 public:
  Printer(const Robot& robot, Writer& writer) : robot_(robot), w_(writer) {}

  /// One text where all joints have the same, else a list of them.
  void per_joint(const char* key, const std::vector<double>& values, const JointDimension& d) {
    const bool same = std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
    write(key, d, same, [&](std::size_t j, const Dimension& of) { return text(values[j], of); });
  }
  void inputs(const char* key, const JointInputs& in, const JointDimension& d) {
    write(key, d, in.common, [&](std::size_t j, const Dimension& of) { return text(in.value[j], of); });
  }

 private:
  template <class Text>
  void write(const char* key, const JointDimension& d, bool same, const Text& text_of) {
    const auto of = [&](std::size_t j) { return text_of(j, d.of(robot_.joint[j])); };
    std::string all = of(0);
    for (std::size_t j = 1; !same && j < robot_.joint.size(); ++j) all += ", " + of(j);
    w_.line(key, same ? all : "[" + all + "]", si_unit(d.of(robot_.joint[0])));
  }

  const Robot& robot_;
  Writer& w_;
};

void write_points(const Robot& robot, const chain::TorqueInput& t, Writer& w) {
  std::string rows;
  for (std::size_t k = 0; k < t.points.size(); k += robot.joint.size()) {
    rows += k == 0 ? "[" : ", [";
    for (std::size_t j = 0; j < robot.joint.size(); ++j) rows += (j == 0 ? "" : ", ") + shortest(t.points[k + j]);
    rows += "]";
  }
  w.line("points", "[" + rows + "]", "one row per time");
}

void write_torque(const Robot& robot, const chain::TorqueInput& t, Writer& w) {
  Printer p(robot, w);
  w.table("torque");
  w.line("kind", text(std::string(to_string(t.kind))));
  p.per_joint("amplitude", t.amplitude, amplitude_dimension(t.kind));
  if (t.kind == TorqueKind::kStep || t.kind == TorqueKind::kRamp) w.quantity("start", t.start, kTime);
  if (t.kind == TorqueKind::kRamp) w.quantity("end", t.end, kTime);
  if (t.kind == TorqueKind::kSine) {
    p.per_joint("frequency", t.frequency, {kFrequency, kFrequency});
    p.per_joint("phase", t.phase, {kAngle, kAngle});
  }
  if (t.kind == TorqueKind::kSampled) {
    w.quantity("interval", t.interval, kTime);
    write_points(robot, t, w);
  }
  if (is_feedback(t.kind)) {
    p.per_joint("set_point", t.set_point, kJointPosition);
    p.per_joint("kp", t.kp, kp_dimension(t.kind));
    p.per_joint("kd", t.kd, kd_dimension(t.kind));
  }
  if (t.kind == TorqueKind::kPd) w.line("compensate_gravity", text(t.compensate_gravity));
  if (!t.limit.empty()) p.per_joint("limit", t.limit, kJointTorque);
}

void write_time(const Design& design, Writer& w) {
  const chain::SimulateOptions& o = design.options;
  constexpr const char* limits[] = {"ignore", "finish", "stop"};
  w.table("time");
  w.quantity("until", o.until, kTime);
  w.line("method", text(std::string(to_string(o.method))));
  if (o.method == chain::Integrator::kDopri5) {
    w.line("tolerance", shortest(o.tolerance.relative), "relative; of small numbers a hundredth");
    w.line("max_steps", std::to_string(o.max_steps));
  } else {
    w.quantity("step", o.step, kTime);
  }
  w.line("outputs", std::to_string(design.outputs), "times of the nominal trajectories");
  w.line("limits", text(std::string(limits[static_cast<int>(o.limits)])));
}

void write_settle(const Robot& robot, const Design& design, Writer& w) {
  const chain::SimulateOptions& o = design.options;
  w.table("settle");
  w.quantity("within", design.within, kTime);
  w.quantity("speed", o.settle_speed, kJointSpeed.of(robot.joint[0]));
  w.quantity("band", o.settle_band, kJointPosition.of(robot.joint[0]));
  if (!o.settle_at.empty()) Printer(robot, w).per_joint("at", o.settle_at, kJointPosition);
}

void write_sweep(const chain::Scenario& s, Writer& w) {
  if (s.sweep.empty()) return;
  w.table("sweep");
  for (const chain::Sweep& sweep : s.sweep) {
    std::string values;
    for (const double value : sweep.values) values += (values.empty() ? "" : ", ") + shortest(value);
    w.line(text(sweep.key), "[" + values + "]", sweep.unit);
  }
}

void write_plan(const chain::Scenario& s, Writer& w) {
  w.table("sampling");
  w.line("samples", std::to_string(s.plan.samples / static_cast<std::int64_t>(s.designs.size())), "per design");
  w.line("chunk", std::to_string(s.plan.chunk), "of all designs together");
  w.line("max_unsolved", shortest(s.plan.max_unsolved), "share of the samples");
  if (s.plan.stop_half_width > 0) w.line("stop", "{ half_width = " + shortest(s.plan.stop_half_width) + " }");
  if (s.plan.time_limit > 0) w.quantity("time_limit", s.plan.time_limit, kTime);
  w.table("output");
  w.line("keep", text(s.plan.keep));
}

}  // namespace

std::string resolved_toml(const chain::Scenario& s) {
  Writer w;
  const Design& first = s.designs.front();
  w.line("schema", "1");
  w.line("job", "\"chain\"");
  w.line("title", text(s.title));
  w.line("seed", std::to_string(s.plan.seed));
  write_robot_table(s, w);
  w.table("start");
  Printer p(s.robot, w);
  p.inputs("q", first.q, kJointPosition);
  p.inputs("qd", first.qd, kJointSpeed);
  w.table("vary");
  p.inputs("damping", first.damping, kJointDamping);
  w.line("mass", text(first.mass, kRatio), "factor on masses and inertias");
  w.line("size", text(first.size, kRatio), "factor on lengths of a similar body");
  w.line("amplitude", text(first.amplitude, kRatio), "factor on torque.amplitude");
  write_torque(s.robot, first.torque, w);
  write_time(first, w);
  write_settle(s.robot, first, w);
  write_sweep(s, w);
  write_plan(s, w);
  return w.take();
}

}  // namespace garra::io
