// Result of a search for a singular configuration: its status, and the analysis of its end.
#pragma once

#include "garra/systems/singularity/refine.hpp"

namespace garra::singularity {

/// Analysis of the singularity next to a configuration.
template <class S, int J>
struct NearSingularity {
  S search_status;  ///< singularity::SearchStatus; unless it is kConverged the other members are zero, -1 or NaN
  S distance;       ///< length of the joint motion [rad]
  S lost, dependent_joints, subsets;
  S escape_joint, escape_order, escape_rate, escape_sign;
  Vec<S, 6> wrench;
  Vec<S, J> q;            ///< the singular configuration
  Vec<S, J> subset_last;  ///< minimal singular subsets by their first joint: the last one, from 0; -1: none
  Vec<S, J> subset_joints;
};

namespace kernel {

/// The value of one joint, chosen in each lane for itself; 0 for joint -1.
template <class S, int J>
GARRA_HD S pick(const Vec<S, J>& of, const S& joint) {
  S out = S(0);
  for_each_index<J>([&](auto j) { out = select(joint == S(static_cast<int>(j)), of[j], out); });
  return out;
}

/// The set without the padding joints.
template <class S, int J>
GARRA_HD S real_joints(const S& set, int joints) {
  S padding = S(0);
  for_each_index<J>([&](auto j) {
    if (j >= joints) padding += S(joint_bit(j));
  });
  return max(set - padding, S(0));  // padding joints move freely: they are in every set, or in none
}

/// Union of sets of joints. Whole numbers below 2^52, added to 2^52, have their bits at the end of
/// the fraction.
template <class S, int J>
GARRA_HD S united(const Vec<S, J>& sets) {
  constexpr double kOffset = 0x1p52;
  auto bits = to_bits(S(kOffset) + sets[0]);
  for_each_index<J - 1>([&](auto j) { bits = bits | to_bits(S(kOffset) + sets[j + 1]); });
  return from_bits<S>(bits) - S(kOffset);
}

/// Joints with a part in the null space. All joints of a redundant arm take part in ordinary
/// self-motion: for it, the joints of the minimal singular subsets, if there are any.
template <int G, class S, int J>
GARRA_HD S mask_dependent_joints(const Findings<S, J>& found, const IntervalDims<J>& dims, int joints) {
  const S null_space = real_joints<S, J>(found.escape.dependent_joints, joints);
  if (joints <= numerical_rank<G>(dims)) return null_space;
  const S subsets = united(found.subsets.members);
  return select(subsets > S(0), subsets, null_space);
}

}  // namespace kernel

/// Analyzes the end of a search.
template <int G, class S, int J>
GARRA_HD NearSingularity<S, J> analyze_arrival(const Arm<J>& arm, const Search<S, J>& search,
                                               const RefineOptions& options) {
  const Vec<S, J>& q = search.q;
  S finite = S(0);
  for_each_index<J>([&](auto j) { finite += search.start[j] - search.start[j]; });
  const auto at = posture(arm, q);
  const Findings<S, J> found = analyze<G>(at.screws, arm.dims, arm.tolerances);
  NearSingularity<S, J> out;
  out.distance = search_distance(arm, search);
  const MaskOf<S> arrived = found.sigma[numerical_rank<G>(arm.dims) - 1] <= S(options.tolerance) * found.sigma[0];
  const MaskOf<S> converged = arrived && out.distance <= S(options.farthest);
  out.search_status = select(finite == S(0), select(converged, S(0), S(1)), S(2));
  out.lost = found.lost;
  out.dependent_joints = kernel::mask_dependent_joints<G>(found, arm.dims, arm.joints);
  out.subsets = found.subsets.count;
  out.escape_joint = found.escape.joint;
  out.escape_order = kernel::pick(found.escape.order, found.escape.joint);
  out.escape_rate = kernel::pick(found.escape.rate, found.escape.joint);
  out.escape_sign = kernel::pick(found.escape.sign, found.escape.joint);
  // (force; moment) from the angular part first.
  for_each_index<6>([&](auto k) { out.wrench[k] = found.escape.wrench[0][(k + 3) % 6]; });
  out.q = q;
  out.subset_last = found.subsets.last;
  out.subset_joints = found.subsets.members;
  const S zero = S(0), none = S(-1), nan = S(__builtin_nan(""));
  for (S* x : {&out.lost, &out.dependent_joints, &out.subsets, &out.escape_order, &out.escape_sign})
    *x = select(converged, *x, zero);
  out.escape_joint = select(converged, out.escape_joint, none);
  for (S* x : {&out.distance, &out.escape_rate}) *x = select(converged, *x, nan);
  for_each_index<6>([&](auto k) { out.wrench[k] = select(converged, out.wrench[k], nan); });
  for_each_index<J>([&](auto j) {
    out.q[j] = select(converged, out.q[j], nan);
    out.subset_last[j] = select(converged, out.subset_last[j], none);
    out.subset_joints[j] = select(converged, out.subset_joints[j], zero);
  });
  return out;
}

}  // namespace garra::singularity
