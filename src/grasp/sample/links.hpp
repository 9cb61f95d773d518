// Positions of a finger's links, for pictures of a hand. Host only.
#pragma once

#include <vector>

#include "garra/systems/chain/kernels.hpp"
#include "garra/systems/grasp/finger.hpp"

namespace garra::grasp {

/// Appends the frame origins of a finger at q: base, links, fingertip, in P [m].
template <chain::Joints K, int J>
void append_links(const FingerChain<J>& finger, const Vec<double, J>& q, std::vector<double>& to) {
  const auto at = chain::frames<K>(finger.model, chain::angles<K>(finger.model, q));
  const auto add = [&](const Vec3<double>& p) { to.insert(to.end(), p.m, p.m + 3); };
  add(finger.model.base.p);
  for (int i = 0; i < finger.joints; ++i) add(at.frame[i].p);
  add(at.tool.p);
}

}  // namespace garra::grasp
