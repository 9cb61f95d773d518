// One sample of a group in lists of its own.
#include <algorithm>

#include "grasp/group/stand.hpp"

namespace garra::grasp {

Column draw_group(const GroupModel& m, std::int64_t index, double* uniforms, std::int64_t stride) {
  Column x(m.constant.size());
  draw_sample(m, index, uniforms, stride, x);
  return x;
}

Column nominal_group(const GroupModel& m) {
  Column x(m.constant.size());
  nominal_sample(m, x);
  return x;
}

GroupSample place_group(const GroupModel& m, const Column& inputs) {
  const GroupParts<Shown> shown = show_parts(m);
  double none = 0;
  Cutter<double> size{&none};
  static_cast<void>(cut_sample(shown, size));
  GroupSample s;
  s.memory.resize(static_cast<std::size_t>(size.at - &none));
  Cutter<double> memory{s.memory.data()};
  static_cast<GroupSampleView&>(s) = cut_sample(shown, memory);
  std::ranges::copy(inputs, s.inputs.begin());
  place_sample(shown, s);
  return s;
}

Vec<double, 6> external_wrench(const GroupModel& m, const GroupSample& s, std::size_t k) {
  const Body<double>& body = s.body[k];
  const Vec3<double> gyroscopic = cross(body.omega, body.inertia * body.omega);
  Vec<double, 6> out = s.load[k];
  for (int i = 0; i < 3; ++i) {
    out[i] -= body.mass * m.gravity[i];
    out[i + 3] += gyroscopic[i];
  }
  return out;
}

void stand_fingers(const GroupParts<Shown>& m, GroupSampleView& s) {
  for (std::size_t f = 0; f < m.fingers.size(); ++f)
    with_finger_size(m.fingers[f].size, [&](auto joints, auto size) {
      const chain::JointsInUse all(m.first_joint[f + 1] - m.first_joint[f]);
      stand_finger<joints, size, chain::kAnyJoints>(m, f, s);
    });
}

GroupSample stand_group(const GroupModel& m, const Column& inputs) {
  GroupSample s = place_group(m, inputs);
  stand_fingers(show_parts(m), s);
  return s;
}

GroupSample evaluate_group(const GroupModel& m, const Column& inputs) {
  GroupSample s = stand_group(m, inputs);
  finish_sample(show_parts(m), s);
  return s;
}

}  // namespace garra::grasp
