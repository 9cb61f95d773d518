// Maps of singularities on the GPU: sample, measure and count; gather the near ones; search, analyze and count again.
// Only counts, smallest values, the worst samples and kept rows come back.
#pragma once

#include <algorithm>
#include <vector>

#include "garra/batch/on_device.cuh"
#include "garra/batch/rows.cuh"
#include "garra/batch/select.hpp"
#include "garra/study/counter.cuh"
#include "singularity/map/map_cuda.hpp"
#include "singularity/map/rows.hpp"

namespace garra::singularity {

namespace map_cuda {

using counter_cuda::Word;
using Numbers = cuda::Buffer<double>;

using counter_cuda::kCopies, counter_cuda::Small;

inline constexpr std::int64_t kBatch = std::int64_t{1} << 20;       ///< samples in flight
inline constexpr std::int64_t kFirstBatch = std::int64_t{1} << 12;  ///< of a run
inline constexpr std::int64_t kSearches = std::int64_t{1} << 18;    ///< in flight, of rows

/// Bits of x in an order in which unsigned integers rise with x; and back.
__host__ __device__ inline Word ordered(double x) {
  const Word b = to_bits(x);
  return (b >> 63) != 0 ? ~b : b | Word{1} << 63;
}
inline double from_ordered(Word b) { return from_bits<double>((b >> 63) != 0 ? b & ~(Word{1} << 63) : ~b); }

/// A body whose arm is among the kernel's parameters, which threads read as constants.
template <class AnArm, class Body>
struct HoldingArm {
  AnArm arm;
  Body body;
  template <class S>
  __device__ void operator()(std::int64_t i) const {
    Body with = body;
    with.arm = &arm;
    with.template operator()<double>(i);
  }
};
/// body(i) for i = 0 .. count - 1, with an arm of the host in place of the body's.
template <class AnArm, class Body>
void for_each(std::int64_t count, const AnArm& arm, const Body& body) {
  cuda::for_each(count, HoldingArm<AnArm, Body>{arm, body});
}

/// Where counts lie on the device: those of voxels by themselves, for they are many, and two threads seldom count the
/// same; all others in copies.
struct Counts {
  int voxel, voxels;  ///< the first of the voxels' counts in the layout, how many there are
  int size;           ///< all others

  explicit Counts(const MapLayout& l)
      : voxel(l.voxel), voxels(l.voxels.size() * VoxelGrid::kCounts), size(l.with_buckets() - voxels) {}
};

/// Adds to the device's counts and smallest values, by any number of threads.
struct DeviceAdder {
  Counts where;
  Small* copies;   ///< [copy][count]
  Word* voxels;    ///< [count]
  Word* smallest;  ///< ordered() bits

  /// Of thread i.
  [[nodiscard]] __device__ DeviceAdder of(std::int64_t i) const {
    return {where, copies + i / cuda::kThreads % kCopies * where.size, voxels, smallest};
  }
  // Integer additions commute: counts do not depend on the order of threads.
  __device__ void add(int i) const {
    const int behind = i - where.voxel;
    if (behind >= 0 && behind < where.voxels)
      atomicAdd(voxels + behind, Word{1});
    else
      atomicAdd(copies + (behind < 0 ? i : i - where.voxels), Small{1});
  }
  __device__ void least(int i, double x) const {
    // NaN is no measurement, but its bits would have a place in the order. What is there only falls: whoever is not
    // below what it was need not wait for the others.
    if (x == x && ordered(x) < smallest[i]) atomicMin(smallest + i, ordered(x));
  }
};

/// Marks the searches that go on.
template <int J>
struct MarkActiveKernel {
  const double* searches;
  bool* marks;
  template <class S>
  __device__ void operator()(std::int64_t i) const {
    marks[i] = batch::load<double, Search<double, J>>(searches, i).active > 0;
  }
};
/// A body's work on what a list names: its threads stand side by side.
template <class Body, class AnArm>
struct ListedKernel {
  const AnArm* arm;
  Body body;
  cuda::List list;
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    if (k >= *list.length) return;
    Body with = body;
    with.arm = arm;
    with.template operator()<double>(list.item[k]);
  }
};

/// Counts the first pass, marks near samples and those that may be among the worst.
struct CountKernel {
  const MapPlan* plan;
  const double* measured;
  DeviceAdder to;
  bool *near, *worst;
  double worst_so_far;  ///< inverse condition of the last in the host's full ranking, else infinity

