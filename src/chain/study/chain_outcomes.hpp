// Outcomes of a sample of a chain study, in the order of StudyOutcome.
#pragma once

#include <array>

#include "garra/chain_study.hpp"
#include "garra/study/outcomes.hpp"

namespace garra::chain {

inline constexpr std::array<study::OutcomeWords, kStudyOutcomes> kOutcomeWords = {{
    {"settled", "settled", "held", "at rest within the limit"},
    {"late", "late", "slip", "at rest later, or not by the end"},
    {"joint_limit", "joint limit", "break", "a joint reached its limit, which ended the motion"},
    {"non_finite", "non-finite", "muted", "unsolved: numbers grew beyond all bounds", false},
    {"step_limit", "step limit", "muted", "unsolved: the integrator ran out of steps", false},
    {"invalid_input", "invalid input", "muted", "unsolved: a drawn input is no finite number", false},
    {"completed", "completed", "held", "reached the end"},
}};

}  // namespace garra::chain
