// The three examples of Gallardo and Rico (Ingenieria, Universidad de Costa Rica, 2001). Every computable statement of
// the paper is evaluated on the screws as printed and as corrected (docs/theory/singularity.md, "The paper's
// examples"). Joints count from 1. Host only.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "garra/singularity.hpp"

namespace garra::papers {

using namespace singularity;

/// An answer: none (undefined for these screws, or not in the paper), yes or no, a number, a length or angle to the
/// paper's digits, or joints (from 1, as in the paper).
using Value = std::variant<std::monostate, bool, int, double, std::vector<int>>;

/// Result of a claim's test.
enum class ClaimStatus { kHolds, kHoldsWithCorrectedDatum, kDoesNotHold };
[[nodiscard]] const char* to_string(ClaimStatus decision);

/// A statement of the paper with its computed answers.
struct Claim {
  std::string statement;
  Value paper, printed, corrected;  ///< answers: in the paper, from its printed screws, from the corrected ones
  bool holds_printed = false, holds_corrected = false;
  ClaimStatus decision = ClaimStatus::kDoesNotHold;  ///< holds: with both; a printed datum that is wrong proves nothing
  std::string reason;                                ///< empty if the claim holds
};

/// Screws of one example, with the tolerances of their ranks.
struct Data {
  ScrewSet screws;
  double tolerance = 1e-10;
};
/// Screws of an example, as printed and as corrected.
struct Example {
  Data printed, corrected;
};

/// Corrections of the screws of example 1, 2, 3; empty if there are none.
[[nodiscard]] std::string correction(int example);

/// The claims of example 1, 2 or 3 in the order of the paper, with implied statements last. Throws Error(kUsage) for
/// another number, or screws of another example's count.
[[nodiscard]] std::vector<Claim> examine(int example, const Example& data);

}  // namespace garra::papers
