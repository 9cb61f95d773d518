// One sample of a study without [simulation] as a series of one row.
#include "grasp/sample/instant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "garra/math/quaternion.hpp"
#include "grasp/group/series.hpp"
#include "grasp/sample/fingers.hpp"
#include "grasp/sample/links.hpp"

namespace garra::grasp {

namespace {

void add(std::vector<double>& to, const Vec3<double>& v) { to.insert(to.end(), v.m, v.m + 3); }

void append_object(const GraspModel& m, const Inputs<double>& in, const Pose<double>& object, MotionSeries& out) {
  const auto turn = to_quaternion(column(object.R, 0), column(object.R, 1), column(object.R, 2));
  const Vec<double, 6> wrench = object_load(m, in, object).wrench;
  out.time = {0};
  add(out.position, object.p);
  out.quaternion.assign(turn.m, turn.m + 4);
  add(out.velocity, m.v);
  add(out.spin, m.omega);
  out.load.assign(wrench.m, wrench.m + 6);
  add(out.gravity, m.gravity);
  out.kinetic = out.balance = {NAN};
  out.scale = in.x[kScale];
}

void append_finger(const GraspModel& m, const FingerTask<double>& task, std::size_t j, MotionSeries& out) {
  const FingerModel& f = m.finger[j];
  with_finger_size(f.size, [&](auto joints, auto size) {
    double reached = 0;
    const auto stance = finger_stance<joints, size>(f, task, m.moving, reached);
    const FingerChain<size>& finger = finger_chain<size>(f);
    append_links<joints>(finger, stance.q, out.links[j]);
    out.q[j].assign(stance.q.m, stance.q.m + finger.joints);
    out.qd[j].assign(stance.qd.m, stance.qd.m + finger.joints);
    if (reached > 0) return;
    // If the finger does not reach its contact, the joint values found are invalid.
    for (auto* list : {&out.q[j], &out.qd[j], &out.links[j]}) std::fill(list->begin(), list->end(), NAN);
  });
}

void append_contact(const ContactPlace<double>& place, const Replay& r, std::size_t j, MotionSeries& out) {
  const Vec3<double> c = {{r.c[3 * j], r.c[3 * j + 1], r.c[3 * j + 2]}};
  add(out.normal, column(place.E, 0));
  add(out.force, c);
  add(out.force_palm, place.E * c);
  // At an instant the model's contacts are closed by construction.
  out.gap.push_back(0);
  out.slip_speed.push_back(NAN);
  out.state.push_back(r.states[j]);
}

SampleAtInstant evaluate_instant(const GraspModel& m, std::int64_t sample, Replay replay) {
  const auto index = SampleIndex<double>::consecutive(static_cast<std::uint64_t>(sample));
  Inputs<double> in;
  draw_inputs<double>(m, index, nullptr, in);
  const Pose<double> object = object_pose(m, in);
  SampleAtInstant out{std::move(replay), {}};
  MotionSeries& s = out.series;
  const auto contacts = static_cast<std::size_t>(m.contacts);
  s.q.resize(contacts);
  s.qd.resize(contacts);
  s.tau.resize(contacts);
  s.links.resize(contacts);
  s.inputs = out.replay.inputs;
  s.friction = out.replay.mu;
  s.trajectory.slip_time = s.trajectory.open_time = std::numeric_limits<double>::infinity();
  append_object(m, in, object, s);
  for (std::size_t j = 0; j < contacts; ++j) {
    const FingerTask<double> task = finger_task(m, in, object, static_cast<int>(j));
    append_finger(m, task, j, s);
    append_contact(task.place, out.replay, j, s);
  }
  return out;
}

SampleAtInstant group_instant(const GroupModel& m, Column inputs, Replay replay) {
  const GroupSample s = evaluate_group(m, std::move(inputs));
  SampleAtInstant out{std::move(replay), begin_series(m, s)};
  MotionSeries& series = out.series;
  series.inputs = out.replay.inputs;
  series.time = {0};
  series.kinetic = series.balance = {NAN};
  for (std::size_t k = 0; k < s.pose.size(); ++k) {
    const Mat3<double>& R = s.pose[k].R;
    append_object(k, s.pose[k].p, to_quaternion(column(R, 0), column(R, 1), column(R, 2)), series);
  }
  add(series.velocity, s.body[0].v);
  add(series.spin, s.body[0].omega);
  add(series.gravity, m.gravity);
  const Vec<double, 6> wrench = external_wrench(m, s, 0);
  series.load.assign(wrench.m, wrench.m + 6);
  append_contacts(s.place, out.replay.c, 3, series);
  append_fingers(m, s.q, s.qd, series);
  if (!s.reaches())
    for (auto* lists : {&series.q, &series.qd, &series.links})
      for (auto& list : *lists) std::fill(list.begin(), list.end(), NAN);
  series.gap.assign(s.place.size(), 0);
  series.slip_speed.assign(s.place.size(), NAN);
  series.state = out.replay.states;
  return out;
}

}  // namespace

SampleAtInstant instant(const Study& study, std::int64_t sample) {
  if (study.group() != nullptr)
    return group_instant(*study.group(), draw_group(*study.group(), sample, nullptr, 0), study.replay(sample));
  return evaluate_instant(study.model(), sample, study.replay(sample));
}

SampleAtInstant nominal_instant(const Study& study) {
  // A copy: the study's own model keeps its uncertain inputs.
  const auto nominal = std::make_unique<GraspModel>(study.model());
  if (study.group() != nullptr) {
    nominal->draws = 0;
    return group_instant(*study.group(), nominal_group(*study.group()), study.replay(*nominal, 0));
  }
  make_nominal(*nominal);
  return evaluate_instant(*nominal, 0, study.replay(*nominal, 0));
}

}  // namespace garra::grasp
