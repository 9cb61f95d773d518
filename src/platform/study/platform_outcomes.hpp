// Outcomes of a sample of a platform study, in the order of Outcome.
#pragma once

#include <array>

#include "garra/platform_study.hpp"
#include "garra/study/outcomes.hpp"

namespace garra::platform {

inline constexpr std::array<study::OutcomeWords, kOutcomes> kOutcomeWords = {{
    {"feasible", "feasible", "held", "nothing goes wrong", study::Evidence::kFor},
    {"stroke", "stroke", "break", "a leg would have to be shorter or longer than it can"},
    {"cone", "joint angle", "accent", "a joint at an end of a leg would leave its cone"},
    {"collision", "collision", "ink", "two legs touch"},
    {"singular", "near singular", "muted", "smallest singular value below {near}: the legs hardly hold the platform"},
    {"force_limit", "force", "slip", "an actuator would have to give more than {force}"},
    {"tracking", "tracking", "accent", "the platform leaves its path by more than allowed"},
    {"invalid", "invalid", "grid", "unsolved: a number is not finite", study::Evidence::kUnsolved},
}};

}  // namespace garra::platform
