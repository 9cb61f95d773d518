// Maps of arms of J joints and generic rank G (or, G = kAnyRank, one below 6) on the host: block after block, so that a
// block's numbers stay in the cache. One translation unit per few sizes instantiates it (singularity/instances).
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>

#include "garra/batch/on_device.hpp"
#include "garra/core/error.hpp"
#include "singularity/map/map_cuda.hpp"
#include "singularity/map/workspace.hpp"
#include "study/count_blocks.hpp"

namespace garra::singularity {

template <int J, int G>
class MapArmOf final : public MapArm {
 public:
  MapArmOf(const chain::Robot& robot, const MeasureOptions& options)
      : MapArm(robot.joints, J),
        arm_(make_arm<J>(robot, options)),
        single_(to_single(arm_)),
        options_(refine_options(options)),
        revolute_(chain::fits_revolute(arm_.model) && !arm_.helical) {
    if constexpr (G == kAnyRank) arm_.dims.generic_rank = compute_generic_rank(robot);
  }

  [[nodiscard]] std::vector<double> configuration(const Sampler& sampler, std::int64_t sample) const override {
    const Vec<double, J> q = sample_joints<double, J>(arm_, sampler, sample);
    // Joint values are NaN together, in all joints.
    if (!is_finite(q[0])) return {};
    return {q.m, q.m + arm_.joints};
  }

  void measure_rows(Precision precision, const batch::ResidentRows& rows) const override {
    run_on_gpu({Executor::kCuda, 0, rows.call.device}, options_, MeasuredRows<batch::ResidentRows>{precision, rows});
  }
  void measure_rows(Precision precision, const batch::Rows& rows) const override {
    const Device& device = rows.device;
    if (device.executor == Executor::kCuda)
      return run_on_gpu(device, options_, MeasuredRows<batch::Rows>{precision, rows});
    for_blocks(rows.count, device, [&](map_run::Workspace<J>& w, std::int64_t first, std::int64_t n) {
      gather(rows.in, {first, n}, {w.q.data(), J});
      measure_block(precision == Precision::kSingle, device.executor, n, w);
      scatter({w.measured.data(), batch::kFields<double, Measured<double>>}, {first, n}, rows.out);
    });
  }

  void search_rows(const RefineOptions& options, const batch::ResidentRows& rows) const override {
    run_on_gpu({Executor::kCuda, 0, rows.call.device}, options, SearchedRows<batch::ResidentRows>{rows});
  }
  void search_rows(const RefineOptions& options, const batch::Rows& rows) const override {
    const Device& device = rows.device;
    if (device.executor == Executor::kCuda) return run_on_gpu(device, options, SearchedRows<batch::Rows>{rows});
    for_blocks(rows.count, device, [&](map_run::Workspace<J>& w, std::int64_t first, std::int64_t n) {
      gather(rows.in, {first, n}, {w.q.data(), J});
      for (std::int64_t i = 0; i < n; ++i) w.searches.set(i, start_search<double, J>(w.q.get(i)));
      nearest_block(device.executor, n, options, w);
      scatter({w.results.data(), batch::kFields<double, NearSingularity<double, J>>}, {first, n}, rows.out);
    });
  }

  [[nodiscard]] study::Tally run(const MapPlan& plan, std::int64_t first, std::int64_t count,
                                 const Device& device) const override {
    if (device.executor == Executor::kCuda) {
      study::Tally total = empty_tally(plan.layout, first, count);
      run_on_gpu(device, options_, DeviceRun{plan, first, count, total});
      fill_buckets(plan.layout, total);
      return total;
    }
    const study::Shape sizes{.counts = static_cast<std::size_t>(plan.layout.with_buckets()),
                             .least = static_cast<std::size_t>(plan.layout.least)};
    study::Tally total = study::count_blocks(sizes, {first, count, solve_threads(device)}, [&] {
      return [&, w = std::make_unique<map_run::Workspace<J>>(std::min(map_run::kBlock, count))](
                 std::int64_t at, std::int64_t n, study::Tally& tally, double*) {
        run_block(plan, device.executor, {at, n}, *w, tally);
      };
    });
    fill_buckets(plan.layout, total);
    return total;
  }

 private:
  struct IndexRange {
    std::int64_t first, count;
  };

  /// work(workspace, first, count) for consecutive blocks, by all threads.
  template <class Work>
  void for_blocks(std::int64_t count, const Device& device, const Work& work) const {
    const batch::Blocks blocks{count, map_run::kBlock};
    batch::for_blocks(
        solve_threads(device), blocks, [&] { return map_run::Workspace<J>(blocks.largest()); }, work);
  }

  /// From w.q to `to`.
  void measure_exactly(Executor executor, std::int64_t count, const map_run::Workspace<J>& w,
                       batch::Tiles<Measured<double>>& to) const {
    if constexpr (J <= 7 && G == 6 && kLanesPay) {  // joints that slide cost the lanes something
      if (revolute_ && executor == Executor::kLanes)
        return batch::for_each_lanes(count, MeasureKernel<J, G, Joints::kRevolute>{&arm_, w.q.data(), to.data()});
    }
    batch::for_each(executor, count, MeasureKernel<J, G>{&arm_, w.q.data(), to.data()});
  }

