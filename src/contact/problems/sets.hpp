// The problem sets that `garra contact bench` has built in, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "garra/contact.hpp"

namespace garra::contact {

/// How to draw a set: problem k depends on the seed and on k alone.
struct SetDraw {
  std::int64_t count = 0;
  std::uint64_t seed = 0;
};

struct ProblemSet {
  const char* name;
  const char* description;  ///< one line
  Problems (*draw)(const SetDraw&);
};

[[nodiscard]] std::span<const ProblemSet> problem_sets();

/// nullptr where no set has this name.
[[nodiscard]] const ProblemSet* find_problem_set(const std::string& name);

}  // namespace garra::contact
