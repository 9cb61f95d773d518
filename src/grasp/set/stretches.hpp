// The samples of a set on the host: stretches of consecutive ones of one grasp, by all threads.
#pragma once

#include <algorithm>

#include "garra/batch/device.hpp"
#include "garra/batch/parallel.hpp"

namespace garra::grasp {

/// Some consecutive samples of one grasp.
struct SampleStretch {
  std::int64_t grasp, first, count;
  std::int64_t number;  ///< of the stretch among all
};

/// So many samples of each of so many grasps, cut into stretches of at most `at_once`, a whole number of words.
struct SampleCut {
  std::int64_t grasps, samples, at_once;

  [[nodiscard]] std::int64_t each() const { return (samples + at_once - 1) / at_once; }
  [[nodiscard]] std::int64_t stretches() const { return grasps * each(); }
  [[nodiscard]] SampleStretch stretch(std::int64_t number) const {
    const std::int64_t first = number % each() * at_once;
    return {number / each(), first, std::min(at_once, samples - first), number};
  }
};

/// work(tiles, stretch) for all of them; every thread has the tiles that make() gives.
template <class Make, class Work>
void for_stretches(const SampleCut& cut, const Device& device, const Make& make, const Work& work) {
  batch::for_blocks(solve_threads(device), {cut.stretches(), 1}, make,
                    [&](auto& tiles, std::int64_t k, std::int64_t) { work(tiles, cut.stretch(k)); });
}

}  // namespace garra::grasp