  template <class S>
  __device__ void operator()(std::int64_t i) const {
    const auto m = batch::load<double, Measured<double>>(measured, i);
    const MapOutcome outcome = classify_outcome(plan->rules, m);
    count_measured(plan->layout, m, outcome, to.of(i));
    near[i] = is_near(outcome);
    // `<=`: a tie is left to the host's list.
    worst[i] = near[i] && m.inverse_condition <= worst_so_far;
  }
};

/// What is listed, side by side.
template <class Problem>
struct GatherListedKernel {
  const double* from;
  const int* item;
  double* to;
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    batch::store<double>(to, k, batch::load<double, Problem>(from, item[k]));
  }
};

/// Searches begin at the near samples themselves, or at all.
template <int J>
struct StartKernel {
  const double* q;
  const int* near;  ///< null: all
  double* searches;
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    const std::int64_t i = near == nullptr ? k : near[k];
    batch::store<double>(searches, k, start_search<double, J>(batch::load<double, Vec<double, J>>(q, i)));
  }
};

/// Further searches, see MapArmOf::look_elsewhere_in_block(); those that are not worth their time do not start.
template <int J, int G, bool Around>
struct LookElsewhereWhereWorthKernel {
  const Arm<J>* arm;
  Look look;
  RefineOptions options;
  const double* searches;
  double* others;
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    auto s = batch::load<double, Search<double, J>>(searches, k);
    const bool worth = deserves(look, *arm, s, options);
    if (worth) s = look_elsewhere<G, Around>(look, *arm, s, options);
    // An active search goes on; `again` tells KeepNearerKernel that there is something to compare.
    if (!worth) s.active = 0;
    s.again = worth ? 1 : 0;
    batch::store<double>(others, k, s);
  }
};

/// Keeps the further search where it has come nearer.
template <int J>
struct KeepNearerKernel {
  const Arm<J>* arm;
  RefineOptions options;
  double* searches;
  const double* others;
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    auto other = batch::load<double, Search<double, J>>(others, k);
    if (other.again == 0) return;
    other.again = 0;
    if (is_nearer(*arm, batch::load<double, Search<double, J>>(searches, k), other, options))
      batch::store<double>(searches, k, other);
  }
};

/// What is searched for again, see MapArmOf::search_two().
template <int J, int G>
struct RestartKernel {
  const Arm<J>* arm;
  RefineOptions options;
  double* searches;       ///< Search, tiles
  const double* results;  ///< NearSingularity, tiles
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    auto s = batch::load<double, Search<double, J>>(searches, k);
    const bool lost = batch::load<double, NearSingularity<double, J>>(results, k).search_status ==
                      static_cast<double>(static_cast<int>(SearchStatus::kDiverged));
    s.active = 0;
    if (lost && starts_near_two<G>(*arm, s, options)) {
      s = start_search<double, J>(s.start);
      s.again = 1;
    }
    batch::store<double>(searches, k, s);
  }
};

/// AnalyzeKernel where a search has begun again, and nowhere else.
template <int J, int G>
struct AnalyzeAgainKernel {
  const Arm<J>* arm;
  RefineOptions options;
  const double* searches;
  double* results;
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    if (batch::load<double, Search<double, J>>(searches, k).again == 1)
      AnalyzeKernel<J, G>{arm, options, searches, results}.template operator()<double>(k);
  }
};

/// Counts where the searches of the near samples have come to.
template <int J>
struct CountArrivalKernel {
  const MapPlan* plan;
  std::int64_t first;  ///< number of the batch's first sample
  const int* near;     ///< index of each search's sample in the batch
  const double* results;
  DeviceAdder to;
  template <class S>
  __device__ void operator()(std::int64_t k) const {
    count_arrival(plan->layout, plan->rules, first + near[k],
                  batch::load<double, NearSingularity<double, J>>(results, k), to.of(k));
  }
};

/// A body in single precision, wherever its caller stands.
template <class Body, class AnArm>
struct InSingle {
  const AnArm* arm;
  Body body;
  template <class S>
  __device__ void operator()(std::int64_t i) const {
    Body with = body;
    with.arm = arm;
    with.template operator()<float>(i);
  }
};

/// Compares single with double precision for every kRecheckEvery-th block.
template <int J, int G>
struct RecheckKernel {
  const Arm<J>* arm;
  const MapPlan* plan;
  std::int64_t first;
  const double* q;
  const double* measured;
  DeviceAdder to;
  template <class S>
  __device__ void operator()(std::int64_t i) const {
    if ((first + i) / study::kBlock % kRecheckEvery != 0) return;
    count_recheck(plan->layout, plan->rules, batch::load<double, Measured<double>>(measured, i),
                  singularity::measured<G, Joints::kMixed>(*arm, batch::load<double, Vec<double, J>>(q, i)), to.of(i));
  }
};

