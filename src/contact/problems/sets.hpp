// The built-in problem sets of `garra contact bench`, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "garra/contact.hpp"

namespace garra::contact {

/// Draw of a set: problem k depends only on the seed and k.
struct SetDraw {
  std::int64_t count = 0;
  std::uint64_t seed = 0;
};

/// A built-in problem set.
struct ProblemSet {
  const char* name;
  const char* description;  ///< one line
  Problems (*draw)(const SetDraw&);
};

[[nodiscard]] std::span<const ProblemSet> problem_sets();

/// The set of this name, or nullptr.
[[nodiscard]] const ProblemSet* find_problem_set(const std::string& name);

}  // namespace garra::contact
