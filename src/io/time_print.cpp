// [time] of a grasp scenario written back with everything filled in.
#include <algorithm>

#include "io/number.hpp"
#include "io/time_reader.hpp"

namespace garra::io {

namespace {

using grasp::Drive;
using grasp::InTime;
using grasp::TimeLoad;
using Rows = std::vector<std::vector<double>>;

std::string numbers(const double* values, std::size_t count) { return list(values, static_cast<int>(count), kRatio); }

/// One list where all fingers have the same.
std::string of_fingers(const Rows& rows) {
  if (std::equal(rows.begin() + 1, rows.end(), rows.begin())) return numbers(rows[0].data(), rows[0].size());
  std::string out = "[";
  for (const auto& row : rows) out += (&row == &rows.front() ? "" : ", ") + numbers(row.data(), row.size());
  return out + "]";
}

void write_gains(const grasp::Controller& c, Writer& w) {
  w.quantity("stiffness", c.stiffness, kSlidingStiffness);
  w.quantity("damping", c.damping, kSlidingDamping);
  w.line("turn_stiffness", shortest(c.turn_stiffness), si_unit(kTurningStiffness));
  w.line("turn_damping", shortest(c.turn_damping), si_unit(kTurningDamping));
  w.line("joint_stiffness", shortest(c.joint_stiffness), si_unit(kTurningStiffness));
  w.line("joint_damping", shortest(c.joint_damping), si_unit(kTurningDamping));
}

void write_samples(const InTime& time, Writer& w) {
  const std::size_t n = time.sample_times.size();
  w.line("times", numbers(time.sample_times.data(), n), "s");
  std::string out = "[";
  for (std::size_t j = 0; j < time.sample_torques.size(); ++j) {
    const std::vector<double>& of_finger = time.sample_torques[j];
    const std::size_t joints = of_finger.size() / n;
    out += j == 0 ? "\n  [" : ",\n  [";
    for (std::size_t k = 0; k < n; ++k) out += (k == 0 ? "" : ", ") + numbers(of_finger.data() + k * joints, joints);
    out += "]";
  }
  w.line("torques", out + "\n]", "N*m or N, finger by finger a row per time");
}

void write_drive(const InTime& time, Writer& w) {
  w.table("time.drive");
  switch (time.drive) {
    case Drive::kController:
      w.line("kind", "\"controller\"");
      write_gains(time.controller, w);
      break;
    case Drive::kConstant:
      w.line("kind", "\"constant\"");
      break;
    case Drive::kSampled:
      w.line("kind", "\"sampled\"");
      write_samples(time, w);
      break;
  }
  if (!time.torque_limit.empty()) w.line("torque_limit", of_fingers(time.torque_limit), "N*m or N, of each joint");
  if (time.lower.empty()) return;
  w.line("lower", of_fingers(time.lower), "rad or m, of each joint");
  w.line("upper", of_fingers(time.upper), "rad or m");
}

void write_sampled(const TimeLoad& load, Writer& w) {
  w.line("kind", "\"sampled\"");
  w.line("times", numbers(load.times.data(), load.times.size()), "s");
  std::string rows = "[";
  for (const Vec3<double>& a : load.accelerations)
    rows += (&a == &load.accelerations.front() ? "" : ", ") + text(a, kAcceleration);
  w.line("accelerations", rows + "]", "m/s^2, of the palm along x, y, z");
}

void write_load(const TimeLoad& load, Writer& w) {
  const auto force = [&](const char* kind, const Dimension& force, const Dimension& torque) {
    w.line("kind", text(std::string(kind)));
    w.quantity("force", load.force, force);
    w.quantity("torque", load.torque, torque);
  };
  w.table("[time.load]");
  if (load.kind == TimeLoad::Kind::kSampled) return write_sampled(load, w);
  switch (load.kind) {
    case TimeLoad::Kind::kRamp:
      force("ramp", kForce, kTorque);
      break;
    case TimeLoad::Kind::kImpulse:
      force("impulse", kImpulse, kTurningImpulse);
      break;
    case TimeLoad::Kind::kTilt:
      w.line("kind", "\"tilt\"");
      w.line("axis", text(load.axis, kRatio));
      w.quantity("angle", load.angle, kAngle);
      break;
    case TimeLoad::Kind::kShake:
      w.line("kind", "\"shake\"");
      w.quantity("rms", load.rms, kAcceleration);
      w.line("low", shortest(load.low), "Hz");
      w.line("high", shortest(load.high), "Hz");
      break;
    case TimeLoad::Kind::kSampled:
      break;
  }
  w.quantity("from", load.from, kTime);
  w.quantity("to", load.to, kTime);
}

}  // namespace

void write_time(const InTime& time, Writer& w) {
  w.table("time");
  w.quantity("until", time.until, kTime);
  w.quantity("step", time.step, kTime);
  w.line("scheme", time.scheme == grasp::Scheme::kExplicit ? "\"explicit\"" : "\"moreau-jean\"");
  w.line("restitution", shortest(time.restitution));
  w.line("drift_correction", shortest(time.baumgarte), "share of a penetration that a step takes back");
  if (!time.friction.empty())
    w.line("friction", numbers(time.friction.data(), time.friction.size()), "of all contacts, in turn");
  w.quantity("slip", time.slip, kLength);
  w.quantity("drop", time.drop, kLength);
  w.quantity("drop_turn", time.drop_turn, kAngle);
  w.line("instants", std::to_string(time.instants), "looked at, both ends included");
  write_drive(time, w);
  for (const TimeLoad& load : time.loads) write_load(load, w);
}

}  // namespace garra::io
