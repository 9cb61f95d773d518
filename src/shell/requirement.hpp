// `--require 'p_held>=0.99'`: what a run must have shown to end with exit code 0. Which quantity there is depends on
// the job: p_held, p_no_slip, p_can_be_held of a grasp, p_settled of a chain (its best design).
#pragma once

#include <string>

namespace garra::cli {

struct JobKind;

struct Requirement {
  std::string text;
  std::string quantity;
  bool at_least = true;  ///< else at most
  double bound = 0;

  /// The whole interval lies on the right side: a requirement is proved, not guessed.
  [[nodiscard]] bool holds(double low, double high) const { return at_least ? low >= bound : high <= bound; }
  /// The whole interval lies on the wrong side; else more samples may decide.
  [[nodiscard]] bool is_refuted(double low, double high) const { return at_least ? high < bound : low > bound; }
};

/// Throws Error(kUsage) where the text is none, or names a quantity that the job has not.
[[nodiscard]] Requirement parse_requirement(const std::string& text, const JobKind& kind);

}  // namespace garra::cli
