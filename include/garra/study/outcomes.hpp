// Names, labels and colors of a study's outcomes. Each study has one table of such rows beside the
// enum of its outcomes; names in files, summary.json and the report follow from it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace garra::study {

/// What a sample with the outcome says of the event whose probability a study estimates.
enum class Evidence {
  kAgainst,
  kFor,
  kUnsolved,  ///< may be either: widens the interval
  kNone       ///< of no sample of the study
};

struct OutcomeWords {
  const char* name;   ///< in files: "not_resisted"
  const char* label;  ///< for people
  const char* color;  ///< of the report: held, slip, break, accent, ink, muted or grid
  const char*
      meaning;  ///< one sentence, in which {duration} stands for a number of the scenario; "" if the label suffices
  Evidence evidence = Evidence::kAgainst;

  [[nodiscard]] constexpr bool decided() const { return evidence == Evidence::kAgainst || evidence == Evidence::kFor; }
};

template <std::size_t N>
[[nodiscard]] std::vector<std::string> names_in(const std::array<OutcomeWords, N>& table) {
  std::vector<std::string> names;
  for (const OutcomeWords& row : table) names.emplace_back(row.name);
  return names;
}

/// The name in row `k`; "unknown" if there is none: files, too, contain numbers of outcomes.
template <std::size_t N>
[[nodiscard]] constexpr const char* name_at(const std::array<OutcomeWords, N>& table, int k) {
  return k >= 0 && static_cast<std::size_t>(k) < N ? table[static_cast<std::size_t>(k)].name : "unknown";
}

}  // namespace garra::study
