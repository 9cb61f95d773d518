// The host's bodies on the states of one chain on the GPU. Sizes are files of their own, so that they compile side by
// side.
#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <vector>

#include "chain/eval/cuda.hpp"
#include "garra/batch/rows.cuh"

namespace garra::chain {

/// Status of each state, after all other bodies.
struct JudgeBody {
  struct Input {
    double* tile;
    int fields;
  };
  Input in[kStateColumns + 1];  ///< as the columns, all parameters in one; null: not needed
  const double* singular;       ///< null: accelerations are not wanted
  double* status;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    S invalid = S(0);  // 0 * x is NaN where x is not finite
    for (const Input& input : in) {
      if (input.tile == nullptr) continue;
      const double* fields = input.tile + i / batch::kTile * input.fields * batch::kTile + i % batch::kTile;
      for (int f = 0; f < input.fields; ++f) invalid += S(0) * fields[f * batch::kTile];
    }
    Status found = Status::kConverged;
    if (singular != nullptr && singular[i] > 0) found = Status::kNoSolution;
    if (invalid != S(0)) found = Status::kInvalidInput;
    status[i] = static_cast<int>(found);
  }
};

/// Thread i takes one number of an output, out of the padding, NaN where the state is invalid.
struct OutputBody {
  static constexpr int kAxes = 3;
  batch::DeviceColumn to;
  batch::RowRange rows;
  const double *tiles, *status;
  int real[kAxes], padded[kAxes];  ///< shape of the output

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    const batch::TileField at(i, to.width);
    const std::int64_t state = at.tile * batch::kTile + at.lane;
    if (state >= rows.count) return;
    int from = 0, stride = 1;
    for (int axis = kAxes - 1, rest = at.field; axis >= 0; --axis) {
      from += rest % real[axis] * stride;
      rest /= real[axis];
      stride *= padded[axis];
    }
    double x = tiles[(at.tile * stride + from) * batch::kTile + at.lane];
    if (status[state] == static_cast<int>(Status::kInvalidInput)) x = std::numeric_limits<double>::quiet_NaN();
    static_cast<double*>(to.data)[(rows.first + state) * to.row + at.field * to.number] = with_one_nan(x);
  }
};

/// Tiles of at most `most` states between a chain's columns and the bodies.
class DeviceTiles {
 public:
  DeviceTiles(const DeviceChain& chain, int J, std::int64_t most)
      : chain_(chain), J_(J), states_(batch::tiles_for(most) * batch::kTile) {
    const int parameters = static_cast<int>(chain.columns.size());
    // In the order of the columns.
    tiles_.q = input(0, J);
    tiles_.qd = input(1, J);
    tiles_.qdd = input(2, J);
    tiles_.tau = input(3, J);
    tiles_.wrench = input(4, 6);
    if (parameters > 0) tiles_.parameters = judge_.in[kStateColumns].tile = take(parameters);
    judge_.in[kStateColumns].fields = parameters;
    // Sines and cosines are taken once per state and kept for every output.
    tiles_.angles = take(3 * J);
    tiles_.singular = take(1);
    judge_.status = take(1);
    for (int i = 0; i < kOutputCount; ++i)
      if (column_of(i).data != nullptr) tiles_.out[i] = take(size_of(static_cast<Output>(i), J));
    if (tiles_.at(Output::kForwardDynamics) != nullptr) judge_.singular = tiles_.singular;
  }
  [[nodiscard]] const EvalTiles& tiles() const { return tiles_; }

  void gather(const batch::RowRange& rows) const {
    const std::vector<batch::DeviceColumn>& in = chain_.rows.in;
    for (std::size_t k = 0; k < kStateColumns; ++k)  // what is beyond the joints is 0
      if (const auto& [tile, fields] = judge_.in[k]; tile != nullptr)
        batch::gather({in[k], {nullptr, fields - in[k].width}}, rows, {tile, fields});
    const int parameters = judge_.in[kStateColumns].fields;
    for (int c = 0; c < parameters; ++c)
      batch::gather({in[kStateColumns + static_cast<std::size_t>(c)]}, rows,
                    {judge_.in[kStateColumns].tile + c * batch::kTile, parameters});
  }

  void scatter(const batch::RowRange& rows) const {
    cuda::for_each(rows.count, judge_);
    batch::scatter({judge_.status, 1}, rows, {chain_.rows.out.back()});
    for (int i = 0; i < kOutputCount; ++i) {
      if (tiles_.out[i] == nullptr) continue;
      OutputBody body{column_of(i), rows, tiles_.out[i], judge_.status, {1, 1, 1}, {1, 1, 1}};
      const auto real = shape_of(static_cast<Output>(i), chain_.robot.joints);
      const auto padded = shape_of(static_cast<Output>(i), J_);
      std::ranges::copy(real, body.real + OutputBody::kAxes - real.size());
      std::ranges::copy(padded, body.padded + OutputBody::kAxes - padded.size());
      cuda::for_each(batch::tiles_for(rows.count) * batch::kTile * body.to.width, body);
    }
  }

 private:
  [[nodiscard]] const batch::DeviceColumn& column_of(int output) const {
    return chain_.rows.out[static_cast<std::size_t>(output)];
  }
  double* take(std::int64_t fields) { return buffers_.emplace_back(states_ * fields).data(); }
  const double* input(std::size_t k, int fields) {
    if (chain_.rows.in[k].data == nullptr) return nullptr;
    judge_.in[k] = {take(fields), fields};
    return judge_.in[k].tile;
  }

  const DeviceChain& chain_;
  int J_;
  std::int64_t states_;
  std::deque<cuda::Buffer<double>> buffers_;
  JudgeBody judge_{};
  EvalTiles tiles_{};
};

template <class Source>
void evaluate_as(const Source& source, const DeviceChain& chain) {
  const Source pointed = moved_to(chain.options.point, source);
  const std::int64_t most = std::min(batch::kDeviceChunk, chain.rows.count);
  const DeviceTiles device(chain, Source::J, most);
  const EvalBody<Source> at_tool{source, device.tiles(), chain.options},
      at_point{pointed, device.tiles(), chain.options};
  for (std::int64_t first = 0; first < chain.rows.count; first += most) {
    const batch::RowRange rows{first, std::min(most, chain.rows.count - first)};
    device.gather(rows);
    for_each_body(at_tool, at_point, [&](const auto& body) { cuda::for_each(rows.count, body); });
    device.scatter(rows);
  }
}

/// A chain whose links differ from state to state: they go through memory.
template <int J>
void evaluate_varying(const DeviceChain& chain) {
  auto source = source_of<VaryingModel<J>>(chain.robot);
  cuda::Buffer<Column> columns(static_cast<std::int64_t>(chain.columns.size()));
  columns.upload(chain.columns.data());
  source.columns = columns.data();
  source.count = static_cast<int>(chain.columns.size());
  evaluate_as(source, chain);
}

template <int J>
void evaluate_padded(const DeviceChain& chain) {
  if (chain.columns.empty())
    evaluate_as(source_of<SharedModel<J, Joints::kMixed, true>>(chain.robot), chain);
  else
    evaluate_varying<J>(chain);
}

}  // namespace garra::chain
