// Sizes of what a study keeps about its samples: whoever reads a stored tally checks it against them.
#pragma once

#include <cstddef>
#include <vector>

namespace garra::study {

/// Counts [first, first + size) of Tally::counts.
struct Stretch {
  std::size_t first = 0, size = 0;
};

struct Shape {
  std::size_t sums = 0;                           ///< per block, in Tally::sums
  std::size_t tracked = 0;                        ///< of them the last ones, which the convergence curve is made of
  std::size_t row = 0;                            ///< doubles of a kept sample; the first is its number
  std::size_t counts = 0, groups = 0, least = 0;  ///< of the tally of any samples
  std::size_t buckets = 0;                        ///< numbers in Tally::buckets
  std::vector<Stretch> outcomes = {};             ///< these counts together are the samples: each ends in one way
};

}  // namespace garra::study
