#include "grasp/command/time_file.hpp"

#include <limits>

#include "base/files/hdf5.hpp"
#include "grasp/sample/instant.hpp"

namespace garra::cli {

namespace {

using grasp::MotionSeries;
using io::Hdf5Writer;
using io::Shape;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

void write_object(Hdf5Writer& file, const std::string& at, const MotionSeries& s, std::uint64_t t) {
  file.write(at + "time", {t}, s.time);
  file.write(at + "position", {t, 3}, s.position);
  file.write(at + "quaternion", {t, 4}, s.quaternion);
  file.write(at + "velocity", {t, 3}, s.velocity);
  file.write(at + "spin", {t, 3}, s.spin);
  file.write(at + "load", {t, 6}, s.load);
  file.write(at + "gravity", {t, 3}, s.gravity);
  file.write(at + "kinetic", {t}, s.kinetic);
  file.write(at + "balance", {t}, s.balance);
  for (std::size_t k = 0; k < s.others.size(); ++k) {
    const std::string other = at + "object_" + std::to_string(k + 1);
    file.group(other);
    file.write(other + "/position", {t, 3}, s.others[k].position);
    file.write(other + "/quaternion", {t, 4}, s.others[k].quaternion);
    file.attribute(other, "scale", s.others[k].scale);
  }
}

/// The objects of a group, and the one that each contact is on.
void write_group(Hdf5Writer& file, const grasp::Scenario& scenario) {
  std::vector<std::string> names, shapes;
  std::vector<double> radii, heights, sizes, on;
  for (std::size_t k = 0; k <= scenario.others.size(); ++k) {
    const grasp::Object& object = grasp::nth_object(scenario, static_cast<int>(k));
    names.push_back(object.name);
    shapes.emplace_back(name_of(object.shape));
    radii.push_back(object.radius);
    heights.push_back(object.height);
    sizes.insert(sizes.end(), object.size.m, object.size.m + 3);
  }
  for (const grasp::Contact& contact : scenario.contacts) on.push_back(contact.object);
  file.attribute("/", "object_names", names);
  file.attribute("/", "object_shapes", shapes);
  file.attribute("/", "object_radii", radii);
  file.attribute("/", "object_heights", heights);
  file.attribute("/", "object_sizes", sizes);
  file.attribute("/", "contact_objects", on);
}

void write_contacts(Hdf5Writer& file, const std::string& at, const MotionSeries& s, const Shape& shape) {
  const Shape vectors = {shape[0], shape[1], 3};
  file.write(at + "gap", shape, s.gap);
  file.write(at + "normal", vectors, s.normal);
  if (!s.point.empty()) file.write(at + "point", vectors, s.point);
  file.write(at + "force", vectors, s.force);
  file.write(at + "force_palm", vectors, s.force_palm);
  file.write(at + "slip_speed", shape, s.slip_speed);
  file.write(at + "state", shape, std::vector<std::int32_t>(s.state.begin(), s.state.end()));
}

void write_finger(Hdf5Writer& file, const std::string& at, const MotionSeries& s, std::size_t j, std::uint64_t t) {
  // Without rows the number of joints is unknown.
  const std::uint64_t joints = t > 0 ? s.q[j].size() / t : 0;
  file.group(at);
  file.write(at + "/q", {t, joints}, s.q[j]);
  file.write(at + "/qd", {t, joints}, s.qd[j]);
  // An instant has no torques (grasp/sample/instant.hpp).
  if (s.tau[j].size() == s.q[j].size()) file.write(at + "/tau", {t, joints}, s.tau[j]);
  file.write(at + "/links", {t, joints + 2, 3}, s.links[j]);
}

/// The acceleration of a moving palm, and the tones of its shake.
void write_palm(Hdf5Writer& file, const std::string& at, const MotionSeries& s) {
  if (s.palm.empty()) return;
  const std::uint64_t steps = s.palm_step_time.size();
  file.group(at);
  file.write(at + "/acceleration", {s.time.size(), 3}, s.palm);
  file.write(at + "/step_time", {steps}, s.palm_step_time);
  file.write(at + "/step_acceleration", {steps, 3}, s.palm_step);
  if (!s.tones) return;
  const std::uint64_t n = s.tones->frequency.size();
  file.write(at + "/frequency", {n}, s.tones->frequency);
  file.write(at + "/amplitude", {3, n}, s.tones->amplitude);
  file.write(at + "/phase", {3, n}, s.tones->phase);
  file.attribute(at, "from", s.tones->from);
  file.attribute(at, "to", s.tones->to);
  file.attribute(at, "edge", s.tones->edge);
}

void write_motion(Hdf5Writer& file, const NamedMotion& m, std::uint64_t contacts) {
  const std::uint64_t t = m.series.time.size();
  const std::string at = m.name + "/";
  file.group(m.name);
  write_object(file, at, m.series, t);
  write_contacts(file, at, m.series, {t, contacts});
  for (std::size_t j = 0; j < m.series.q.size(); ++j)
    write_finger(file, at + "finger_" + std::to_string(j), m.series, j, t);
  write_palm(file, at + "palm", m.series);
  const grasp::Trajectory& end = m.series.trajectory;
  file.attribute(m.name, "title", m.title);
  file.attribute(m.name, "outcome", m.outcome);
  file.attribute(m.name, "friction", m.level);
  file.attribute(m.name, "mu", m.series.friction);
  file.attribute(m.name, "scale", m.series.scale);
  file.attribute(m.name, "end_time", end.end_time);
  file.attribute(m.name, "slip_time", end.slip_time);
  file.attribute(m.name, "drop_time", loss_time(end));
}

std::string sample_group(std::int64_t sample) { return "sample_" + std::to_string(sample); }
std::string sample_title(std::int64_t sample, const std::string& what) {
  return what + "sample " + std::to_string(sample);
}

NamedMotion named(const std::string& name, const std::string& title, double level, MotionSeries series) {
  const char* outcome = to_string(series.trajectory.end);
  return {name, title, outcome, level, std::move(series)};
}

}  // namespace

double loss_time(const grasp::Trajectory& t) {
  if (is_in_hand(t.end)) return kNever;
  return is_undecided(t.end) ? kUnknown : t.end_time;
}

NamedMotion nominal_motion(const grasp::TimeStudy& study, int instants) {
  return named("nominal", "nominal", kUnknown, study.nominal(instants));
}

NamedMotion motion_of_sample(const grasp::TimeStudy& study, std::int64_t sample, int instants,
                             const std::string& what) {
  const std::vector<double>& levels = study.time().friction;
  // Depends on the sample's number alone: sample i is at level i mod n.
  const double level = levels.empty() ? kUnknown : levels[static_cast<std::size_t>(sample) % levels.size()];
  return named(sample_group(sample), sample_title(sample, what), level, study.series(sample, instants));
}

NamedMotion nominal_picture(const grasp::Study& study) {
  grasp::SampleAtInstant found = grasp::nominal_instant(study);
  return {"nominal", "nominal", to_string(found.replay.outcome), kUnknown, std::move(found.series)};
}

NamedMotion picture_of_sample(const grasp::Study& study, std::int64_t sample, const std::string& what) {
  grasp::SampleAtInstant found = grasp::instant(study, sample);
  return {sample_group(sample), sample_title(sample, what), to_string(found.replay.outcome), kUnknown,
          std::move(found.series)};
}

void write_motions(const std::string& path, const grasp::Scenario& scenario, const std::vector<NamedMotion>& motions) {
  Hdf5Writer file;
  const grasp::Object& object = scenario.object;
  file.attribute("/", "shape", std::string(name_of(object.shape)));
  file.attribute("/", "radius", object.radius);
  file.attribute("/", "height", object.height);
  file.attribute("/", "size", std::vector<double>{object.size[0], object.size[1], object.size[2]});
  file.attribute("/", "contacts", static_cast<std::int64_t>(scenario.contacts.size()));
  std::vector<double> joints;
  for (const grasp::Finger& finger : scenario.fingers) joints.push_back(static_cast<double>(finger.joint_count()));
  file.attribute("/", "joints", joints);
  if (grasp::is_group(scenario)) write_group(file, scenario);
  for (const NamedMotion& m : motions) write_motion(file, m, scenario.contacts.size());
  file.commit(path);
}

}  // namespace garra::cli
