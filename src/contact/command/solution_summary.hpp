// Summary of `garra contact solve`: counted batch by batch, printed for people or as JSON.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "garra/contact.hpp"
#include "garra/core/error.hpp"

namespace garra::cli {

/// A given file that could not be read; the others are still solved.
struct Unreadable {
  std::string file;
  Error error;
};

/// Counts over all solutions, batch by batch.
struct ContactSummary {
  // The request.
  contact::Options options;
  std::string device, output;  ///< output: empty if nothing is written
  std::size_t inputs = 0;

  // The results.
  std::int64_t problems = 0, rolling = 0, sliding = 0;  ///< rolling, sliding: contacts
  std::array<std::int64_t, kStatusCount> by_status{};
  double worst_contact_residual = 0;  ///< of the solved, relative to each contact's own load
  double worst_ill_conditioned = 0;   ///< worst residual among problems solved as well as rounding allows
  /// Problems that went beyond Newton, their iterations beyond it, and iterations of all problems.
  std::int64_t beyond_newton = 0, iterations_beyond = 0, iterations = 0;
  double worst_residual = 0;                            ///< over the solved problems
  std::map<std::int32_t, std::int64_t> restart_counts;  ///< solved problems by kStickTest or stage
  /// Outer iterations, function evaluations, inner iterations, products, if they were counted.
  std::array<std::vector<std::int32_t>, 4> effort;
  std::int64_t starts = 0, stalled_starts = 0;             ///< of the methods that minimize
  std::int64_t began_again = 0;                            ///< in double, after single precision found nothing
  std::map<std::int32_t, std::int64_t> by_solution_count;  ///< kUndecided or a number of solutions: problems
  std::array<std::int64_t, 4> by_state{};                  ///< contacts that stick, slip, open; of unsolved problems
  double seconds = 0;                                      ///< in solve, without reading and writing
  double elapsed = 0;                                      ///< [s] with them
  std::vector<std::string> outputs;
  std::vector<Unreadable> unreadable;

  static constexpr std::int32_t kStickTest = -1;   ///< stage before the first: the initial guess was the answer
  static constexpr std::int32_t kUndecided = 255;  ///< in Solutions::solutions

  /// Counts a batch; not thread-safe.
  void add(const contact::Problems& problems, const contact::Solutions& solutions);
  [[nodiscard]] std::int64_t solved() const { return by_status[static_cast<std::size_t>(Status::kConverged)]; }
};

/// Prints to standard output, for programs; an unknown number is null.
void print_json(const ContactSummary& summary);
/// Prints for a terminal.
void print_human(const ContactSummary& summary);

}  // namespace garra::cli
