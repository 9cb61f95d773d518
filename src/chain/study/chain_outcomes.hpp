// Outcomes of a sample of a chain study, in the order of StudyOutcome.
#pragma once

#include <array>

#include "garra/chain_study.hpp"
#include "garra/study/outcomes.hpp"

namespace garra::chain {

inline constexpr std::array<study::OutcomeWords, kStudyOutcomes> kOutcomeWords = {{
    {"settled", "settled", "held", "at rest within the limit", study::Evidence::kFor},
    {"late", "late", "slip", "at rest later, or not by the end"},
    {"joint_limit", "joint limit", "break", "a joint reached its limit, which ended the motion"},
    {"non_finite", "non-finite", "muted", "unsolved: numbers grew beyond all bounds", study::Evidence::kUnsolved},
    {"step_limit", "step limit", "muted", "unsolved: the integrator ran out of steps", study::Evidence::kUnsolved},
    {"invalid_input", "invalid input", "muted", "unsolved: a drawn input is no finite number",
     study::Evidence::kUnsolved},
    {"completed", "completed", "held", "reached the end", study::Evidence::kFor},
}};

}  // namespace garra::chain
