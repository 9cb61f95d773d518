#include "grasp/group/series.hpp"

#include <limits>

#include "garra/systems/chain/kernels_kinematics.hpp"
#include "grasp/sample/fingers.hpp"
#include "grasp/sample/links.hpp"

namespace garra::grasp {

MotionSeries begin_series(const GroupModel& m, const GroupSample& s) {
  MotionSeries out;
  for (auto* list : {&out.q, &out.qd, &out.tau, &out.links}) list->resize(m.fingers.size());
  out.friction.assign(s.mu.begin(), s.mu.end());
  out.trajectory.slip_time = out.trajectory.open_time = std::numeric_limits<double>::infinity();
  out.others.resize(m.objects.size() - 1);
  for (std::size_t k = 0; k < m.objects.size(); ++k)
    (k == 0 ? out.scale : out.others[k - 1].scale) = s.inputs[static_cast<std::size_t>(m.objects[k].slot + kScale)];
  return out;
}

void append_object(std::size_t k, const Vec3<double>& p, const Quaternion<double>& turn, MotionSeries& out) {
  auto& position = k == 0 ? out.position : out.others[k - 1].position;
  auto& quaternion = k == 0 ? out.quaternion : out.others[k - 1].quaternion;
  position.insert(position.end(), p.m, p.m + 3);
  quaternion.insert(quaternion.end(), turn.m, turn.m + 4);
}

void append_contacts(View<const ContactPlace<double>> places, View<const double> c, std::size_t numbers,
                     MotionSeries& out) {
  const auto add = [](std::vector<double>& to, const Vec3<double>& v) { to.insert(to.end(), v.m, v.m + 3); };
  for (std::size_t j = 0; j < places.size(); ++j) {
    const double* force = c.data() + numbers * j;
    const Vec3<double> along = {{force[0], force[1], force[2]}};
    add(out.normal, column(places[j].E, 0));
    add(out.point, places[j].p);
    add(out.force, along);
    add(out.force_palm, places[j].E * along);
  }
}

void append_fingers(const GroupModel& m, View<const double> q, View<const double> qd, MotionSeries& out) {
  for (std::size_t f = 0; f < m.fingers.size(); ++f) {
    const auto first = q.begin() + m.first_joint[f], last = q.begin() + m.first_joint[f + 1];
    out.q[f].insert(out.q[f].end(), first, last);
    out.qd[f].insert(out.qd[f].end(), qd.begin() + m.first_joint[f], qd.begin() + m.first_joint[f + 1]);
    with_finger_size(m.fingers[f].size, [&](auto joints, auto size) {
      Vec<double, size> angles = Vec<double, size>::zero();
      std::copy(first, last, angles.m);
      append_links<joints>(finger_chain<size>(m.fingers[f]), angles, out.links[f]);
    });
  }
}

}  // namespace garra::grasp
