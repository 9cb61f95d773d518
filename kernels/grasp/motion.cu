// Trajectories of grasps on the GPU: the state stays on the device, measures are copied at the end
// of a block. Looks (outputs at chosen times) are copied, too, unless a study counts them on the
// device.
#include <algorithm>
#include <optional>

#include "garra/batch/staging.cuh"
#include "garra/study/counter.cuh"
#include "grasp/motion.cuh"

namespace garra::grasp {

namespace {

/// Doubles of a sample on the device, looks included.
template <int N>
std::uint64_t doubles_per_sample(const DeviceMotions& job) {
  const std::uint64_t tiles =
      count_doubles([&](auto take) { cut_tiles<N>(job.model, nullptr, batch::kTile, false, take); });
  const std::uint64_t slots = job.bands != nullptr ? 1 : job.model.look_steps().size();
  // One more for the sample's number among the draws.
  return tiles + static_cast<std::uint64_t>(MotionSizes<N>::look()) * slots + 1;
}

using counter_cuda::kCopies, counter_cuda::Small, counter_cuda::Word;

/// Counts of bands on the device, in copies that are added at the end.
struct CountedBands {
  explicit CountedBands(const BandCounts& bands)
      : levels(std::ssize(bands.level)),
        size(std::ssize(bands.counts)),
        level(levels),
        copies(kCopies * size),
        counts(size) {
    level.upload(bands.level.data());
    copies.clear();
    counts.clear();
  }
  /// Memory of the counts on the device [bytes].
  [[nodiscard]] static std::uint64_t count_bytes(const BandCounts* bands) {
    return bands == nullptr ? 0 : bands->counts.size() * (kCopies * sizeof(Small) + sizeof(Word));
  }
  void add_to(BandCounts& bands) const {
    const int all = static_cast<int>(size);
    cuda::for_each(size, counter_cuda::MergeKernel{copies.data(), counts.data(), all});
    std::vector<Word> found;
    counts.append_to(found, size);
    std::ranges::transform(found, bands.counts, bands.counts.begin(),
                           [](Word more, std::int64_t before) { return before + static_cast<std::int64_t>(more); });
  }

  std::int64_t levels, size;
  cuda::Buffer<TimeBands> level;
  cuda::Buffer<Small> copies;
  cuda::Buffer<Word> counts;
};

/// Counts the look of sample i at an instant of the bands.
template <int N>
struct CountLookKernel {
  const TimeBands* level;
  std::int64_t levels, first;  ///< number of the first sample
  int instant;
  const double* looks;
  Small* copies;
  std::int64_t size;  ///< of a copy

  template <class S>
  __device__ void operator()(std::int64_t i) const {
    const auto x = batch::load<S, MotionLook<S, N>>(looks, i);
    Small* const counts = copies + i / cuda::kThreads % kCopies * size;
    level[(first + i) % levels].count_look(instant, x.look, x.force.m, N,
                                           [&](int place) { atomicAdd(counts + place, Small{1}); });
  }
};

/// Looks that are counted as soon as they are taken: one slot serves all.
template <int N>
struct CountingLooks {
  const CountedBands& to;
  const std::vector<int>& instants;
  const std::vector<std::size_t>& slots;
  double* data;
  std::int64_t first, count;

  [[nodiscard]] double* slot(std::size_t) const { return data; }
  void taken(std::size_t slot) const {
    for (std::size_t k = 0; k < instants.size(); ++k)
      if (slots[static_cast<std::size_t>(instants[k])] == slot)
        cuda::for_each(count, CountLookKernel<N>{to.level.data(), to.levels, first, static_cast<int>(k), data,
                                                 to.copies.data(), to.size});
  }
};

/// Looks on the device, slot after slot.
struct Looks {
  const double* data;
  std::int64_t doubles;  ///< of a slot
};
/// Copies looks after the kernels. Threads convert one slot while the next is being copied.
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
void run_block(const Device& device, const DeviceMotions& job, std::int64_t at, std::int64_t count,
               const CountedBands* bands) {
  const MotionModel& model = job.model;
  const std::int64_t padded = batch::tiles_for(count) * batch::kTile;
  std::vector<std::uint64_t> draw(static_cast<std::size_t>(padded));
  std::vector<double> friction(static_cast<std::size_t>(padded));
  // First + at: assign() takes global sample numbers, since levels alternate over all of them.
  model.assign(job.first + at, count, draw.data(), friction.data());
  cuda::Buffer<MotionRules> rules(1);
  rules.upload(&model.rules);
  cuda::Buffer<std::uint64_t> draws(padded);
  draws.upload(draw.data());
  DeviceMemory memory(padded);
  const MotionTiles tiles =
      cut_tiles<N>(model, draws.data(), padded, false, [&](int fields) { return memory.take(fields); });
  send(tiles.levels, friction.data(), padded);
  const std::vector<std::size_t> slots = model.slots_of_instants();
  const std::int64_t look_size = padded * MotionSizes<N>::look();
  const cuda::Buffer<double> looks(bands != nullptr ? look_size
                                                    : static_cast<std::int64_t>(slots.back() + 1) * look_size);
  const auto run = [&](const auto& where) {
    run_steps<N>(DeviceBackend{rules.data(), device, model.solver}, model, tiles, where, count, [](const StepNow&) {});
  };
  if (bands != nullptr)
    run(CountingLooks<N>{*bands, job.bands->instants, slots, looks.data(), job.first + at, count});
  else
    run(AllLooks{looks.data(), look_size});
  // Sized by `padded`, as the tiles on the device, so that one copy suffices.
  batch::Tiles<MotionMeasures<double, N>> measures(padded);
  std::vector<double> uniforms(static_cast<std::size_t>(padded * std::max(1, model.rules.grasp.draws)));
  fetch(measures.data(), tiles.measures, measures.doubles());
  fetch(uniforms.data(), tiles.parts.uniforms, static_cast<std::int64_t>(uniforms.size()));
  // Only these tiles are copied; all others stay on the device.
  MotionTiles host{};
  host.padded = padded;
  host.measures = measures.data();
  host.parts.uniforms = uniforms.data();
  take_measures(model, host, at, count, study_threads(device), job.out);
  if (bands == nullptr) fetch_looks(slots, {looks.data(), look_size}, at, count, study_threads(device), job.out);
}

template <int N>
void run_all(const DeviceMotions& job, const Device& device) {
  const std::int64_t fit =
      cuda::how_many_fit(device, {sizeof(double) * doubles_per_sample<N>(job), CountedBands::count_bytes(job.bands)});
  std::optional<CountedBands> bands;
  if (job.bands != nullptr) bands.emplace(*job.bands);
  for (std::int64_t at = 0; at < job.count; at += fit)
    run_block<N>(device, job, at, std::min(fit, job.count - at), bands ? &*bands : nullptr);
  if (bands) bands->add_to(*job.bands);
}

}  // namespace

void run_kernels(const Device& device, const DeviceMotions& job) {
  contact::for_contacts<kMaxContacts>(job.model.rules.grasp.contacts,
                                      [&](auto contacts) { run_all<contacts>(job, device); });
}

}  // namespace garra::grasp

template struct garra::batch::Kernels<garra::grasp::DeviceMotions>;
