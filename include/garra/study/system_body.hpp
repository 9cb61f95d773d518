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
  S event;  ///< 1: it happened; 0, -1, ...: it did not (SystemWords::failures); NaN: not decided
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

/// Draws the inputs of a sample: their uniform numbers and their values.
template <class S>
GARRA_HD void draw_inputs(std::uint64_t seed, const SampleIndex<S>& index, const Distribution* distribution, int inputs,
                          S* u, S* x) {
  for (int k = 0; k < inputs; k += 2) {
    S pair[2];
    uniform_pair<S>(seed, index, static_cast<std::uint32_t>(k / 2), pair[0], pair[1]);
    for (int j = k; j < inputs && j < k + 2; ++j) {
      u[j] = pair[j - k];
      x[j] = quantile(distribution[j], u[j]);
    }
  }
}

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
    draw_inputs(draws.seed, index, draws.distribution, kInputs, &row.u[0], &x[0]);
    row.answer = system(x);
    batch::store<S>(rows, i, row);
  }
};

}  // namespace garra::study
