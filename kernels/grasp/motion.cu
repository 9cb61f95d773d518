// Trajectories of grasps on the GPU: state stays there, measures and looks leave it at the end of a block.
#include <algorithm>

#include "garra/batch/staging.cuh"
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

/// Looks on the device, slot after slot.
struct Looks {
  const double* data;
  std::int64_t doubles;  ///< of a slot
};
/// Kernels have run. Threads take over a slot while the next one is on its way.
void fetch_looks(const std::vector<std::size_t>& slots, const Looks& looks, std::int64_t at, std::int64_t count,
                 int threads, Motions& out) {
  const std::size_t bytes = static_cast<std::size_t>(looks.doubles) * sizeof(double);
  const cuda::Pinned pieces[2] = {cuda::Pinned(bytes), cuda::Pinned(bytes)};
  const cuda::Stream stream;
  const auto fetch_slot = [&](std::size_t slot) {
    cuda::check(cudaMemcpyAsync(pieces[slot % 2].data(), looks.data + static_cast<std::int64_t>(slot) * looks.doubles,
                                bytes, cudaMemcpyDeviceToHost, stream.get()),
                "copying from the GPU");
  };
  fetch_slot(0);
  for (std::size_t slot = 0; slot <= slots.back(); ++slot) {
    stream.wait();
    if (slot < slots.back()) fetch_slot(slot + 1);
    take_looks(slots, slot, reinterpret_cast<const double*>(pieces[slot % 2].data()), at, count, threads, out);
  }
}

template <int N>
void run_block(const MotionModel& model, std::int64_t first, std::int64_t at, std::int64_t count, int threads,
               Motions& out) {
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
  const std::vector<std::size_t> slots = model.slots_of_instants();
  const std::int64_t look_size = padded * MotionSizes<N>::look;
  cuda::Buffer<double> looks(static_cast<std::int64_t>(slots.back() + 1) * look_size);
  run_steps<N>(DeviceBackend{rules.data()}, model, tiles, looks.data(), count, [](const StepNow&) {});
  // Sized by `padded`, as the tiles on the device are, so that one copy takes them over.
  batch::Tiles<MotionMeasures<double, N>> measures(padded);
  std::vector<double> uniforms(static_cast<std::size_t>(padded * std::max(1, model.rules.grasp.draws)));
  fetch(measures.data(), tiles.measures, measures.doubles());
  fetch(uniforms.data(), tiles.parts.uniforms, static_cast<std::int64_t>(uniforms.size()));
  // Of the tiles only these are read; everything else of them stays on the device.
  MotionTiles host{};
  host.padded = padded;
  host.measures = measures.data();
  host.parts.uniforms = uniforms.data();
  take_measures(model, host, at, count, threads, out);
  fetch_looks(slots, {looks.data(), look_size}, at, count, threads, out);
}

template <int N>
void run_all(const DeviceMotions& job, const Device& device) {
  const std::int64_t fit = how_many_fit(device, sizeof(double) * doubles_per_sample<N>(job.model));
  for (std::int64_t at = 0; at < job.count; at += fit)
    run_block<N>(job.model, job.first, at, std::min(fit, job.count - at), study_threads(device), job.out);
}

}  // namespace

void run_kernels(const Device& device, const DeviceMotions& job) {
  contact::for_contacts<kMaxContacts>(job.model.rules.grasp.contacts,
                                      [&](auto contacts) { run_all<contacts>(job, device); });
}

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::DeviceMotions>;
