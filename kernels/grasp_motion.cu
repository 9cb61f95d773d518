// Trajectories of grasps on the GPU: state stays there, measures and looks leave it at the end of a block.
#include "grasp_motion.cuh"

#include <algorithm>
#include <memory>

namespace garra::grasp {

namespace {

/// Doubles of a sample on the device, looks included.
template <int N>
std::uint64_t doubles_per_sample(const MotionModel& model) {
  std::uint64_t sum = 0;
  cut_tiles<N>(model, nullptr, batch::kTile, false, [&](int fields) {
    sum += static_cast<std::uint64_t>(fields);
    return static_cast<double*>(nullptr);
  });
  return sum + static_cast<std::uint64_t>(MotionSizes<N>::look) * model.look_steps().size() + 1;
}

template <int N>
void run_block(const MotionModel& model, std::int64_t first, std::int64_t at, std::int64_t count, Motions& out) {
  const std::int64_t padded = batch::tiles_for(count) * batch::kTile;
  std::vector<std::uint64_t> draw(static_cast<std::size_t>(padded));
  std::vector<double> friction(static_cast<std::size_t>(padded));
  model.assign(first + at, count, draw.data(), friction.data());
  cuda::Buffer<MotionRules> rules(1);
  rules.upload(&model.rules);
  cuda::Buffer<std::uint64_t> draws(padded);
  draws.upload(draw.data());
  std::vector<std::unique_ptr<cuda::Buffer<double>>> memory;
  const MotionTiles tiles = cut_tiles<N>(model, draws.data(), padded, false, [&](int fields) {
    memory.push_back(std::make_unique<cuda::Buffer<double>>(fields * padded));
    return memory.back()->data();
  });
  cuda::check(cudaMemcpy(tiles.levels, friction.data(), static_cast<std::size_t>(padded) * sizeof(double),
                         cudaMemcpyHostToDevice), "copying to the GPU");
  const auto look_doubles = static_cast<std::int64_t>(model.look_steps().size()) * padded * MotionSizes<N>::look;
  cuda::Buffer<double> looks(look_doubles);
  run_steps<N>(DeviceBackend{rules.data()}, model, tiles, looks.data(), count, [](const StepNow&) {});
  std::vector<double> seen(static_cast<std::size_t>(look_doubles));
  looks.download(seen.data());
  batch::Tiles<MotionMeasures<double, N>> measures(padded);
  std::vector<double> uniforms(static_cast<std::size_t>(padded * std::max(1, model.rules.grasp.draws)));
  const auto fetch = [](double* to, const double* from, std::int64_t doubles) {
    cuda::check(cudaMemcpy(to, from, static_cast<std::size_t>(doubles) * sizeof(double), cudaMemcpyDeviceToHost),
                "copying from the GPU");
  };
  fetch(measures.data(), tiles.measures, measures.doubles());
  fetch(uniforms.data(), tiles.parts.uniforms, static_cast<std::int64_t>(uniforms.size()));
  MotionTiles host{};
  host.padded = padded;
  host.measures = measures.data();
  host.parts.uniforms = uniforms.data();
  take_over<N>(model, host, seen.data(), at, count, out);
}

template <int N>
void run_all(const MotionModel& model, std::int64_t first, std::int64_t count, const Device& device, Motions& out) {
  const std::int64_t fit = how_many_fit(device, sizeof(double) * doubles_per_sample<N>(model));
  for (std::int64_t at = 0; at < count; at += fit) run_block<N>(model, first, at, std::min(fit, count - at), out);
}

}  // namespace

void cuda_motion(const MotionModel& model, std::int64_t first, std::int64_t count, const Device& device, Motions& out) {
  cuda::check(cudaSetDevice(device.index), "choosing the device");
  contact::for_contacts(model.rules.grasp.contacts,
                        [&](auto contacts) { run_all<contacts>(model, first, count, device, out); });
}

}  // namespace garra::grasp
