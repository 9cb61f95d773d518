// Names, labels, colors and descriptions of grasp outcomes for summary.json and reports.
// Takes: nothing.
// Gives: constants kOutcomeWords, kGraspStatusWords: an entry per Outcome, GraspStatus.
// Units and frames: none; enumerator order, from 0.
// Bad input: a wrong GraspStatus name fails to compile.
// Not for: user programs: internal, no stable interface.
#pragma once

#include <array>
#include <string_view>

#include "garra/grasp.hpp"
#include "garra/grasp_set.hpp"
#include "garra/study/outcomes.hpp"

namespace garra::grasp {

/// Words per outcome, in the order of Outcome: name in files, label, color of the report, meaning,
/// and false if the sample is undecided.
inline constexpr std::array<study::OutcomeWords, kOutcomes> kOutcomeWords = {{
    {"held", "held", "held",
     "forces leave the contacts at rest, can balance the wrench, and the given command carries it",
     study::Evidence::kFor},
    {"not_resisted", "not resisted", "accent", "no forces inside the friction cones can balance the wrench"},
    {"command_insufficient", "command insufficient", "ink",
     "forces could balance the wrench, the given command does not"},
    {"slipping", "slipping", "slip", "some contact slips, none opens, and no forces leave the contacts at rest"},
    {"separating", "separating", "break", "some contact opens"},
    {"no_solution", "no solution", "muted", "proved: no contact forces satisfy the laws of rigid bodies and friction"},
    {"non_unique", "non-unique", "muted",
     "two different motions were found, both certified, and no forces leave the contacts at rest"},
    {"unreachable", "unreachable", "muted", "a finger cannot reach its contact"},
    {"unsolved", "unsolved", "muted", "the solver did not converge; may be any of the above",
     study::Evidence::kUnsolved},
}};

/// Words per status of a candidate grasp, in the order of GraspStatus.
inline constexpr int kGraspStatuses = static_cast<int>(names_of(GraspStatus{}).size());
inline constexpr std::array<study::OutcomeWords, kGraspStatuses> kGraspStatusWords = {{
    {"ranked", "ranked", "held", "has a place in the ranking"},
    {"no_contact", "no contact", "muted", "the grasp has no contact"},
    {"too_many_contacts", "too many contacts", "muted", "more than 32"},
    {"not_finite", "not finite", "muted", "a number of it is NaN or infinite"},
    {"bad_normal", "bad normal", "muted", "a normal is zero, or a tangent is parallel to its normal"},
    {"bad_friction", "bad friction", "muted", "a friction coefficient or a force limit is negative"},
    {"bad_mass", "bad mass", "muted", "the mass is negative, or the inertia is one that no body has"},
    {"outward_normals", "outward normals", "muted",
     "every normal points away from the center of mass, and nothing says that this is meant: they are to point into "
     "the object"},
    {"millimeters", "millimeters?", "muted", "a contact is more than 10 m away: lengths are in meters"},
    {"bad_hand", "bad hand", "muted", "its mobility or mass matrix is not symmetric and positive definite"},
}};
static_assert(
    [] {
      bool same = true;
      for (std::size_t k = 0; k < kGraspStatusWords.size(); ++k)
        same = same && std::string_view(kGraspStatusWords[k].name) == names_of(GraspStatus{})[k];
      return same;
    }(),
    "the names of GraspStatus stand beside it");

}  // namespace garra::grasp
