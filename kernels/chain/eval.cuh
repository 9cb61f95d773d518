// The host's bodies on the states of one chain on the GPU. Sizes are files of their own, so that they compile side by
// side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "chain/eval/evaluate_cuda.hpp"
#include "garra/batch/rows.cuh"

namespace garra::chain {

/// Where the GPU has the numbers of a batch: the caller's rows, which lie side by side for the threads of a warp, and
/// so in the cache from the first number on. A state with a number that is not finite has NaN in all outputs.
template <class Source>
struct EvalRows {
  static constexpr bool kKeepsAngles = false;  ///< to take them again costs less than to read and write them
  static constexpr int J = Source::J;
  struct Place {
    double* data;
    std::int64_t row, number;
    int width;
    [[nodiscard]] GARRA_HD double* at(std::int64_t state) const { return data + state * row; }
  };
  Place in[kStateInputs], out[kOutputCount];
  batch::DeviceColumn status;
  const double* parameters;  ///< tiles of them
  int parameter_count, joints;
  std::int64_t first;  ///< state of the batch at hand
  Output status_with;  ///< which output's body writes the status

  [[nodiscard]] GARRA_HD bool has(StateInput input) const { return in[static_cast<int>(input)].data != nullptr; }
  [[nodiscard]] GARRA_HD bool wants(Output output) const { return out[static_cast<int>(output)].data != nullptr; }
  /// What is beyond the chain's own joints is 0.
  template <class S, class T>
  GARRA_HD T load(StateInput input, std::int64_t i) const {
    T t;
    S* fields = reinterpret_cast<S*>(&t);
    const Place& from = in[static_cast<int>(input)];
    const double* row = from.at(first + i);
    for (int f = 0; f < batch::kFields<S, T>; ++f)
      fields[f] = !Source::kAnySize || f < from.width ? row[f * from.number] : 0;
    return t;
  }
  template <class S, class T>
  GARRA_HD void store(Output output, std::int64_t i, const T& value) const {
    const S* fields = reinterpret_cast<const S*>(&value);
    const Place& to = out[static_cast<int>(output)];
    double* row = to.at(first + i);
    const bool valid = is_valid(i);
    for (int f = 0; f < batch::kFields<S, T>; ++f) {
      const int at = Source::kAnySize ? without_padding(output, f, J, joints, to.width) : f;
      if (at >= 0) row[at * to.number] = with_one_nan(valid ? fields[f] : std::numeric_limits<double>::quiet_NaN());
    }
    if (output == status_with) put_status(i, valid ? Status::kConverged : Status::kInvalidInput);
  }
  /// After the accelerations, with which the status is.
  template <class S>
  GARRA_HD void store_singular(std::int64_t i, const S& bad) const {
    if (bad > S(0) && is_valid(i)) put_status(i, Status::kNoSolution);
  }
  GARRA_HD void put_status(std::int64_t i, Status found) const {
    if (status.data != nullptr) batch::put(status, (first + i) * status.row, static_cast<int>(found));
  }
  /// All numbers that any wanted output needs, not only those of the body at hand.
  [[nodiscard]] GARRA_HD bool is_valid(std::int64_t i) const {
    double invalid = 0;  // 0 * x is NaN where x is not finite
    // Written out: what is chosen among a kernel's parameters while it runs is copied to the stack first.
    for_each_index<kStateInputs>([&](auto k) {
      const Place& from = in[k];
      if (from.data == nullptr) return;
      const double* row = from.at(first + i);
      for (int f = 0; f < from.width; ++f) invalid += 0 * row[f * from.number];
    });
    const double* tile = parameters + i / batch::kTile * parameter_count * batch::kTile + i % batch::kTile;
    for (int c = 0; c < parameter_count; ++c) invalid += 0 * tile[c * batch::kTile];
    return invalid == 0;
  }
};

/// Where no output is wanted.
template <class At>
struct StatusKernel {
  At place;
  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    place.put_status(i, place.is_valid(i) ? Status::kConverged : Status::kInvalidInput);
  }
};

template <class Source>
EvalRows<Source> make_rows(const DeviceChain& chain, const double* parameters) {
  using Rows = EvalRows<Source>;
  const auto place = [](const batch::DeviceColumn& c) {
    return typename Rows::Place{static_cast<double*>(c.data), c.row, c.number, c.width};
  };
  Rows rows{};
  for (std::size_t k = 0; k < kStateInputs; ++k) rows.in[k] = place(chain.rows.in[k]);
  for (std::size_t k = 0; k < kOutputCount; ++k) rows.out[k] = place(chain.rows.out[k]);
  rows.status = chain.rows.out.back();
  rows.parameters = parameters;
  rows.parameter_count = static_cast<int>(chain.columns.size());
  rows.joints = chain.robot.joints;
  // With the accelerations, where they are wanted: only they may find more than what is invalid.
  rows.status_with = Output::kForwardDynamics;
  for (int k = 0; k < kOutputCount && !rows.wants(rows.status_with); ++k) rows.status_with = static_cast<Output>(k);
  return rows;
}

/// Parameters of some states, from their columns.
inline void gather_parameters(const DeviceChain& chain, const batch::RowRange& rows, double* to) {
  const auto count = static_cast<int>(chain.columns.size());
  for (int c = 0; c < count; ++c)
    batch::gather({chain.rows.in[static_cast<std::size_t>(kStateInputs + c)]}, rows, {to + c * batch::kTile, count});
}

template <class Source>
void evaluate_as(const Source& source, const DeviceChain& chain) {
  const Source pointed = moved_to(chain.options.point, source);
  const std::int64_t most = std::min(batch::kDeviceChunk, chain.rows.count);
  const cuda::Buffer<double> parameters(batch::tiles_for(most) * batch::kTile *
                                        static_cast<std::int64_t>(chain.columns.size()));
  EvalRows<Source> place = make_rows<Source>(chain, parameters.data());
  for (place.first = 0; place.first < chain.rows.count; place.first += most) {
    const batch::RowRange rows{place.first, std::min(most, chain.rows.count - place.first)};
    gather_parameters(chain, rows, parameters.data());
    if (!place.wants(place.status_with)) cuda::for_each(rows.count, StatusKernel<EvalRows<Source>>{place});
    for_each_body(EvalKernel<Source, EvalRows<Source>>{source, place, chain.options},
                  EvalKernel<Source, EvalRows<Source>>{pointed, place, chain.options},
                  [&](const auto& body) { cuda::for_each(rows.count, body); });
  }
}

/// A chain whose links differ from state to state: they go through memory.
template <int J>
void evaluate_varying(const DeviceChain& chain) {
  auto source = make_source<VaryingModel<J>>(chain.robot);
  cuda::Buffer<Column> columns(static_cast<std::int64_t>(chain.columns.size()));
  columns.upload(chain.columns.data());
  source.columns = columns.data();
  source.count = static_cast<int>(chain.columns.size());
  evaluate_as(source, chain);
}

template <int J>
void evaluate_padded(const DeviceChain& chain) {
  if (chain.columns.empty())
    evaluate_as(make_source<SharedModel<J, Joints::kMixed, true>>(chain.robot), chain);
  else
    evaluate_varying<J>(chain);
}

}  // namespace garra::chain
