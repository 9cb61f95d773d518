// Trajectories of grasps on the GPU: state stays there, measures and looks leave it at the end of a block.
#include <algorithm>

#include "grasp/motion.cuh"

namespace garra::grasp {

namespace {

/// Doubles of a sample on the device, looks included.
template <int N>
std::uint64_t doubles_per_sample(const MotionModel& model) {
  const std::uint64_t tiles = doubles_of([&](auto take) { cut_tiles<N>(model, nullptr, batch::kTile, false, take); });
  // One more for the sample's number among the draws.
  return tiles + static_cast<std::uint64_t>(MotionSizes<N>::look) * model.look_steps().size() + 1;
}

template <int N>
void run_block(const MotionModel& model, std::int64_t first, std::int64_t at, std::int64_t count, Motions& out) {
  const std::int64_t padded = batch::tiles_for(count) * batch::kTile;
  std::vector<std::uint64_t> draw(static_cast<std::size_t>(padded));
  std::vector<double> friction(static_cast<std::size_t>(padded));
  // First + at: assign() takes global sample numbers, since levels take turns over all of them.
  model.assign(first + at, count, draw.data(), friction.data());
  cuda::Buffer<MotionRules> rules(1);
  rules.upload(&model.rules);
  cuda::Buffer<std::uint64_t> draws(padded);
  draws.upload(draw.data());
  DeviceMemory memory(padded);
  const MotionTiles tiles =
      cut_tiles<N>(model, draws.data(), padded, false, [&](int fields) { return memory.take(fields); });
  send(tiles.levels, friction.data(), padded);
  const auto look_doubles = static_cast<std::int64_t>(model.look_steps().size()) * padded * MotionSizes<N>::look;
  cuda::Buffer<double> looks(look_doubles);
  run_steps<N>(DeviceBackend{rules.data()}, model, tiles, looks.data(), count, [](const StepNow&) {});
  std::vector<double> seen(static_cast<std::size_t>(look_doubles));
  looks.download(seen.data());
  // Sized by `padded`, as the tiles on the device are, so that one copy takes them over.
  batch::Tiles<MotionMeasures<double, N>> measures(padded);
  std::vector<double> uniforms(static_cast<std::size_t>(padded * std::max(1, model.rules.grasp.draws)));
  fetch(measures.data(), tiles.measures, measures.doubles());
  fetch(uniforms.data(), tiles.parts.uniforms, static_cast<std::int64_t>(uniforms.size()));
  // take_over() reads measures, uniforms and looks only; everything else of the tiles stays on the device.
  MotionTiles host{};
  host.padded = padded;
  host.measures = measures.data();
  host.parts.uniforms = uniforms.data();
  take_over<N>(model, host, seen.data(), at, count, out);
}

template <int N>
void run_all(const DeviceMotions& job, const Device& device) {
  const std::int64_t fit = how_many_fit(device, sizeof(double) * doubles_per_sample<N>(job.model));
  for (std::int64_t at = 0; at < job.count; at += fit)
    run_block<N>(job.model, job.first, at, std::min(fit, job.count - at), job.out);
}

}  // namespace

void run_kernels(const Device& device, const DeviceMotions& job) {
  contact::for_contacts<kMaxContacts>(job.model.rules.grasp.contacts,
                                      [&](auto contacts) { run_all<contacts>(job, device); });
}

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::DeviceMotions>;
