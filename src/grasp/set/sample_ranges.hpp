// Distributes the samples of a set over the host's threads, in ranges of consecutive samples of one grasp.
#pragma once

#include <algorithm>

#include "garra/batch/device.hpp"
#include "garra/batch/parallel.hpp"

namespace garra::grasp {

/// A range of consecutive samples of one grasp.
struct SampleRange {
  std::int64_t grasp, first, count;
  std::int64_t number;  ///< index among all ranges
};

/// Division of `samples` samples of each of `grasps` grasps into ranges of at most `at_once`, a whole number of words.
struct SampleCut {
  std::int64_t grasps, samples, at_once;

  [[nodiscard]] std::int64_t each() const { return (samples + at_once - 1) / at_once; }
  [[nodiscard]] std::int64_t sample_ranges() const { return grasps * each(); }
  [[nodiscard]] SampleRange sample_range(std::int64_t number) const {
    const std::int64_t first = number % each() * at_once;
    return {number / each(), first, std::min(at_once, samples - first), number};
  }
};

/// Calls work(tiles, range) for all ranges; each thread owns the tiles of one make().
template <class Make, class Work>
void for_sample_ranges(const SampleCut& cut, const Device& device, const Make& make, const Work& work) {
  batch::for_blocks(solve_threads(device), {cut.sample_ranges(), 1}, make,
                    [&](auto& tiles, std::int64_t k, std::int64_t) { work(tiles, cut.sample_range(k)); });
}

}  // namespace garra::grasp