  /// From w.q to w.measured.
  void measure_block(bool single, Executor executor, std::int64_t count, map_run::Workspace<J>& w) const {
    if (single)
      map_run::for_each_single(executor, count, SingleMeasureKernel<J, G>{&single_, w.q.data(), w.measured.data()});
    else
      measure_exactly(executor, count, w, w.measured);
  }

  void recheck_block(const MapPlan& plan, Executor executor, IndexRange block, map_run::Workspace<J>& w,
                     const map_run::HostAdder& to) const {
    // By the block's place in the study, not in this call: the same blocks whatever the chunks.
    if (!plan.single || block.first / map_run::kBlock % kRecheckEvery != 0) return;
    measure_exactly(executor, block.count, w, w.exact);
    for (std::int64_t i = 0; i < block.count; ++i)
      count_recheck(plan.layout, plan.rules, w.measured.get(i), w.exact.get(i), to);
  }

  /// A body for D lost freedoms. Below generic rank 6 it depends on the rank that is left, and on nothing else of G.
  template <int D>
  void search_part(Executor executor, std::int64_t count, const RefineOptions& options, const SearchPart& part,
                   double* states) const {
    if constexpr (G != kAnyRank)
      return batch::for_each(executor, count, SearchKernel<J, G, D>{&arm_, options, part, states});
    switch (arm_.dims.generic_rank - D) {
      case 1:
        return batch::for_each(executor, count, SearchKernel<J, 3, 2>{&arm_, options, part, states});
      case 2:
        return batch::for_each(executor, count, SearchKernel<J, 4, 2>{&arm_, options, part, states});
      case 3:
        return batch::for_each(executor, count, SearchKernel<J, 5, 2>{&arm_, options, part, states});
      default:
        return batch::for_each(executor, count, SearchKernel<J, 5, 1>{&arm_, options, part, states});
    }
  }

  /// Runs the searches listed in w.active to their ends, those that need more steps together.
  template <int D>
  void search_block(Executor executor, const RefineOptions& options, batch::Tiles<Search<double, J>>& searches,
                    map_run::Workspace<J>& w) const {
    // In parts: between them, searches that have ended leave their lanes to others.
    for (const SearchPart& part : kSearchParts) {
      const auto count = static_cast<std::int64_t>(w.active.size());
      for (std::int64_t k = 0; k < count; ++k) w.part.set(k, searches.get(w.active[static_cast<std::size_t>(k)]));
      map_run::pad(w.part, count);
      search_part<D>(executor, count, options, part, w.part.data());
      std::vector<int> left;
      for (std::int64_t k = 0; k < count; ++k) {
        const Search<double, J> s = w.part.get(k);
        const int i = w.active[static_cast<std::size_t>(k)];
        searches.set(i, s);
        if (s.active > 0) left.push_back(i);
      }
      w.active.swap(left);
    }
  }

  /// From w.searches to w.results.
  void nearest_block(Executor executor, std::int64_t count, const RefineOptions& options,
                     map_run::Workspace<J>& w) const {
    // All of them, as numbers within the block.
    w.active.resize(static_cast<std::size_t>(count));
    std::iota(w.active.begin(), w.active.end(), 0);
    search_block<1>(executor, options, w.searches, w);
    if constexpr (G > 1 || G == kAnyRank) {
      look_elsewhere_in_block<false>(Look::kSecond, executor, count, options, w);
      look_elsewhere_in_block<false>(Look::kOpposite, executor, count, options, w);
    }
    if constexpr (G == 6) {  // others would take as long to compile as everything else
      look_elsewhere_in_block<true>(Look::kAround, executor, count, options, w);
      look_elsewhere_in_block<true>(Look::kClose, executor, count, options, w);
    }
    map_run::pad(w.searches, count);
    batch::for_each(executor, count, AnalyzeKernel<J, G>{&arm_, options, w.searches.data(), w.results.data()});
    if constexpr (G > 2 || G == kAnyRank) search_two(executor, count, options, w);
  }

  /// Further searches, whose ends replace those so far where they are nearer.
  template <bool Around>
  void look_elsewhere_in_block(Look look, Executor executor, std::int64_t count, const RefineOptions& options,
                               map_run::Workspace<J>& w) const {
    std::vector<int> chosen;
    for (std::int64_t i = 0; i < count; ++i)
      // Gathered, so that lanes are full of those that need a further look.
      if (deserves(look, arm_, w.searches.get(i), options)) chosen.push_back(static_cast<int>(i));
    const auto found = static_cast<std::int64_t>(chosen.size());
    for (std::int64_t k = 0; k < found; ++k) w.others.set(k, w.searches.get(chosen[static_cast<std::size_t>(k)]));
    map_run::pad(w.others, found);
    batch::for_each(executor, found, LookElsewhereKernel<J, G, Around>{look, &arm_, options, w.others.data()});
    w.active.resize(chosen.size());
    std::iota(w.active.begin(), w.active.end(), 0);
    search_block<1>(executor, options, w.others, w);
    for (std::int64_t k = 0; k < found; ++k) {
      const int i = chosen[static_cast<std::size_t>(k)];
      const Search<double, J> other = w.others.get(k);
      // Only a nearer end replaces one: a second search must not make an answer worse.
      if (is_nearer(arm_, w.searches.get(i), other, options)) w.searches.set(i, other);
    }
  }

