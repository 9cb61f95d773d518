// Words for the ends of trajectories, in the order of MotionEnd.
#pragma once

#include <array>

#include "garra/grasp_time.hpp"
#include "garra/study/outcomes.hpp"

namespace garra::grasp {

inline constexpr std::array<study::OutcomeWords, kMotionEnds> kMotionEndWords = {{
    {"held", "held without slip", "held", "in the hand until {duration}, no contact slid by {slip}",
     study::Evidence::kFor},
    {"slipped", "held, slipped", "slip", "in the hand until {duration}, but some contact slid by {slip}",
     study::Evidence::kFor},
    {"dropped", "dropped", "break",
     "the center of mass moved by {drop} in palm axes, contacts slipping or not, or nothing presses on the object at "
     "{duration}"},
    {"turned", "turned", "break", "the object turned by {drop_turn}"},
    {"joint_limit", "joint limit", "accent", "a joint reached its limit"},
    {"unreachable", "unreachable", "muted", "a finger cannot reach its contact: never began"},
    {"unsolved", "unsolved", "muted", "the contact problem of a step was not solved; may be any of the above",
     study::Evidence::kUnsolved},
    {"non_finite", "not finite", "muted", "a number overflowed; may be any of the above", study::Evidence::kUnsolved},
}};

}  // namespace garra::grasp
