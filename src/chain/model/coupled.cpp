// Chains of which joints follow others: their coordinates are the joints that follow none.
#include <algorithm>
#include <cmath>

#include "garra/chain.hpp"
#include "garra/systems/chain/followers.hpp"

namespace garra::chain {

std::vector<int> coordinates(const Robot& robot) {
  std::vector<int> out;
  for (int i = 0; i < robot.joints; ++i)
    if (std::none_of(robot.coupled.begin(), robot.coupled.end(),
                     [&](const Coupling& c) { return c.joint == i && c.leader != i; }))
      out.push_back(i);
  return out;
}

Joint coordinate_limits(const Robot& robot, int joint) {
  Joint out = robot.joint[static_cast<std::size_t>(joint)];
  for (const Coupling& c : robot.coupled) {
    if (c.leader != joint || c.ratio == 0) continue;
    const Joint& follower = robot.joint[static_cast<std::size_t>(c.joint)];
    double low = (follower.lower - c.offset) / c.ratio, high = (follower.upper - c.offset) / c.ratio;
    if (c.ratio < 0) std::swap(low, high);
    out.lower = std::max(out.lower, low);
    out.upper = std::min(out.upper, high);
    out.velocity_limit = std::min(out.velocity_limit, follower.velocity_limit / std::abs(c.ratio));
  }
  return out;
}

Followers find_followers(const Robot& robot) {
  Followers out{};
  for (int i = 0; i < kMaxJoints; ++i) out.leader[i] = i;
  for (const Coupling& c : robot.coupled) {
    out.any = true;
    out.leader[c.joint] = c.leader;
    out.ratio[c.joint] = c.ratio;
    out.offset[c.joint] = c.offset;
  }
  return out;
}

void require_uncoupled(const Robot& robot, const std::string& what) {
  if (robot.coupled.empty()) return;
  const auto name = [&](int i) { return "\"" + robot.joint[static_cast<std::size_t>(i)].name + "\""; };
  const Coupling& c = robot.coupled.front();
  // A screw's slide is no joint of its file.
  if (robot.joint[static_cast<std::size_t>(c.joint)].name ==
      robot.joint[static_cast<std::size_t>(c.leader)].name + " slide")
    throw Error(ExitCode::kUsage,
                what + ": joint " + name(c.leader) + " of \"" + robot.name +
                    "\" is helical: coupled joints are not supported here",
                "Write type = \"revolute\" or \"prismatic\" in its row, or hold it.");
  throw Error(ExitCode::kUsage,
              what + ": joint " + name(c.joint) + " of \"" + robot.name + "\" follows " + name(c.leader) +
                  ": coupled joints are not supported here",
              "Hold one of the two where the URDF is read (lock), or end the chain before it (tip); in TOML leave out "
              "follows.");
}

}  // namespace garra::chain