/// Doubles of the tiles of `count` problems.
template <class Problem>
std::int64_t doubles(std::int64_t count) {
  return batch::tiles_for(count) * batch::kTile * batch::kFields<double, Problem>;
}

/// Room on the device for so many searches, further ones, and a list of those that go on.
template <int J>
struct SearchRoom {
  explicit SearchRoom(std::int64_t count)
      : searches(doubles<Search<double, J>>(count)),
        others(doubles<Search<double, J>>(count)),
        marks(count),
        active(count),
        length(1) {}
  Numbers searches, others;
  cuda::Buffer<bool> marks;
  cuda::Buffer<int> active, length;
};

/// Searches to their ends, those that need more steps together, so that no warp waits for one of its threads.
template <int J, int G, int D>
void search(const Arm<J>& arm, const RefineOptions& options, std::int64_t count, double* searches,
            SearchRoom<J>& room) {
  const cuda::List active{room.active.data(), room.length.data()};
  for (const SearchPart& part : kSearchParts) {
    cuda::for_each(count, MarkActiveKernel<J>{searches, room.marks.data()});
    cuda::select(count, room.marks.data(), active);
    for_each(count, arm,
             ListedKernel<SearchKernel<J, G, D>, Arm<J>>{nullptr, {nullptr, options, part, searches}, active});
  }
}

template <int J, int G, bool Around>
void look_elsewhere_in_batch(Look look, const Arm<J>& arm, const RefineOptions& options, std::int64_t count,
                             SearchRoom<J>& room) {
  double *const searches = room.searches.data(), *const others = room.others.data();
  for_each(count, arm, LookElsewhereWhereWorthKernel<J, G, Around>{nullptr, look, options, searches, others});
  search<J, G, 1>(arm, options, count, others, room);
  for_each(count, arm, KeepNearerKernel<J>{nullptr, options, searches, others});
}

/// Searches in `room` that begin, to their analysis in `results`.
template <int J, int G>
void find_nearest(const Arm<J>& arm, const RefineOptions& options, std::int64_t count, SearchRoom<J>& room,
                  double* results) {
  double* const searches = room.searches.data();
  search<J, G, 1>(arm, options, count, searches, room);
  if constexpr (G > 1) {
    look_elsewhere_in_batch<J, G, false>(Look::kSecond, arm, options, count, room);
    look_elsewhere_in_batch<J, G, false>(Look::kOpposite, arm, options, count, room);
    look_elsewhere_in_batch<J, G, true>(Look::kAround, arm, options, count, room);
    look_elsewhere_in_batch<J, G, true>(Look::kClose, arm, options, count, room);
  }
  for_each(count, arm, AnalyzeKernel<J, G>{nullptr, options, searches, results});
  if constexpr (G > 2) {
    for_each(count, arm, RestartKernel<J, G>{nullptr, options, searches, results});
    search<J, G, 2>(arm, options, count, searches, room);
    for_each(count, arm, AnalyzeAgainKernel<J, G>{nullptr, options, searches, results});
  }
}

/// Measures from tiles to tiles.
template <int J, int G>
void measure(const DeviceArm<J, G>& arm, bool single, std::int64_t count, const double* q, double* measured) {
  using Single = SingleMeasureKernel<J, G>;
  if (single)
    for_each(count, arm.single, InSingle<Single, Arm<J, float>>{nullptr, {nullptr, q, measured}});
  else
    for_each(count, arm.arm, MeasureKernel<J, G>{nullptr, q, measured});
}

/// Everything on the device that a run needs.
template <int J, int G>
class Run {
 public:
  Run(const DeviceArm<J, G>& map, const MapPlan& plan, std::int64_t batch)
      : map_(map),
        plan_host_(plan),
        where_(plan.layout),
        plan_(1),
        sampler_(1),
        copies_(std::int64_t{kCopies} * where_.size),
        counts_(where_.size),
        voxels_(where_.voxels),
        least_(plan.layout.least),
        q_(doubles<Vec<double, J>>(batch)),
        measured_(doubles<Measured<double>>(batch)),
        marks_(2 * batch),
        near_(batch),
        worst_(batch),
        lengths_(2) {
    plan_.upload(&plan);
    sampler_.upload(&plan.sampler);
    copies_.clear();
    counts_.clear();
    voxels_.clear();
    least_.upload(std::vector<Word>(static_cast<std::size_t>(plan.layout.least), ordered(INFINITY)).data());
  }

