// Sizes of a study's data about its samples: readers of a stored tally check it against them.
#pragma once

#include <cstddef>
#include <vector>

namespace garra::study {

/// The counts [first, first + size) of Tally::counts.
struct IndexRange {
  std::size_t first = 0, size = 0;
};

struct Shape {
  std::size_t sums = 0;                           ///< per block, in Tally::sums
  std::size_t tracked = 0;                        ///< number of trailing sums recorded for the convergence curve
  std::size_t row = 0;                            ///< doubles of a kept sample; the first is its number
  std::size_t counts = 0, groups = 0, least = 0;  ///< sizes of the tally of any samples
  std::size_t buckets = 0;                        ///< numbers in Tally::buckets
  std::vector<IndexRange> outcomes = {};          ///< counts that add up to the samples: each sample ends in one
                                                  ///< way
};

}  // namespace garra::study
