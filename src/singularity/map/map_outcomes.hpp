// Outcomes of a sample of a map, in the order of MapOutcome.
#pragma once

#include <array>

#include "garra/study/outcomes.hpp"
#include "singularity/map/layout.hpp"

namespace garra::singularity {

inline constexpr std::array<study::OutcomeWords, kMapOutcomes> kOutcomeWords = {{
    {"regular", "regular", "held", "not near a singularity"},
    {"near", "near", "slip", "smallest singular value at most {near} of the largest", study::Evidence::kFor},
    {"singular", "singular", "break", "exactly, to {tolerance} of the largest singular value", study::Evidence::kFor},
    {"unreached", "unreached", "muted", "inverse kinematics led to no solution from this start",
     study::Evidence::kNone},
    {"invalid", "invalid", "muted", "unsolved: a number is not finite", study::Evidence::kUnsolved},
}};

}  // namespace garra::singularity