  /// Samples first ... first + count - 1 of the run: counts stay here, rankings and kept rows go to `tally`.
  void add_batch(std::int64_t first, std::int64_t count, study::Tally& tally) {
    const DeviceAdder to{where_, copies_.data(), voxels_.data(), least_.data()};
    if (plan_host_.sampler.task)
      for_each(count, map_.arm, SampleKernel<J>{nullptr, sampler_.data(), first, q_.data()});
    else  // apart, for it needs few registers
      cuda::for_each(count, DrawKernel<J>{sampler_.data(), first, q_.data()});
    measure(first, count, to);
    const auto& worst = tally.worst.list();
    // While the list is not full any sample may be among the worst.
    const double limit = worst.size() < study::Ranking::kLimit ? INFINITY : worst.back().key;
    bool *const near_marks = marks_.data(), *const worst_marks = near_marks + count;
    cuda::for_each(count, CountKernel{plan_.data(), measured_.data(), to, near_marks, worst_marks, limit});
    cuda::select(count, near_marks, {near_.data(), lengths_.data()});
    cuda::select(count, worst_marks, {worst_.data(), lengths_.data() + 1});
    int lengths[2];
    lengths_.download(lengths);
    const auto [near, listed] = lengths;
    Numbers results(plan_host_.nearest ? doubles<NearSingularity<double, J>>(near) : 0);
    if (plan_host_.nearest && near > 0) {
      SearchRoom<J> room(near);
      cuda::for_each(near, StartKernel<J>{q_.data(), near_.data(), room.searches.data()});
      find_nearest<J, G>(map_.arm, map_.options, near, room, results.data());
      cuda::for_each(near, CountArrivalKernel<J>{plan_.data(), first, near_.data(), results.data(), to});
    }
    cuda::for_each(where_.size, counter_cuda::MergeKernel{copies_.data(), counts_.data(), where_.size});
    rank_worst(first, listed, tally);
    keep_rows(first, near, results, tally);
  }

  /// Counts and smallest values of all batches into `tally`, in place of what is there.
  void finish(study::Tally& tally) const {
    std::vector<Word> counts, voxels, least;
    counts_.append_to(counts, where_.size);
    voxels_.append_to(voxels, where_.voxels);
    least_.append_to(least, std::ssize(tally.least));
    counts.insert(counts.begin() + where_.voxel, voxels.begin(), voxels.end());
    std::ranges::transform(counts, tally.counts.begin(), [](Word n) { return static_cast<std::int64_t>(n); });
    for (std::size_t i = 0; i < least.size(); ++i) tally.least[i] = from_ordered(least[i]);
  }

 private:
  /// Measures a batch, in single precision where the plan says so, and rechecks some blocks of that.
  void measure(std::int64_t first, std::int64_t count, const DeviceAdder& to) {
    map_cuda::measure(map_, plan_host_.single, count, q_.data(), measured_.data());
    if (plan_host_.single)
      for_each(count, map_.arm, RecheckKernel<J, G>{nullptr, plan_.data(), first, q_.data(), measured_.data(), to});
  }

  /// Tiles of one kind, on the host.
  template <class Problem>
  static batch::Tiles<Problem> fetch(const Numbers& from, std::int64_t count) {
    batch::Tiles<Problem> out(count);
    cuda::check(cudaMemcpy(out.data(), from.data(), static_cast<std::size_t>(out.doubles()) * sizeof(double),
                           cudaMemcpyDeviceToHost),
                "copying from the GPU");
    return out;
  }
  /// Those that a list names.
  template <class Problem>
  static batch::Tiles<Problem> fetch_listed(const Numbers& from, const cuda::Buffer<int>& list, int length) {
    Numbers there(doubles<Problem>(length));
    cuda::for_each(length, GatherListedKernel<Problem>{from.data(), list.data(), there.data()});
    return fetch<Problem>(there, length);
  }

  /// The first `length` entries of a list.
  static std::vector<int> fetch_list(const cuda::Buffer<int>& from, int length) {
    std::vector<int> out;
    from.append_to(out, length);
    return out;
  }

  /// Adds those listed to the ranking of the worst; the host's order of ties.
  void rank_worst(std::int64_t first, int length, study::Tally& tally) const {
    if (length == 0) return;
    const auto measured = fetch_listed<Measured<double>>(measured_, worst_, length);
    const std::vector<int> worst = fetch_list(worst_, length);
    for (int k = 0; k < length; ++k) {
      const Measured<double> m = measured.get(k);
      const MapOutcome outcome = classify_outcome(plan_host_.rules, m);
      tally.worst.add({m.inverse_condition, first + worst[static_cast<std::size_t>(k)], static_cast<int>(outcome),
                       m.inverse_condition});
    }
  }

