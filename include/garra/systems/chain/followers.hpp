// Joints that follow others of their chain (docs/theory/chain.md, "Coupled joints"): q_i = ratio
// q_l + offset, l the leader. With rates qd = P r of all joints from the leaders' rates r, the
// leaders' quantities are J P, P' M P and P' tau.
#pragma once

#include <type_traits>

#include "garra/core/mat.hpp"
#include "garra/core/unroll.hpp"
#include "garra/systems/chain/model.hpp"

namespace garra::chain {

/// Couplings of a chain's joints, shared by all samples. Leaders do not follow. Trivially copyable.
struct Followers {
  bool any;                   ///< false: the other members are not read
  int leader[kMaxJoints];     ///< of joint i, from 0; i itself: it follows none
  double ratio[kMaxJoints];   ///< [1, or rad/m and m/rad]
  double offset[kMaxJoints];  ///< [rad or m]
};

/// Calls f(follower, leader, ratio) for each joint of J that follows another. Chains with followers
/// are padded to kMaxJoints, or of any size: loops are ordinary ones there; in smaller sizes an index that is
/// no constant would move numbers out of registers.
template <int J, class F>
GARRA_HD void for_each_follower(const Followers& followers, const F& f) {
  if constexpr (J == kMaxJoints || J == kAnyJoints) {
    if (!followers.any) return;
    for (int i = 0; i < extent<J>(); ++i)
      if (followers.leader[i] != i) f(i, followers.leader[i], followers.ratio[i]);
  }
}

/// Sets followers from their leaders. q: a vector, or the numbers of one shorter than J.
template <int J, class Q>
GARRA_HD void follow_in(const Followers& followers, Q&& q) {
  using S = std::remove_cvref_t<decltype(q[0])>;
  for_each_follower<J>(followers,
                       [&](int i, int l, double ratio) { q[i] = fma(S(ratio), q[l], S(followers.offset[i])); });
}
template <class S, int J>
GARRA_HD void follow(const Followers& followers, Vec<S, J>& q) {
  follow_in<J>(followers, q);
}
/// Sets rates of followers: P r, with r in the leaders' places.
template <class S, int J>
GARRA_HD void follow_rates(const Followers& followers, Vec<S, J>& qd) {
  for_each_follower<J>(followers, [&](int i, int l, double ratio) { qd[i] = S(ratio) * qd[l]; });
}

/// A P in the leaders' columns; the followers' columns are 0.
template <class S, int R, int J>
GARRA_HD void lead_columns(const Followers& followers, Mat<S, R, J>& A) {
  for_each_follower<J>(followers, [&](int i, int l, double ratio) {
    for (int r = 0; r < extent<R>(); ++r) {
      A(r, l) = fma(S(ratio), A(r, i), A(r, l));
      A(r, i) = S(0);
    }
  });
}
/// P' v, torques of the leaders; the followers' torques are 0.
template <class S, int J>
GARRA_HD void lead_torques(const Followers& followers, Vec<S, J>& v) {
  for_each_follower<J>(followers, [&](int i, int l, double ratio) {
    v[l] = fma(S(ratio), v[i], v[l]);
    v[i] = S(0);
  });
}
/// P' M P; followers keep a rotor of 1, as padding has, so that it stays regular.
template <class S, int J>
GARRA_HD void lead_inertia(const Followers& followers, Mat<S, J, J>& M) {
  lead_columns(followers, M);
  for_each_follower<J>(followers, [&](int i, int l, double ratio) {
    for (int c = 0; c < extent<J>(); ++c) {
      M(l, c) = fma(S(ratio), M(i, c), M(l, c));
      M(i, c) = S(c == i ? 1 : 0);
    }
  });
}

}  // namespace garra::chain
