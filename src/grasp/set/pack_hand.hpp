// From the arrays of a set to the hand of one grasp. Host only.
#pragma once

#include "garra/grasp_set.hpp"
#include "grasp/set/hand.hpp"

namespace garra::grasp {

/// The hand that a set is to be ranked with. Throws Error where arrays that it needs are missing or contradict.
[[nodiscard]] Hand hand_of(const Set& set, Hand wanted);
/// Throws Error where the arrays of a hand have other sizes than its set.
void check_hand_sizes(const Set& set);
/// Whether grasp g has numbers, and matrices, that a hand can have.
[[nodiscard]] bool hand_is_finite(const Set& set, std::int64_t g);
[[nodiscard]] bool hand_is_sound(const Set& set, Hand hand, std::int64_t g);
/// Its hand; `grasp` is the same grasp, packed.
template <int N>
[[nodiscard]] SetHand<N> packed_hand(const Set& set, Hand hand, std::int64_t g, const SetGrasp<N>& grasp);

}  // namespace garra::grasp
