// The host's bodies on the states of one chain on the GPU. Sizes are files of their own, so that they compile side by
// side.
#pragma once

#include <memory>
#include <vector>

#include "chain/eval/cuda.hpp"
#include "garra/batch/on_device.cuh"

namespace garra::chain {

using Numbers = cuda::Buffer<double>;

/// The host's tiles again on the device.
class DeviceTiles {
 public:
  DeviceTiles(const EvalTiles& host, int J, std::int64_t parameters, std::int64_t count)
      : states_(batch::tiles_for(count) * batch::kTile) {
    tiles_.q = input(host.q, J);
    tiles_.qd = input(host.qd, J);
    tiles_.qdd = input(host.qdd, J);
    tiles_.tau = input(host.tau, J);
    tiles_.wrench = input(host.wrench, 6);
    tiles_.parameters = input(host.parameters, parameters);
    // Sines and cosines are taken once per state and kept for every output.
    tiles_.angles = take(3 * J);
    tiles_.singular = take(1);
    for (int i = 0; i < kOutputCount; ++i)
      if (host.out[i] != nullptr) tiles_.out[i] = output(host.out[i], size_of(static_cast<Output>(i), J));
    // Which H are singular goes back only with the accelerations that it concerns.
    if (host.at(Output::kForwardDynamics) != nullptr) outputs_.push_back({&buffer_of(tiles_.singular), host.singular});
  }
  [[nodiscard]] const EvalTiles& tiles() const { return tiles_; }
  void download() const {
    for (const auto& [from, to] : outputs_) from->download(to);
  }

 private:
  double* take(std::int64_t fields) {
    buffers_.push_back(std::make_unique<Numbers>(states_ * fields));
    return buffers_.back()->data();
  }
  // Linear: there are a dozen buffers at most.
  Numbers& buffer_of(const double* data) {
    for (auto& b : buffers_)
      if (b->data() == data) return *b;
    throw Error(ExitCode::kInternal, "CUDA: an array that is not there");
  }
  const double* input(const double* host, std::int64_t fields) {
    if (host == nullptr) return nullptr;
    double* data = take(fields);
    buffers_.back()->upload(host);
    return data;
  }
  double* output(double* host, std::int64_t fields) {
    double* data = take(fields);
    outputs_.push_back({buffers_.back().get(), host});
    return data;
  }

  struct Download {
    const Numbers* from;
    double* to;
  };
  std::int64_t states_;
  std::vector<std::unique_ptr<Numbers>> buffers_;
  std::vector<Download> outputs_;
  EvalTiles tiles_{};
};

template <class Source>
void evaluate_as(const Source& source, const DeviceChain& chain) {
  const auto columns = static_cast<std::int64_t>(chain.columns.size());
  const std::int64_t count = chain.count;
  const DeviceTiles device(chain.host, Source::J, columns, count);
  const Source pointed = moved_to(chain.options.point, source);
  const EvalBody<Source> at_tool{source, device.tiles(), chain.options},
      at_point{pointed, device.tiles(), chain.options};
  for_each_body(at_tool, at_point, [&](const auto& body) { cuda::for_each(count, body); });
  device.download();
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
