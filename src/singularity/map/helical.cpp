// Helical joints as the maps take them: one joint that turns and slides.
#include <cmath>

#include "garra/singularity_map.hpp"

namespace garra::singularity {

namespace {

/// Whether the joint slides along the axis of the one before and follows it.
bool is_slide_of_leader(const chain::Robot& robot, const chain::Coupling& c) {
  constexpr double kRounding = 1e-12;
  const auto joint = static_cast<std::size_t>(c.joint);
  const chain::JointForm<double>& form = robot.form[joint];
  return c.joint == c.leader + 1 && robot.joint[joint].prismatic && !robot.joint[joint - 1].prismatic &&
         std::abs(form.a) + std::abs(form.b) + std::abs(form.sin_alpha) < kRounding && form.cos_alpha > 0;
}

}  // namespace

chain::Robot merge_helical(const chain::Robot& robot) {
  chain::Robot out = robot;
  out.coupled.clear();
  // From the tip, so that the numbers of the others stay.
  for (auto c = robot.coupled.rbegin(); c != robot.coupled.rend(); ++c) {
    if (c->leader == c->joint) {
      out.coupled.insert(out.coupled.begin(), *c);
      continue;
    }
    if (!is_slide_of_leader(out, *c)) chain::require_uncoupled(robot, "maps of singularities");
    const auto at = static_cast<std::ptrdiff_t>(c->joint);
    chain::JointForm<double>& turn = out.form[static_cast<std::size_t>(c->leader)];
    turn.d += out.form[static_cast<std::size_t>(at)].d + c->offset;
    turn.theta += out.form[static_cast<std::size_t>(at)].theta;
    out.joint[static_cast<std::size_t>(c->leader)] = chain::coordinate_limits(robot, c->leader);
    out.joint.erase(out.joint.begin() + at);
    out.form.erase(out.form.begin() + at);
    // The body is on the slide.
    out.link.erase(out.link.begin() + at - 1);
    out.body.erase(out.body.begin() + at - 1);
    for (std::size_t k = static_cast<std::size_t>(at) - 1; k < out.link.size(); ++k) --out.link[k].joint;
    for (chain::Coupling& other : out.coupled) --other.joint, --other.leader;
    out.coupled.insert(out.coupled.begin(), {c->leader, c->leader, c->ratio, 0});
    --out.joints;
  }
  return out;
}

}  // namespace garra::singularity