  /// Rows of near samples for results.h5, as far as the plan keeps them.
  void keep_rows(std::int64_t first, int length, const Numbers& found, study::Tally& tally) const {
    if (first >= plan_host_.keep_from_first || length == 0) return;
    const auto measured = fetch_listed<Measured<double>>(measured_, near_, length);
    const auto q = fetch_listed<Vec<double, J>>(q_, near_, length);
    const auto results = fetch<NearSingularity<double, J>>(found, plan_host_.nearest ? length : 0);
    const std::vector<int> near = fetch_list(near_, length);
    for (int k = 0; k < length; ++k) {
      const int i = near[static_cast<std::size_t>(k)];
      // The rows that are kept are those of the first samples: behind the limit there are no more.
      if (first + i >= plan_host_.keep_from_first) break;
      const Measured<double> m = measured.get(k);
      keep_row<J>({first + i, classify_outcome(plan_host_.rules, m), m, q.get(k),
                   plan_host_.nearest ? results.get(k) : not_analyzed<J>()},
                  map_.arm.joints, tally.kept);
    }
  }

  const DeviceArm<J, G>& map_;
  const MapPlan& plan_host_;
  Counts where_;
  cuda::Buffer<MapPlan> plan_;
  cuda::Buffer<Sampler> sampler_;
  cuda::Buffer<Small> copies_;
  cuda::Buffer<Word> counts_, voxels_, least_;
  Numbers q_, measured_;                      ///< tiles of a batch
  cuda::Buffer<bool> marks_;                  ///< of near samples, then of the worst
  cuda::Buffer<int> near_, worst_, lengths_;  ///< lists of a batch; lengths of both
};

}  // namespace map_cuda

/// A run of a map: batches of kBatch samples. Those before are smaller, for the worst of them bound what later ones
/// list for the host, and of the first all near samples are listed.
template <int J, int G>
void run_kernels(const Device&, const DeviceArm<J, G>& arm, const DeviceRun& job) {
  const std::int64_t batch = std::min(job.count, map_cuda::kBatch);
  map_cuda::Run<J, G> run(arm, job.plan, batch);
  std::int64_t size = std::min(batch, map_cuda::kFirstBatch);
  for (std::int64_t at = 0; at < job.count; at += size, size = std::min(batch, 16 * size))
    run.add_batch(job.first + at, std::min(size, job.count - at), job.tally);
  run.finish(job.tally);
}

/// Measures of given configurations.
template <int J, int G>
void run_kernels(const Device&, const DeviceArm<J, G>& arm, const MeasuredRows<batch::ResidentRows>& job) {
  batch::run_resident_chunks<Vec<double, J>, Measured<double>>(
      job.rows, [&](const batch::RowRange& rows, const double* q, double* measured) {
        map_cuda::measure(arm, job.precision == Precision::kSingle, rows.count, q, measured);
      });
}
template <int J, int G>
void run_kernels(const Device& device, const DeviceArm<J, G>& arm, const MeasuredRows<batch::Rows>& job) {
  batch::run_staged(job.rows, batch::as_many_as_fit(device, batch::kDeviceChunk, 0),
                    [&](const batch::ResidentRows& rows) {
                      run_kernels(device, arm, MeasuredRows<batch::ResidentRows>{job.precision, rows});
                    });
}

/// Searches from given configurations, to their analysis.
template <int J, int G>
void run_kernels(const Device&, const DeviceArm<J, G>& arm, const SearchedRows<batch::ResidentRows>& job) {
  batch::run_resident_chunks<Vec<double, J>, NearSingularity<double, J>>(
      job.rows,
      [&](const batch::RowRange& rows, const double* q, double* results) {
        map_cuda::SearchRoom<J> room(rows.count);
        cuda::for_each(rows.count, map_cuda::StartKernel<J>{q, nullptr, room.searches.data()});
        map_cuda::find_nearest<J, G>(arm.arm, arm.options, rows.count, room, results);
      },
      map_cuda::kSearches);
}
template <int J, int G>
void run_kernels(const Device& device, const DeviceArm<J, G>& arm, const SearchedRows<batch::Rows>& job) {
  using Largest = map_cuda::HoldingArm<Arm<J>, map_cuda::AnalyzeAgainKernel<J, G>>;
  batch::run_staged(
      job.rows, batch::as_many_as_fit(device, map_cuda::kSearches, cuda::measure_stack<Largest>(device.index)),
      [&](const batch::ResidentRows& rows) { run_kernels(device, arm, SearchedRows<batch::ResidentRows>{rows}); });
}

}  // namespace garra::singularity
