// Computes the hand of one grasp from the arrays of a set. Host only.
#pragma once

#include <vector>

#include "garra/grasp_set.hpp"
#include "grasp/set/hand.hpp"

namespace garra::grasp {

/// The hand to rank the set with. Throws Error if required arrays are missing or contradict.
[[nodiscard]] Hand choose_hand(const GraspSet& set, Hand wanted);
/// Throws Error if the sizes of a hand's arrays do not match its set.
void check_joints(const GraspSet& set);
/// Whether grasp g has numbers and matrices that are valid for a hand.
[[nodiscard]] bool hand_is_finite(const GraspSet& set, std::int64_t g);
[[nodiscard]] bool hand_is_sound(const GraspSet& set, Hand hand, std::int64_t g);
/// Hands of several grasps, side by side.
template <int N, int D = 3>
struct PackedHands {
  std::vector<SetHand<N, D>> hands;
  std::vector<LimitedJoint<N, D>> joints;  ///< as many of each
  int each = 0;
  bool limit = false;  ///< some torques

  [[nodiscard]] LimitedJoints<N, D> limited() const { return {joints.data(), each, limit}; }
};

/// Reader of the hands of a set's grasps.
class HandReader {
 public:
  /// References must outlive this object. torque_errors: whether joints without a limit are included.
  HandReader(const GraspSet& set, Hand hand, bool torque_errors);
  /// Adds the hand of grasp g; `grasp` is the same grasp, packed.
  template <int N, int D>
  void pack(std::int64_t g, const SetGrasp<N>& grasp, PackedHands<N, D>& to) const;

 private:
  const GraspSet& set_;
  Hand hand_;
  bool torque_errors_;
  int limits_ = 0;  ///< joints with a torque limit, of the grasp that has most of them
};

}  // namespace garra::grasp
