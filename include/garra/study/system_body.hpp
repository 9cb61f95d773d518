// A sample of a user-defined system: draws, then the system. Host and device (study/system.hpp).
#pragma once

#include <cstdint>

#include "garra/batch/tiles.hpp"
#include "garra/core/mat.hpp"
#include "garra/core/philox.hpp"
#include "garra/study/distribution.hpp"

namespace garra::study {

/// The answer of a system to one sample. Members are S.
template <class S, int Outputs>
struct SystemAnswer {
  S event;  ///< 1: it happened, 0: it did not; NaN: not decided
  Vec<S, Outputs> output;
};

/// The stored numbers of a sample. Members are S.
template <class S, int Inputs, int Outputs>
struct SystemRow {
  SystemAnswer<S, Outputs> answer;
  Vec<S, Inputs> u;  ///< the uniform numbers of its inputs
};

template <int Inputs>
struct SystemDraws {
  std::uint64_t seed = 1;
  Distribution distribution[Inputs];
};

/// The body that draws and computes sample first + i.
template <class System>
struct SystemKernel {
  System system;
  SystemDraws<System::kInputs> draws;
  std::int64_t first;
  double* rows;  ///< tiles of SystemRow

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    constexpr int kInputs = System::kInputs;
    const auto index = SampleIndex<S>::consecutive(static_cast<std::uint64_t>(first + i));
    SystemRow<S, kInputs, System::kOutputs> row;
    Vec<S, kInputs> x;
    for (int k = 0; k < kInputs; k += 2) {
      S u[2];
      uniform_pair<S>(draws.seed, index, static_cast<std::uint32_t>(k / 2), u[0], u[1]);
      for (int j = k; j < kInputs && j < k + 2; ++j) {
        row.u[j] = u[j - k];
        x[j] = quantile(draws.distribution[j], row.u[j]);
      }
    }
    row.answer = system(x);
    batch::store<S>(rows, i, row);
  }
};

}  // namespace garra::study