  /// Searches that were lost where two singular values are small go for both of them.
  void search_two(Executor executor, std::int64_t count, const RefineOptions& options, map_run::Workspace<J>& w) const {
    w.active.clear();
    for (std::int64_t i = 0; i < count; ++i) {
      if (w.results.get(i).search_status != static_cast<double>(SearchStatus::kDiverged)) continue;
      const Search<double, J> s = w.searches.get(i);
      if (!starts_near_two<G>(arm_, s, options)) continue;
      // From the start again: where a search was lost says nothing.
      w.searches.set(i, start_search<double, J>(s.start));
      w.active.push_back(static_cast<int>(i));
    }
    if (w.active.empty()) return;
    const std::vector<int> again = w.active;
    search_block<2>(executor, options, w.searches, w);
    const auto found = static_cast<std::int64_t>(again.size());
    for (std::int64_t k = 0; k < found; ++k) w.part.set(k, w.searches.get(again[static_cast<std::size_t>(k)]));
    map_run::pad(w.part, found);
    batch::for_each(executor, found, AnalyzeKernel<J, G>{&arm_, options, w.part.data(), w.part_results.data()});
    for (std::int64_t k = 0; k < found; ++k) w.results.set(again[static_cast<std::size_t>(k)], w.part_results.get(k));
  }

  void run_block(const MapPlan& plan, Executor executor, IndexRange block, map_run::Workspace<J>& w,
                 study::Tally& tally) const {
    const map_run::HostAdder to{tally.counts.data(), tally.least.data()};
    batch::for_each(executor, block.count, SampleKernel<J>{&arm_, &plan.sampler, block.first, w.q.data()});
    measure_block(plan.single, executor, block.count, w);
    recheck_block(plan, executor, block, w, to);
    w.near.clear();
    for (std::int64_t i = 0; i < block.count; ++i) {
      const Measured<double> m = w.measured.get(i);
      const MapOutcome outcome = classify_outcome(plan.rules, m);
      count_measured(plan.layout, m, outcome, to);
      if (!is_near(outcome)) continue;
      // Key and value are the ratio: the ten smallest are the worst.
      tally.worst.add({m.inverse_condition, block.first + i, static_cast<int>(outcome), m.inverse_condition});
      w.near.push_back(static_cast<int>(i));
    }
    const auto near = static_cast<std::int64_t>(w.near.size());
    if (plan.nearest) {
      for (std::int64_t k = 0; k < near; ++k)
        w.searches.set(k, start_search<double, J>(w.q.get(w.near[static_cast<std::size_t>(k)])));
      nearest_block(executor, near, options_, w);
    }
    for (std::int64_t k = 0; k < near; ++k) count_near(plan, block, k, w, tally);
  }

  void count_near(const MapPlan& plan, IndexRange block, std::int64_t k, const map_run::Workspace<J>& w,
                  study::Tally& tally) const {
    const std::int64_t i = w.near[static_cast<std::size_t>(k)], sample = block.first + i;
    // By number of the sample, not by count: which rows are kept does not depend on chunks or threads.
    const bool keep = sample < plan.keep_from_first;
    if (!plan.nearest && !keep) return;
    const NearSingularity<double, J> nearest = plan.nearest ? w.results.get(k) : not_analyzed<J>();
    if (plan.nearest)
      count_arrival(plan.layout, plan.rules, sample, nearest,
                    map_run::HostAdder{tally.counts.data(), tally.least.data()});
    if (!keep) return;
    const Measured<double> m = w.measured.get(i);
    keep_row<J>({sample, classify_outcome(plan.rules, m), m, w.q.get(i), nearest}, arm_.joints, tally.kept);
  }

  /// Kernels for arms of generic rank below 6 would take as long to compile as all others together.
  template <class Work>
  void run_on_gpu(const Device& device, const RefineOptions& options, const Work& work) const {
    if constexpr (G == 6)
      batch::on_device(device, DeviceArm<J, G>{arm_, single_, options}, work);
    else
      throw Error(ExitCode::kNoDevice,
                  "maps of arms of generic rank " + std::to_string(arm_.dims.generic_rank) +
                      " have no CUDA kernels, only those of rank 6",
                  "use --device cpu");
  }

  Arm<J> arm_;
  Arm<J, float> single_;
  RefineOptions options_;
  bool revolute_;
};

}  // namespace garra::singularity
