// `--require 'p_held>=0.99'`: the condition for exit code 0 of a run. The quantities depend on the job: p_held,
// p_no_slip, p_resisted of a grasp, p_settled of a chain (its best design).
#pragma once

#include <string>

namespace garra::cli {

struct JobKind;

/// A bound on a probability of the run, as given by --require.
struct Requirement {
  std::string text;
  std::string quantity;
  bool at_least = true;  ///< else at most
  double bound = 0;

  /// Whether the whole interval satisfies the bound: a requirement must be proved.
  [[nodiscard]] bool holds(double low, double high) const { return at_least ? low >= bound : high <= bound; }
  /// Whether the whole interval violates the bound; else more samples may decide.
  [[nodiscard]] bool is_refuted(double low, double high) const { return at_least ? high < bound : low > bound; }
};

/// Throws Error(kUsage) if the text is no requirement, or names a quantity that the job does not have.
[[nodiscard]] Requirement parse_requirement(const std::string& text, const JobKind& kind);

}  // namespace garra::cli
